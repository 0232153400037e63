// Which distribution a random call draws from: its parameters, as the call gives them.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_RANDOM_PARAMETERS_H_
#define PRIMSET_CONFORMANCE_REFERENCE_RANDOM_PARAMETERS_H_

#include <optional>

#include "conformance/cases/inputs/case.h"
#include "conformance/compare/statistics.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// Empty when the elements of the result differ in theirs, or when integers go beyond what a double
// tells apart. `dtype` is the result's.
std::optional<Parameters> parameters_of(const specs::Overload& overload, const TestCase& test,
                                        DType dtype);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_RANDOM_PARAMETERS_H_
