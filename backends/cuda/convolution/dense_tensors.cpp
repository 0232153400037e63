#include "backends/cuda/convolution/dense_tensors.h"

#include <algorithm>

#include "backends/cuda/convolution/convolution_graph.h"
#include "backends/cuda/kernels/dense_copy.h"
#include "backends/cuda/kernels/strided_copy.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

using primset_backend::Convolution;
using primset_backend::ConvolutionKind;

const primset_tensor* result_of(const Convolution& c) {
  return c.kind == ConvolutionKind::places ? c.y : c.kind == ConvolutionKind::images ? c.x : c.w;
}

bool is_dense(const primset_tensor* t) {
  return !t || lies_dense(*t, kConvolutionAlignment);
}

}  // namespace

bool DenseTensors::hold(const Convolution& c) {
  return is_dense(c.x) && is_dense(c.w) && is_dense(c.y) && is_dense(c.bias);
}

bool DenseTensors::can_copy(const Convolution& c) {
  return std::ranges::all_of(
      std::initializer_list<const primset_tensor*>{c.x, c.w, c.y, c.bias},
      [](const primset_tensor* t) { return !t || dense_copy_launches(*t) <= kMostCopyLaunches; });
}

DenseTensors::DenseTensors(primset_stream_t& stream, const Convolution& c,
                           std::optional<Scratch>& scratch)
    : stream_(stream), tensors_(c), scratch_(scratch) {
  memory_ = {dense(c.x), dense(c.w), dense(c.y), dense(c.bias)};
}

DevicePointer DenseTensors::dense(const primset_tensor* t) {
  if (!t) return 0;
  const bool is_result = t == result_of(tensors_);
  DevicePointer at = tensor_address(*t);
  if (!is_dense(t)) {
    if (!scratch_) scratch_.emplace(stream_);
    at = scratch_->take(tensor_bytes(*t));
    if (!is_result) copy_to_dense(stream_, *t, at);
  }
  if (is_result) result_ = at;
  return at;
}

void DenseTensors::finish() const {
  const primset_tensor& t = *result_of(tensors_);
  if (result_ != tensor_address(t)) copy_from_dense(stream_, result_, t);
}

}  // namespace primset_cuda
