// A case's arguments in the forms that tracing and the reference interpreter take.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_CALL_ARGUMENTS_H_
#define PRIMSET_CONFORMANCE_REFERENCE_CALL_ARGUMENTS_H_

#include <vector>

#include "conformance/cases/inputs/case.h"
#include "decomps/engine/engine.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// One Actual an argument; sizes and strides are constants. `arguments` are the schema's, for the
// kinds.
std::vector<decomps::Actual> to_actuals(const TestCase& test,
                                        const std::vector<specs::Argument>& arguments);

// The value of a graph input. `type` is that of the input.
Array input_value(const TestCase& test, const decomps::InputSource& source,
                  const prims::ValueType& type);

// Any number among the arguments as a Scalar; of a list its element.
Scalar scalar_of(const ArgValue& v, uint32_t element);

// The tensor that a source of kind tensor means.
const HostTensor& source_tensor(const TestCase& test, const decomps::InputSource& source);

// The tensor that a schema's argument of this number is, which must be one.
const HostTensor& argument_tensor(const TestCase& test, uint32_t argument);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_CALL_ARGUMENTS_H_
