// The primitives top_k, kth_value, median and mode: some elements of each row along a dim, by their
// order.
#ifndef PRIMSET_BACKENDS_CPU_SORT_SELECT_H_
#define PRIMSET_BACKENDS_CPU_SORT_SELECT_H_

#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/sort/key_order.h"
#include "backends/cpu/sort/row_order.h"
#include "backends/cpu/sort/row_select.h"
#include "backends/cpu/sort/tensor_rows.h"
#include "backends/cpu/sparse/sparse_rows.h"

namespace primset_cpu {

enum class Selection : uint8_t { top_k, kth_value, median, mode };

template <typename U, KeyKind kKind>
class SelectCall {
 public:
  SelectCall(const primset_primitive_call& call, Selection what, U infinity)
      : what_(what),
        dim_(static_cast<uint32_t>(integer(call, "dim"))),
        order_{infinity, what == Selection::top_k && flag(call, "largest", true)},
        ignores_nan_(flag(call, "ignore_nan")),
        size_(call.operands[0].sizes[dim_]),
        k_(integer(call, "k")),
        from_(call.operands[0], dim_),
        values_(data_at<U>(call.results[0])),
        indices_(data_at<int64_t>(call.results[1])),
        inner_(inner_of(call.operands[0], dim_)) {}

  void run(ThreadPool& pool) const {
    in_parallel(pool, from_.count(),
                [&](int64_t first, int64_t end) { Worker(*this, pool).run(first, end); });
  }

 private:
  static constexpr int64_t kShortRow = 32;  // ordered as it is
  // Rows that lie side by side are read together, as far as so many elements of them are near.
  static constexpr int64_t kMostRows = 16, kNearElements = int64_t{1} << 18;

  static int64_t inner_of(const primset_tensor& t, uint32_t dim) {
    int64_t n = 1;
    for (uint32_t d = dim + 1; d < t.rank; ++d) n *= t.sizes[d];
    return n;
  }

  // What a thread needs for its rows.
  class Worker {
   public:
    Worker(const SelectCall& call, ThreadPool& pool)
        : c_(call),
          pool_(pool),
          pitch_(call.size_ + kGap),
          most_(call.from_.stride == 1 ? 1
                                       : std::clamp(kNearElements / pitch_, int64_t{1}, kMostRows)),
          numbers_(std::make_unique_for_overwrite<U[]>(static_cast<size_t>(pitch_ * most_))) {}

    void run(int64_t first, int64_t end) {
      for (int64_t r = first; r < end; r += most_) {
        const int64_t count = std::min(most_, end - r);
        vector_code(Load(), c_, r, count, pitch_, numbers_.get());
        for (int64_t q = 0; q < count; ++q)
          select(r + q, {numbers_.get() + q * pitch_, static_cast<size_t>(c_.size_)});
      }
    }

   private:
    // Rows of a power of two would all be in one set of the cache.
    static constexpr int64_t kGap = 64 / static_cast<int64_t>(sizeof(U));

    struct Load {
      PRIMSET_INLINE void operator()(const SelectCall& c, int64_t first, int64_t count,
                                     int64_t pitch, U* to) const {
        const int64_t stride = c.from_.stride;
        if (count == 1) {
          const U* const from = c.from_.template row<U>(first);
          if (stride == 1) return load_row(c, from, 1, to);
          return load_row(c, from, stride, to);
        }
        const U* rows[kMostRows];
        for (int64_t q = 0; q < count; ++q) rows[q] = c.from_.template row<U>(first + q);
        for (int64_t i = 0; i < c.size_; ++i)
          for (int64_t q = 0; q < count; ++q)
            to[q * pitch + i] = c.order_.number(rows[q][i * stride]);
      }
      PRIMSET_INLINE static void load_row(const SelectCall& c, const U* from, int64_t stride,
                                          U* to) {
        for (int64_t i = 0; i < c.size_; ++i) to[i] = c.order_.number(from[i * stride]);
      }
    };

    void select(int64_t r, std::span<const U> row) {
      if (c_.what_ == Selection::top_k) return select_top(r, row);
      if (c_.what_ == Selection::mode) return select_mode(r, row);
      const int64_t k = c_.what_ == Selection::kth_value ? c_.k_ : c_.middle(row);
      const U number = select_.kth(row, k);
      const int64_t at = std::ranges::find(row, number) - row.begin();
      c_.set(c_.results_at(r, 1), r, at);
    }

    void select_top(int64_t r, std::span<const U> row) {
      const bool is_short = c_.size_ <= kShortRow;
      std::span<const uint32_t> chosen;
      if (!is_short) chosen = select_.positions(row, c_.k_);
      const auto position = [&](int64_t i) {
        return is_short ? i : static_cast<int64_t>(chosen[static_cast<size_t>(i)]);
      };
      const int64_t count = is_short ? c_.size_ : c_.k_;
      if constexpr (sizeof(U) <= 4)
        put_in_order<PackedEntry>(r, row, count, position);
      else
        put_in_order<WideEntry>(r, row, count, position);
    }

    void select_mode(int64_t r, std::span<const U> row) {
      NumberRange range;
      for (const U n : row) range.add(n, row[0]);
      const bool fits = range.bits() + std::bit_width(row.size()) <= 64;
      const int64_t at = fits ? end_of_longest_run<PackedEntry>(row, range)
                              : end_of_longest_run<WideEntry>(row, range);
      c_.set(c_.results_at(r, 1), r, at);
    }

    // Where the last element of the row's longest run of equal ones stands, of the least of them
    // where several are as long. A NaN equals no other, but where there is nothing else it is the
    // last one.
    template <typename Entry>
    int64_t end_of_longest_run(std::span<const U> row, const NumberRange& range) {
      constexpr U kNan = std::numeric_limits<U>::max();
      constexpr bool kFloating = kKind == KeyKind::floating;
      if (kFloating && range.least == kNan) return c_.size_ - 1;
      RowOrder<Entry> order(c_.size_, range.bits(), 1);
      for (int64_t i = 0; i < c_.size_; ++i)
        order.set(i, range.packed(row[static_cast<size_t>(i)]));
      order.sort(pool_);
      int64_t longest = 0, begin = 0, last = 0, end = c_.size_;
      if (kFloating)
        while (order.number(end - 1) == range.packed(kNan) && range.greatest == kNan) --end;
      for (int64_t i = 1; i <= end; ++i) {
        if (i < end && order.number(i) == order.number(begin)) continue;
        if (i - begin > longest) longest = i - begin, last = i - 1;
        begin = i;
      }
      return order.position(last);
    }

    template <typename Entry, typename Position>
    void put_in_order(int64_t r, std::span<const U> row, int64_t count, const Position& position) {
      RowOrder<Entry> order(count, 8 * sizeof(U), 1);
      for (int64_t i = 0; i < count; ++i) order.set(i, row[static_cast<size_t>(position(i))]);
      order.sort(pool_);
      int64_t at = c_.results_at(r, c_.k_);
      for (int64_t i = 0; i < c_.k_; ++i, at += c_.inner_)
        c_.set(at, r, position(order.position(i)));
    }

    const SelectCall& c_;
    ThreadPool& pool_;
    const int64_t pitch_, most_;
    std::unique_ptr<U[]> numbers_;
    RowSelect<U> select_;
  };

  // Where a NaN decides, the last of the row is the first NaN.
  int64_t middle(std::span<const U> row) const {
    const auto size = static_cast<int64_t>(row.size());
    if constexpr (kKind != KeyKind::floating) return (size + 1) / 2;
    const int64_t numbers = size - std::ranges::count(row, std::numeric_limits<U>::max());
    const bool usable = ignores_nan_ ? numbers > 0 : numbers == size;
    return usable ? (numbers + 1) / 2 : size;
  }

  // The results' first element of a row, of which they have `count`.
  int64_t results_at(int64_t r, int64_t count) const {
    return r / inner_ * inner_ * count + r % inner_;
  }
  void set(int64_t at, int64_t r, int64_t i) const {
    values_[at] = from_.template row<U>(r)[i * from_.stride];
    indices_[at] = i;
  }

  const Selection what_;
  const uint32_t dim_;
  const KeyOrder<U, kKind> order_;
  const bool ignores_nan_;
  const int64_t size_, k_;
  const TensorRows from_;
  U* const values_;
  int64_t* const indices_;
  const int64_t inner_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_SELECT_H_
