// Copies of tensors from one device to another.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_DEVICE_COPY_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_DEVICE_COPY_H_

#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

// Whether copy_bytes takes the two: of one dtype, of the same sizes and strides without gaps, and
// with their values as they lie in memory.
bool same_bytes(const TensorImpl& source, const TensorImpl& target);

// Copies the values of `source` to `target`, which is on another device, as they lie in memory:
// directly where the plugin copies between its devices, else by the host. With `non_blocking` a
// copy between a device and pinned memory of that device is only enqueued: the program waits for
// the device before it writes or reads that memory. Throws the errors of the work that made
// `source`, unless the copy is only enqueued.
void copy_bytes(const TensorImpl& source, const TensorImpl& target, bool non_blocking);

// The same of any layout: what does not lie as in `target`, which has no gaps, is laid out so
// first.
void copy_values(const Tensor& source, const Tensor& target, bool non_blocking);

// The values in new memory without gaps, in the tensor's strides where these have none: of its
// device, or of the CPU where its device cannot compute that.
Tensor dense_copy(const Tensor& tensor);

// A tensor of the CPU in pinned memory of `device`.
Tensor empty_pinned(IntList sizes, IntList strides, DType dtype, DeviceState& device);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_DEVICE_COPY_H_
