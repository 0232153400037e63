// The primitive segment_reduce: the sums, products or extrema of runs of rows. Where rows have one
// element a run is added up in so many lanes, whatever vectors there are, and then these; else row
// by row.
#ifndef PRIMSET_BACKENDS_CPU_SEGMENTS_SEGMENT_REDUCE_H_
#define PRIMSET_BACKENDS_CPU_SEGMENTS_SEGMENT_REDUCE_H_

#include <limits>

#include "backends/cpu/row_blocks.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

struct SumOfSegment {
  static constexpr double kNeutral = 0;
  template <typename T>
  PRIMSET_INLINE static T combined(T x, T y) {
    return x + y;
  }
};
struct ProductOfSegment {
  static constexpr double kNeutral = 1;
  template <typename T>
  PRIMSET_INLINE static T combined(T x, T y) {
    return x * y;
  }
};
// A NaN stays.
struct GreatestOfSegment {
  static constexpr double kNeutral = -std::numeric_limits<double>::infinity();
  template <typename T>
  PRIMSET_INLINE static T combined(T x, T y) {
    return ((y > x) | (y != y)) ? y : x;
  }
};
struct LeastOfSegment {
  static constexpr double kNeutral = std::numeric_limits<double>::infinity();
  template <typename T>
  PRIMSET_INLINE static T combined(T x, T y) {
    return ((y < x) | (y != y)) ? y : x;
  }
};

template <typename T, typename Reduction>
class SegmentReduceCall {
 public:
  explicit SegmentReduceCall(const primset_primitive_call& call)
      : x_(data_at<const T>(call.operands[0])),
        to_(data_at<T>(call.results[0])),
        offsets_(call.operands[1]),
        rows_(call.operands[0].sizes[0]),
        segments_(call.results[0].sizes[0]) {
    for (uint32_t d = 1; d < call.operands[0].rank; ++d) columns_ *= call.operands[0].sizes[d];
  }

  void run(ThreadPool& pool) const {
    if (columns_ == 1) {
      const auto some = [&](int64_t first, int64_t end) {
        vector_code(ReduceElements(), *this, first, end);
      };
      return in_parallel(pool, segments_, some, segments_ + rows_);
    }
    in_row_blocks(pool, segments_, columns_, [&] {
      return [&](int64_t segment, int64_t from, int64_t to) {
        vector_code(ReduceRows(), *this, segment, from, to);
      };
    });
  }

 private:
  struct Segment {
    int64_t begin, end;
  };
  // Whatever offsets say, no row is read that is not there.
  PRIMSET_INLINE Segment segment(int64_t s) const {
    const int64_t begin = std::clamp<int64_t>(offset(s), 0, rows_);
    return {begin, std::clamp<int64_t>(offset(s + 1), begin, rows_)};
  }
  PRIMSET_INLINE int64_t offset(int64_t i) const {
    if (offsets_.dtype == PRIMSET_I32) return data_at<const int32_t>(offsets_)[i];
    return data_at<const int64_t>(offsets_)[i];
  }

  struct ReduceElements {
    PRIMSET_INLINE void operator()(const SegmentReduceCall& c, int64_t first, int64_t end) const {
      for (int64_t s = first; s < end; ++s) {
        const Segment own = c.segment(s);
        c.to_[s] = reduced(c.x_ + own.begin, own.end - own.begin);
      }
    }
    PRIMSET_INLINE static T reduced(const T* x, int64_t size) {
      constexpr int64_t kLanes = 16;
      T sums[kLanes];
      for (T& sum : sums) sum = static_cast<T>(Reduction::kNeutral);
      int64_t i = 0;
      for (; i + kLanes <= size; i += kLanes)
        for (int64_t k = 0; k < kLanes; ++k) sums[k] = Reduction::combined(sums[k], x[i + k]);
      for (int64_t k = 0; i + k < size; ++k) sums[k] = Reduction::combined(sums[k], x[i + k]);
      for (int64_t half = kLanes / 2; half > 0; half /= 2)
        for (int64_t k = 0; k < half; ++k) sums[k] = Reduction::combined(sums[k], sums[k + half]);
      return sums[0];
    }
  };

  struct ReduceRows {
    PRIMSET_INLINE void operator()(const SegmentReduceCall& c, int64_t s, int64_t from,
                                   int64_t to) const {
      T* __restrict const sums = c.to_ + s * c.columns_;
      for (int64_t k = from; k < to; ++k) sums[k] = static_cast<T>(Reduction::kNeutral);
      const Segment own = c.segment(s);
      for (int64_t row = own.begin; row < own.end; ++row) {
        const T* __restrict const x = c.x_ + row * c.columns_;
        for (int64_t k = from; k < to; ++k) sums[k] = Reduction::combined(sums[k], x[k]);
      }
    }
  };

  const T* const x_;
  T* const to_;
  const primset_tensor& offsets_;
  const int64_t rows_, segments_;
  int64_t columns_ = 1;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SEGMENTS_SEGMENT_REDUCE_H_
