// Strided copies on the host: between a tensor's memory and packed row-major elements.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_HOST_COPY_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_HOST_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

// Between strided elements and packed ones. `from` (of unpack: `to`) points to the first element;
// sizes and strides count elements.
void pack(const std::byte* from, std::span<const int64_t> sizes, std::span<const int64_t> strides,
          size_t element_bytes, std::byte* to);
void unpack(const std::byte* from, std::span<const int64_t> sizes, std::span<const int64_t> strides,
            size_t element_bytes, std::byte* to);

// Throws for a tensor that has no values.
void require_data(const TensorImpl& tensor);

// The memory from the tensor's first element to its last, gaps included. Where there is none, only
// the work that made the tensor is waited for: its errors are the reader's to see.
void read_extent(const TensorImpl& tensor, std::byte* to);

// The tensor's elements, packed row-major, conj and neg bits applied. Waits for its device and
// reports that device's errors.
void read_tensor(const TensorImpl& tensor, std::byte* to);
// Writes packed row-major values; the tensor's conj and neg bits are applied.
void write_tensor(const TensorImpl& tensor, const std::byte* from);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_HOST_COPY_H_
