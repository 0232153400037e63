// The primitive embedding_backward: to each row of a table the sum of the gradients that looked it
// up, in their order. A row is written once, when all that comes to it is added up.
#ifndef PRIMSET_BACKENDS_CPU_LOOKUP_ROW_GRADIENTS_H_
#define PRIMSET_BACKENDS_CPU_LOOKUP_ROW_GRADIENTS_H_

#include <vector>

#include "backends/common/call_attributes.h"
#include "backends/cpu/bf16.h"
#include "backends/cpu/row_blocks.h"

namespace primset_cpu {

// For each row the positions of a list of indices that name it, in ascending order.
class PositionsOfRows {
 public:
  template <typename Index>
  PositionsOfRows(const Index* indices, int64_t count, int64_t rows)
      : first_(static_cast<size_t>(rows), kNone), next_(static_cast<size_t>(count)) {
    for (int64_t i = count; i-- > 0;) {
      const auto row = static_cast<uint64_t>(static_cast<int64_t>(indices[i]));
      if (row >= first_.size()) continue;  // has been reported
      next_[static_cast<size_t>(i)] = first_[row];
      first_[row] = static_cast<int32_t>(i);
    }
  }

  static constexpr int32_t kNone = -1;
  int32_t first(int64_t row) const { return first_[static_cast<size_t>(row)]; }
  int32_t next(int32_t position) const { return next_[static_cast<size_t>(position)]; }

 private:
  std::vector<int32_t> first_, next_;
};

template <typename T, typename Wide>
class RowGradients {
 public:
  explicit RowGradients(const primset_primitive_call& call)
      : grad_(data_at<const T>(call.operands[0])),
        to_(data_at<T>(call.results[0])),
        rows_(call.results[0].sizes[0]),
        columns_(call.results[0].sizes[1]),
        padding_(primset_backend::integer(call, "padding_idx", -1)),
        positions_(positions_of(call.operands[1], rows_)) {}

  void run(ThreadPool& pool) const {
    in_row_blocks(pool, rows_, columns_, [&] {
      std::vector<Wide> sums(kIsWide ? 0 : static_cast<size_t>(columns_));
      return [this, sums](int64_t row, int64_t from, int64_t to) mutable {
        sum_row(row, from, to - from, sums.data());
      };
    });
  }

 private:
  static constexpr bool kIsWide = std::is_same_v<T, Wide>;

  static PositionsOfRows positions_of(const primset_tensor& indices, int64_t rows) {
    if (indices.dtype == PRIMSET_I32)
      return {data_at<const int32_t>(indices), indices.sizes[0], rows};
    return {data_at<const int64_t>(indices), indices.sizes[0], rows};
  }

  void sum_row(int64_t row, int64_t from, int64_t count, Wide* memory) const {
    T* const to = to_ + row * columns_ + from;
    int32_t at = row == padding_ ? PositionsOfRows::kNone : positions_.first(row);
    if (at == PositionsOfRows::kNone) {
      std::fill_n(to, count, T());
      return;
    }
    Wide* sums = memory;
    if constexpr (kIsWide) sums = to;
    std::fill_n(sums, count, Wide());
    for (; at != PositionsOfRows::kNone; at = positions_.next(at))
      vector_code(AddRow(), grad_ + at * columns_ + from, count, sums);
    if constexpr (!kIsWide) vector_code(RoundRow(), sums, count, to);
  }

  struct AddRow {
    PRIMSET_INLINE void operator()(const T* __restrict x, int64_t count,
                                   Wide* __restrict sums) const {
      for (int64_t c = 0; c < count; ++c) {
        if constexpr (kIsWide)
          sums[c] += x[c];
        else
          sums[c] += float_of(x[c]);
      }
    }
  };
  struct RoundRow {
    PRIMSET_INLINE void operator()(const Wide* __restrict sums, int64_t count,
                                   T* __restrict to) const {
      for (int64_t c = 0; c < count; ++c) put(sums[c], to[c]);
    }
  };

  const T* const grad_;
  T* const to_;
  const int64_t rows_, columns_, padding_;
  const PositionsOfRows positions_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LOOKUP_ROW_GRADIENTS_H_
