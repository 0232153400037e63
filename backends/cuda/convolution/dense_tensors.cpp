#include "backends/cuda/convolution/dense_tensors.h"

#include <algorithm>

#include "backends/common/element_bytes.h"
#include "backends/cuda/convolution/convolution_graph.h"
#include "backends/cuda/kernels/strided_copy.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

using primset_backend::Convolution;
using primset_backend::ConvolutionKind;
using primset_backend::element_bytes;

DevicePointer address(const primset_tensor* t) {
  return t && t->buffer ? t->buffer->address + t->offset : 0;
}

const primset_tensor* result_of(const Convolution& c) {
  return c.kind == ConvolutionKind::places ? c.y : c.kind == ConvolutionKind::images ? c.x : c.w;
}

StridedCopy sized(StridedCopy copy, const primset_tensor& t) {
  copy.word_bytes = std::min<int64_t>(static_cast<int64_t>(element_bytes(t.dtype)), 4);
  return copy;
}
StridedCopy to_dense(const primset_tensor& t) {
  return sized(StridedCopy::from_tensor(t, StridedCopy::dense_strides(t)), t);
}
StridedCopy from_dense(const primset_tensor& t) {
  return sized(StridedCopy::to_tensor(t, StridedCopy::dense_strides(t)), t);
}
int64_t words_of(const primset_tensor& t) {
  return std::max<int64_t>(static_cast<int64_t>(element_bytes(t.dtype)) / 4, 1);
}

bool is_dense(const primset_tensor* t) {
  return !t || (address(t) % kConvolutionAlignment == 0 && to_dense(*t).merged().is_dense());
}

}  // namespace

bool DenseTensors::hold(const Convolution& c) {
  return is_dense(c.x) && is_dense(c.w) && is_dense(c.y) && is_dense(c.bias);
}

bool DenseTensors::can_copy(const Convolution& c) {
  return std::ranges::all_of(
      std::initializer_list<const primset_tensor*>{c.x, c.w, c.y, c.bias},
      [](const primset_tensor* t) { return !t || to_dense(*t).launches() <= kMostCopyLaunches; });
}

DenseTensors::DenseTensors(primset_stream_t& stream, const Convolution& c,
                           std::optional<Scratch>& scratch)
    : stream_(stream), tensors_(c), scratch_(scratch) {
  memory_ = {dense(c.x), dense(c.w), dense(c.y), dense(c.bias)};
}

DevicePointer DenseTensors::dense(const primset_tensor* t) {
  const bool is_result = t == result_of(tensors_);
  DevicePointer at = address(t);
  if (!is_dense(t)) {
    if (!scratch_) scratch_.emplace(stream_);
    int64_t bytes = static_cast<int64_t>(element_bytes(t->dtype));
    for (uint32_t d = 0; d < t->rank; ++d) bytes *= t->sizes[d];
    const DevicePointer to = scratch_->take(static_cast<uint64_t>(bytes));
    if (!is_result)
      copy_strided(stream_.device->kernels(), stream_, to_dense(*t), to, at, words_of(*t));
    at = to;
  }
  if (is_result) result_ = at;
  return at;
}

void DenseTensors::finish() const {
  const primset_tensor& t = *result_of(tensors_);
  if (result_ == address(&t)) return;
  copy_strided(stream_.device->kernels(), stream_, from_dense(t), address(&t), result_,
               words_of(t));
}

}  // namespace primset_cuda
