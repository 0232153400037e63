// The functions that compute operators on sparse tensors, by the names that specs/ops has for them.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_SPARSE_FUNCTIONS_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_SPARSE_FUNCTIONS_H_

#include <string_view>
#include <vector>

#include "sdk/runtime/call/operator_info.h"

namespace primset::runtime {

// One function each, defined in the file of its theme in this folder.
namespace sparse_functions {
#define PRIMSET_SPARSE(name) std::vector<Tensor> name(SparseCall& call);
#include "specs/host_functions.inc"
}  // namespace sparse_functions

// Null when there is none of that name.
SparseFunction find_sparse_function(std::string_view name);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_SPARSE_FUNCTIONS_H_
