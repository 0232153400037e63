// Making tensors of sparse layouts of their parts, which are not checked: see
// sdk/runtime/sparse/construction.cpp for what users pass.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_SPARSE_TENSOR_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_SPARSE_TENSOR_H_

#include <string>
#include <string_view>

#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

Tensor make_sparse(SparseParts parts, std::span<const int64_t> sizes);
// Coalesced is what is said to be, and what has one entry or none.
Tensor make_coo(Tensor indices, Tensor values, std::span<const int64_t> sizes, bool coalesced);
// Coalesced is what is said to be, however few entries it has.
Tensor make_coo_as_said(Tensor indices, Tensor values, std::span<const int64_t> sizes,
                        bool coalesced);
Tensor make_compressed(Layout layout, Tensor compressed, Tensor plain, Tensor values,
                       std::span<const int64_t> sizes);
// `to` becomes what `from` is, which has its dtype and device, sparse too; who holds a handle of it
// sees the change.
void become_sparse(TensorImpl& to, const TensorImpl& from);

// The tensor with its parts on another device.
Tensor sparse_on(const Tensor& t, Device device);
// Layout, parts, dtype, sizes and device.
std::string sparse_text(const Tensor& t);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_SPARSE_TENSOR_H_
