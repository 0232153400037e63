#include "backends/cuda/kernels/dense_copy.h"

#include <algorithm>

#include "backends/common/element_bytes.h"
#include "backends/cuda/kernels/strided_copy.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

using primset_backend::element_bytes;

// An element is some words of four bytes, or one that is shorter.
StridedCopy in_words(StridedCopy copy, const primset_tensor& t) {
  copy.word_bytes = std::min<int64_t>(static_cast<int64_t>(element_bytes(t.dtype)), 4);
  return copy;
}
int64_t words_of(const primset_tensor& t) {
  return std::max<int64_t>(static_cast<int64_t>(element_bytes(t.dtype)) / 4, 1);
}
StridedCopy to_dense(const primset_tensor& t) {
  return in_words(StridedCopy::from_tensor(t, StridedCopy::dense_strides(t)), t);
}

}  // namespace

DevicePointer tensor_address(const primset_tensor& t) {
  return t.buffer ? t.buffer->address + t.offset : 0;
}

uint64_t tensor_bytes(const primset_tensor& t) {
  uint64_t bytes = element_bytes(t.dtype);
  for (uint32_t d = 0; d < t.rank; ++d) bytes *= static_cast<uint64_t>(t.sizes[d]);
  return bytes;
}

bool lies_dense(const primset_tensor& t, uint64_t alignment) {
  return tensor_address(t) % alignment == 0 && to_dense(t).merged().is_dense();
}

int64_t dense_copy_launches(const primset_tensor& t) {
  return to_dense(t).launches();
}

void copy_to_dense(primset_stream_t& stream, const primset_tensor& from, DevicePointer to) {
  copy_strided(stream.device->kernels(), stream, to_dense(from), to, tensor_address(from),
               words_of(from));
}

void copy_from_dense(primset_stream_t& stream, DevicePointer from, const primset_tensor& to) {
  const StridedCopy copy = in_words(StridedCopy::to_tensor(to, StridedCopy::dense_strides(to)), to);
  copy_strided(stream.device->kernels(), stream, copy, tensor_address(to), from, words_of(to));
}

}  // namespace primset_cuda
