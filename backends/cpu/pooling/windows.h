// Windows over the last dims of a dense tensor, dim by dim: where each begins, ends, and in which
// steps it goes. What is outside of the tensor is in none.
#ifndef PRIMSET_BACKENDS_CPU_POOLING_WINDOWS_H_
#define PRIMSET_BACKENDS_CPU_POOLING_WINDOWS_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "backends/common/call_attributes.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

struct WindowRange {
  int32_t begin, end;
};

struct DimWindows {
  int64_t size;
  int32_t step;
  std::vector<WindowRange> ranges;
};

using primset_backend::integers;

inline int64_t product(const int64_t* sizes, size_t count) {
  return std::accumulate(sizes, sizes + count, int64_t{1}, std::multiplies<>());
}

// Of windows of one size, as max_pool has them.
inline std::vector<DimWindows> regular_windows(const primset_primitive_call& call,
                                               const int64_t* shape) {
  const auto window = integers(call, "window"), strides = integers(call, "strides"),
             dilations = integers(call, "dilations"), padding = integers(call, "padding"),
             places = integers(call, "places");
  std::vector<DimWindows> dims;
  for (size_t d = 0; d < window.size(); ++d) {
    DimWindows w{shape[d], static_cast<int32_t>(dilations[d]), {}};
    for (int64_t place = 0; place < places[d]; ++place) {
      const int64_t first = place * strides[d] - padding[d];
      const int64_t before = first < 0 ? (-first + dilations[d] - 1) / dilations[d] : 0;
      const int64_t end = std::min(first + (window[d] - 1) * dilations[d] + 1, shape[d]);
      w.ranges.push_back(
          {static_cast<int32_t>(first + before * dilations[d]), static_cast<int32_t>(end)});
    }
    dims.push_back(std::move(w));
  }
  return dims;
}

// Of windows whose bounds are operands, as variable_window_reduce has them.
inline std::vector<DimWindows> bounded_windows(const primset_primitive_call& call,
                                               const int64_t* shape) {
  const auto bound = [](const primset_tensor& t, int64_t i) {
    return t.dtype == PRIMSET_I32 ? data_at<int32_t>(t)[i]
                                  : static_cast<int32_t>(data_at<int64_t>(t)[i]);
  };
  std::vector<DimWindows> dims;
  for (uint32_t d = 0; 2 * d + 2 < call.operand_count; ++d) {
    const primset_tensor *begin = call.operands + 1 + 2 * d, *end = begin + 1;
    DimWindows w{shape[d], 1, {}};
    for (int64_t i = 0; i < begin->sizes[0]; ++i) {
      const int32_t first =
          std::clamp<int32_t>(bound(*begin, i), 0, static_cast<int32_t>(shape[d] - 1));
      w.ranges.push_back(
          {first, std::clamp<int32_t>(bound(*end, i), first + 1, static_cast<int32_t>(shape[d]))});
    }
    dims.push_back(std::move(w));
  }
  return dims;
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_POOLING_WINDOWS_H_
