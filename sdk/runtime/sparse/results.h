// Where the results of functions on sparse tensors go: to the caller, and into what in-place and
// out= overloads write.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_RESULTS_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_RESULTS_H_

#include <vector>

#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// One tensor for each result of the functional overload. A result that the schema does not call a
// view gets parts of its own, and so does what is written: as in ATen, none are another argument's.
void put_results(Call& call, std::vector<Tensor> results);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_RESULTS_H_
