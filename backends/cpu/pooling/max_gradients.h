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
    plane_ = product(shape_.data(), dims);
  }

  void run(ThreadPool& pool) const {
    in_parallel(pool, planes_, [&](int64_t first, int64_t end) {
      std::vector<Wide> sums(kIsWide ? 0 : static_cast<size_t>(plane_));
      for (int64_t p = first; p < end; ++p)
        vector_code([](const MaxGradients& g, int64_t i, Wide* wide)
                        PRIMSET_INLINE_LAMBDA { g.make_plane(i, wide); },
                    *this, p, sums.data());
    });
  }

 private:
  static constexpr bool kIsWide = sizeof(T) == sizeof(Wide);
  static constexpr int64_t kColumns = 64;

  PRIMSET_INLINE void make_plane(int64_t p, Wide* wide) const {
    T* const to = x_ + p * plane_;
    if constexpr (kIsWide) {
      std::fill_n(to, plane_, T());
      add_plane(p, to);
    } else {
      std::fill_n(wide, plane_, Wide());
      add_plane(p, wide);
      for (int64_t i = 0; i < plane_; ++i) put(wide[i], to[i]);
    }
  }

  PRIMSET_INLINE void add_plane(int64_t p, Wide* sums) const {
    const size_t last = places_.size() - 1;
    const int64_t rows = product(places_.data(), last), columns = places_[last];
    std::vector<int64_t> begin(last + 1);
    for (int64_t r = 0; r < rows; ++r) {
      for (size_t d = last, rest = static_cast<size_t>(r); d-- > 0;) {
        const auto count = static_cast<size_t>(places_[d]);
        begin[d] = static_cast<int64_t>(rest % count) * strides_[d] - padding_[d];
        rest /= count;
      }
      for (int64_t c = 0; c < columns; c += kColumns) {
        const int64_t at = (p * rows + r) * columns + c;
        begin[last] = c * strides_[last] - padding_[last];
        add_columns(grad_ + at, index_ + at, std::min(columns - c, kColumns), begin.data(), sums);
      }
    }
  }

  PRIMSET_INLINE void add_columns(const T* grad, const int64_t* index, int64_t count,
                                  const int64_t* begin, Wide* sums) const {
    int64_t place[kColumns];
    find_places(index, count, begin, place);
    for (int64_t c = 0; c < count; ++c) {
      if (place[c] < 0) continue;
      if constexpr (kIsWide)
        sums[place[c]] += grad[c];
      else
        sums[place[c]] += float_of(grad[c]);
    }
  }

  // The places of a plane that are in their windows, which are neighbours along the last dim; -1
  // for others. The rows of a place are its product with an inverse: half an element more than its
  // own keeps what is rounded there on the right side of whole rows.
  PRIMSET_INLINE void find_places(const int64_t* index, int64_t count, const int64_t* begin,
                                  int64_t* place) const {
    int64_t rest[kColumns];
    for (int64_t c = 0; c < count; ++c) {
      const bool known = static_cast<uint64_t>(index[c]) < static_cast<uint64_t>(plane_);
      rest[c] = known ? index[c] : 0;
      place[c] = known ? index[c] : -1;
    }
    for (size_t d = shape_.size(); d-- > 0;) {
      const int64_t size = shape_[d], step = d + 1 == shape_.size() ? strides_[d] : 0;
      const double inverse = d == 0 ? 0 : 1 / static_cast<double>(size);
      for (int64_t c = 0; c < count; ++c) {
        const auto above = static_cast<int64_t>((static_cast<double>(rest[c]) + 0.5) * inverse);
        const int64_t into = rest[c] - above * size - (begin[d] + c * step);
        const bool inside = static_cast<uint64_t>(into) < static_cast<uint64_t>(reach_[d]);
        place[c] = inside ? place[c] : -1;
        rest[c] = above;
      }
    }
  }

  const T* grad_;
  const int64_t* index_;
  T* x_;
  std::vector<int64_t> shape_, strides_, padding_, places_, reach_;
  int64_t planes_, plane_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_POOLING_MAX_GRADIENTS_H_
