// The rule that operators on sparse tensors are held to: made dense, the result is that of the
// dense twin, which is the operator itself or, where it is one of sparse tensors alone, the one
// that a table names, for the arguments made dense. Some look at stored elements only: there the
// twin sees a number that changes nothing in the place of others, and its result counts where one
// is stored.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_DENSE_TWIN_H_
#define PRIMSET_CONFORMANCE_REFERENCE_DENSE_TWIN_H_

#include "conformance/reference/expected_results.h"

namespace primset::conformance {

// Of a functional overload. Throws Error{internal} where it has no twin.
Expected twin_results(const specs::Bundle& bundle, const specs::Overload& overload,
                      const TestCase& test, decomps::DeviceTraits device);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_DENSE_TWIN_H_
