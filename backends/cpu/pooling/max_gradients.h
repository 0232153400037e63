// max_pool_backward: each gradient is added where its window had its maximum, plane by plane.
#ifndef PRIMSET_BACKENDS_CPU_POOLING_MAX_GRADIENTS_H_
#define PRIMSET_BACKENDS_CPU_POOLING_MAX_GRADIENTS_H_

#include <vector>

#include "backends/cpu/bf16.h"
#include "backends/cpu/pooling/windows.h"

namespace primset_cpu {

template <typename T, typename Wide>
class MaxGradients {
 public:
  explicit MaxGradients(const primset_primitive_call& call)
      : grad_(data_at<const T>(call.operands[0])),
        index_(data_at<const int64_t>(call.operands[1])),
        x_(data_at<T>(call.results[0])),
        shape_(integers(call, "shape")),
        strides_(integers(call, "strides")),
        padding_(integers(call, "padding")) {
    const auto window = integers(call, "window"), dilations = integers(call, "dilations");
    const primset_tensor& g = call.operands[0];
    const size_t dims = shape_.size();
    places_.assign(g.sizes + g.rank - dims, g.sizes + g.rank);
    for (size_t d = 0; d < dims; ++d) reach_.push_back((window[d] - 1) * dilations[d] + 1);
    planes_ = product(g.sizes, g.rank - dims);
  }

  void run(ThreadPool& pool) const {
    const int64_t plane = product(shape_.data(), shape_.size());
    in_parallel(pool, planes_, [&](int64_t first, int64_t end) {
      std::vector<Wide> sums(kIsWide ? 0 : static_cast<size_t>(plane));
      for (int64_t p = first; p < end; ++p) {
        T* const to = x_ + p * plane;
        if constexpr (kIsWide) {
          std::fill_n(to, plane, T());
          add_plane(p, to);
        } else {
          std::fill(sums.begin(), sums.end(), Wide());
          add_plane(p, sums.data());
          for (int64_t i = 0; i < plane; ++i) put(sums[static_cast<size_t>(i)], to[i]);
        }
      }
    });
  }

 private:
  static constexpr bool kIsWide = sizeof(T) == sizeof(Wide);

  void add_plane(int64_t p, Wide* sums) const {
    const size_t last = places_.size() - 1;
    const int64_t rows = product(places_.data(), last), columns = places_[last];
    std::vector<int64_t> begin(last);
    for (int64_t r = 0; r < rows; ++r) {
      for (size_t d = last, rest = static_cast<size_t>(r); d-- > 0;) {
        const auto count = static_cast<size_t>(places_[d]);
        begin[d] = static_cast<int64_t>(rest % count) * strides_[d] - padding_[d];
        rest /= count;
      }
      const int64_t at = (p * rows + r) * columns;
      add_row(grad_ + at, index_ + at, begin.data(), sums);
    }
  }

  void add_row(const T* grad, const int64_t* index, const int64_t* begin, Wide* sums) const {
    const size_t last = places_.size() - 1;
    const auto size = static_cast<uint64_t>(product(shape_.data(), shape_.size()));
    const int64_t columns = places_[last];
    for (int64_t c = 0; c < columns; ++c) {
      const auto place = static_cast<uint64_t>(index[c]);
      if (place >= size ||
          !is_inside(static_cast<uint32_t>(place), begin, c * strides_[last] - padding_[last]))
        continue;
      if constexpr (kIsWide)
        sums[place] += grad[c];
      else
        sums[place] += float_of(grad[c]);
    }
  }

  // Whether a place of a plane is in the window that begins there.
  bool is_inside(uint32_t place, const int64_t* begin, int64_t begin_of_last) const {
    bool inside = true;
    for (size_t d = shape_.size(); d-- > 0;) {
      const auto size = static_cast<uint32_t>(shape_[d]);
      const uint32_t above = d == 0 ? 0 : place / size;
      const int64_t into = static_cast<int64_t>(place - above * size) -
                           (d + 1 == shape_.size() ? begin_of_last : begin[d]);
      inside &= static_cast<uint64_t>(into) < static_cast<uint64_t>(reach_[d]);
      place = above;
    }
    return inside;
  }

  const T* grad_;
  const int64_t* index_;
  T* x_;
  std::vector<int64_t> shape_, strides_, padding_, places_, reach_;
  int64_t planes_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_POOLING_MAX_GRADIENTS_H_
