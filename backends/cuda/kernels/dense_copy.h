// Tensors as libraries take them that know no strides: row-major, without gaps, at aligned
// addresses.
#ifndef PRIMSET_BACKENDS_CUDA_KERNELS_DENSE_COPY_H_
#define PRIMSET_BACKENDS_CUDA_KERNELS_DENSE_COPY_H_

#include <primset/plugin.h>

#include <cstdint>

#include "backends/cuda/driver_api.h"

namespace primset_cuda {

// Of its first element; 0 where a call is only asked about.
DevicePointer tensor_address(const primset_tensor& t);
uint64_t tensor_bytes(const primset_tensor& t);

bool lies_dense(const primset_tensor& t, uint64_t alignment);
// What a copy takes, either way.
int64_t dense_copy_launches(const primset_tensor& t);

// Enqueue copies from a tensor's memory to dense memory and back.
void copy_to_dense(primset_stream_t& stream, const primset_tensor& from, DevicePointer to);
void copy_from_dense(primset_stream_t& stream, DevicePointer from, const primset_tensor& to);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_KERNELS_DENSE_COPY_H_
