// What a call with tensors of sparse layouts must come to.
//
// One rule serves most operators (dense_twin.h): made dense, the result is what the operator gives
// for its arguments made dense. What asks for the parts of a tensor, makes one of them or changes
// its layout has no dense twin, and is stated here. Either way the parts of a result must make a
// tensor (sparse_values.h), and how many entries there are is known where it is no matter of
// choice.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_SPARSE_RESULTS_H_
#define PRIMSET_CONFORMANCE_REFERENCE_SPARSE_RESULTS_H_

#include "conformance/reference/expected_results.h"

namespace primset::conformance {

// Has an argument a sparse layout or asks for one, or does nothing else compute the overload?
bool is_sparse_call(const specs::Bundle& bundle, const specs::Overload& overload,
                    const TestCase& test);

// A case that says with which error the call is refused is believed: what of a layout is not taken
// follows from nothing here.
Expected sparse_results(const specs::Bundle& bundle, const specs::Overload& overload,
                        const TestCase& test, decomps::DeviceTraits device);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_SPARSE_RESULTS_H_
