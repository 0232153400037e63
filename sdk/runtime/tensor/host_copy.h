// Strided copies on the host: between a tensor's memory and packed row-major elements.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_HOST_COPY_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_HOST_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

// `from` is the first element; sizes and strides in elements.
void pack(const std::byte* from, std::span<const int64_t> sizes, std::span<const int64_t> strides,
          size_t element_bytes, std::byte* to);
void unpack(const std::byte* from, std::span<const int64_t> sizes, std::span<const int64_t> strides,
            size_t element_bytes, std::byte* to);

// The tensor's elements, packed row-major, conj and neg bits applied. Waits for its device and
// reports that device's errors.
void read_tensor(const TensorImpl& tensor, std::byte* to);
// Writes them; the tensor's own conj and neg bits are honoured.
void write_tensor(const TensorImpl& tensor, const std::byte* from);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_HOST_COPY_H_
