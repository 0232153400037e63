// What a call must come to that a function on the host answers without any graph: a question about
// tensors, a number read back, other memory for a tensor. A second statement of what
// specs/host_functions.yaml says in words, over the case's own tensors.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_HOST_RESULTS_H_
#define PRIMSET_CONFORMANCE_REFERENCE_HOST_RESULTS_H_

#include "conformance/reference/expected_results.h"

namespace primset::conformance {

// Has the overload nothing but a function on the host?
bool is_answered_on_host(const specs::Bundle& bundle, const specs::Overload& overload);

Expected host_results(const specs::Bundle& bundle, const specs::Overload& overload,
                      const TestCase& test, decomps::DeviceTraits device);

// A number or a truth value that a call returns.
Expected expected_integer(int64_t v);
Expected expected_truth(bool v);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_HOST_RESULTS_H_
