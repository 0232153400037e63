// The greatest element of each window and its place. Of a row of windows the greatest of each
// column is found first, in vectors as wide as the processor's, whatever a window's width; then of
// the columns of each window.
#ifndef PRIMSET_BACKENDS_CPU_POOLING_MAX_WINDOWS_H_
#define PRIMSET_BACKENDS_CPU_POOLING_MAX_WINDOWS_H_

#include <vector>

#include "backends/cpu/bf16.h"
#include "backends/cpu/pooling/windows.h"

namespace primset_cpu {

// The greatest so far of each column, and the place where its row begins.
template <typename T, typename Wide>
struct GreatestOfColumns {
  const T* row;
  int64_t width;
  int32_t row_place;
  bool is_first;
  Wide* best;
  int32_t* place;

  PRIMSET_INLINE static Wide wide(T x) {
    if constexpr (sizeof(T) == sizeof(Wide))
      return x;
    else
      return float_of(x);
  }

  // Of equal elements the first stands, of NaN the last.
  PRIMSET_INLINE void operator()() const {
    const T* __restrict from = row;
    Wide* __restrict greatest = best;
    int32_t* __restrict at = place;
    const int32_t now = row_place;
    const bool first = is_first;
    for (int64_t c = 0; c < width; ++c) {
      const Wide x = wide(from[c]), before = greatest[c];
      const bool kept = (x <= before) | ((before != before) & (x == x));
      const bool wins = first | !kept;
      greatest[c] = wins ? x : before;
      at[c] = wins ? now : at[c];
    }
  }
};

template <typename T, typename Wide>
class MaxWindows {
 public:
  MaxWindows(const primset_primitive_call& call, std::vector<DimWindows> dims)
      : x_(data_at<const T>(call.operands[0])),
        y_(data_at<T>(call.results[0])),
        index_(data_at<int64_t>(call.results[1])),
        dims_(std::move(dims)) {
    const primset_tensor& t = call.operands[0];
    planes_ = product(t.sizes, t.rank - dims_.size());
    for (const DimWindows& d : dims_) plane_ *= d.size;
    for (size_t d = 0; d + 1 < dims_.size(); ++d)
      rows_ *= static_cast<int64_t>(dims_[d].ranges.size());
  }

  void run(ThreadPool& pool) const {
    in_parallel(pool, planes_ * rows_, [&](int64_t first, int64_t end) {
      const auto width = static_cast<size_t>(dims_.back().size);
      std::vector<Wide> best(width);
      std::vector<int32_t> place(width);
      for (int64_t i = first; i < end; ++i) {
        greatest_of_columns(i, best.data(), place.data());
        greatest_of_windows(i, best.data(), place.data());
      }
    });
  }

 private:
  void greatest_of_columns(int64_t i, Wide* best, int32_t* place) const {
    const size_t outer = dims_.size() - 1;
    std::vector<WindowRange> window(outer);
    for (size_t d = outer, rest = static_cast<size_t>(i % rows_); d-- > 0;) {
      const auto& ranges = dims_[d].ranges;
      window[d] = ranges[rest % ranges.size()];
      rest /= ranges.size();
    }
    const T* const plane = x_ + i / rows_ * plane_;
    bool is_first = true;
    for_each_row(window, 0, 0, [&](int64_t row) {
      const int64_t width = dims_[outer].size, at = row * width;
      vector_code([](const GreatestOfColumns<T, Wide>& g) PRIMSET_INLINE_LAMBDA { g(); },
                  GreatestOfColumns<T, Wide>{plane + at, width, static_cast<int32_t>(at), is_first,
                                             best, place});
      is_first = false;
    });
  }

  template <typename F>
  void for_each_row(const std::vector<WindowRange>& window, size_t d, int64_t row,
                    const F& f) const {
    if (d == window.size()) return f(row);
    for (int32_t at = window[d].begin; at < window[d].end; at += dims_[d].step)
      for_each_row(window, d + 1, row * dims_[d].size + at, f);
  }

  void greatest_of_windows(int64_t i, const Wide* best, const int32_t* place) const {
    const DimWindows& d = dims_.back();
    int64_t out = i * static_cast<int64_t>(d.ranges.size());
    for (const WindowRange& range : d.ranges) {
      Wide greatest = best[range.begin];
      int32_t at = place[range.begin] + range.begin;
      for (int32_t c = range.begin + d.step; c < range.end; c += d.step) {
        const Wide x = best[c];
        const int32_t here = place[c] + c;
        const bool is_nan = x != x, was_nan = greatest != greatest;
        const bool number_wins = (x > greatest) | ((x == greatest) & (here < at));
        const bool wins = is_nan ? !was_nan | (here > at) : number_wins;
        greatest = wins ? x : greatest;
        at = wins ? here : at;
      }
      if constexpr (sizeof(T) == sizeof(Wide))
        y_[out] = greatest;
      else
        put(greatest, y_[out]);
      index_[out++] = at;
    }
  }

  const T* x_;
  T* y_;
  int64_t* index_;
  std::vector<DimWindows> dims_;
  int64_t planes_ = 1, plane_ = 1, rows_ = 1;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_POOLING_MAX_WINDOWS_H_
