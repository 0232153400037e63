#include "backends/cuda/kernels/strided_copy.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

// Dims of elements that one launch takes.
constexpr size_t kCopyDims = 3;

}  // namespace

StridedCopy StridedCopy::from_tensor(const primset_tensor& t, std::vector<int64_t> to_strides) {
  return {{t.sizes, t.sizes + t.rank}, std::move(to_strides), {t.strides, t.strides + t.rank}, 4};
}

StridedCopy StridedCopy::to_tensor(const primset_tensor& t, std::vector<int64_t> from_strides) {
  return {{t.sizes, t.sizes + t.rank}, {t.strides, t.strides + t.rank}, std::move(from_strides), 4};
}

std::vector<int64_t> StridedCopy::dense_strides(const primset_tensor& t) {
  std::vector<int64_t> strides(t.rank, 1);
  for (size_t d = t.rank; d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(t.sizes[d], 1);
  return strides;
}

StridedCopy StridedCopy::merged() const {
  StridedCopy m;
  m.word_bytes = word_bytes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const bool merges = !m.sizes.empty() && m.to_strides.back() == to_strides[d] * sizes[d] &&
                        m.from_strides.back() == from_strides[d] * sizes[d];
    if (merges) {
      m.sizes.back() *= sizes[d];
      m.to_strides.back() = to_strides[d];
      m.from_strides.back() = from_strides[d];
      continue;
    }
    m.sizes.push_back(sizes[d]);
    m.to_strides.push_back(to_strides[d]);
    m.from_strides.push_back(from_strides[d]);
  }
  return m;
}

bool StridedCopy::is_dense() const {
  return sizes.empty() || (sizes.size() == 1 && to_strides[0] == 1 && from_strides[0] == 1);
}

int64_t StridedCopy::launches() const {
  const StridedCopy m = merged();
  int64_t count = 1;
  for (size_t d = 0; d + kCopyDims < m.sizes.size(); ++d) count *= m.sizes[d];
  return count;
}

void copy_strided(const MatrixKernels& kernels, primset_stream_t& stream, const StridedCopy& copy,
                  DevicePointer to, DevicePointer from, int64_t words, int64_t negated) {
  const StridedCopy m = copy.merged();
  if (negated < 0 && m.is_dense()) {
    const int64_t elements = m.sizes.empty() ? 1 : m.sizes[0];
    PRIMSET_CUDA(stream.cu, cuMemcpyDtoDAsync_v2, to, from,
                 static_cast<uint64_t>(m.word_bytes * words * elements), stream.handle);
    return;
  }
  const size_t rank = m.sizes.size(), inner = std::min(rank, kCopyDims), outer = rank - inner;
  WordCopy w{to, from, {1, 1, 1, words}, {0, 0, 0, 1}, {0, 0, 0, 1}, negated, m.word_bytes};
  for (size_t d = 0; d < inner; ++d) {
    w.sizes[kCopyDims - inner + d] = m.sizes[outer + d];
    w.to_strides[kCopyDims - inner + d] = words * m.to_strides[outer + d];
    w.from_strides[kCopyDims - inner + d] = words * m.from_strides[outer + d];
  }
  const auto bytes = [&](int64_t elements) {
    return static_cast<uint64_t>(m.word_bytes * words * elements);
  };
  for (int64_t i = 0; i < copy.launches(); ++i) {
    int64_t rest = i;
    w.to = to;
    w.from = from;
    for (size_t d = outer; d-- > 0; rest /= m.sizes[d]) {
      w.to += bytes(rest % m.sizes[d] * m.to_strides[d]);
      w.from += bytes(rest % m.sizes[d] * m.from_strides[d]);
    }
    kernels.copy(stream, w);
  }
}

}  // namespace primset_cuda
