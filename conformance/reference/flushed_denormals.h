// Devices that say that they flush f32 denormals to zero may do so before they compute: then the
// answer to a case is also right where it is that of the case with zeros in their place.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_FLUSHED_DENORMALS_H_
#define PRIMSET_CONFORMANCE_REFERENCE_FLUSHED_DENORMALS_H_

#include "conformance/cases/inputs/case.h"
#include "conformance/reference/expected_results.h"

namespace primset::conformance {

// Denormals of f32, bf16 and c64 tensors become zeros of their sign; false when there are none.
bool flush_inputs(TestCase& test);

// The other values that elements of the results may have; null when there are none.
std::shared_ptr<const Expected> flushed_answer(const specs::Bundle& bundle, const TestCase& test,
                                               decomps::DeviceTraits device);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_FLUSHED_DENORMALS_H_
