// The primitives unique and unique_consecutive of a vector: its elements in order, or as they
// stand, cut where runs of equal ones begin. Where keys can only be few numbers, these are counted
// instead.
#ifndef PRIMSET_BACKENDS_CPU_SORT_UNIQUE_H_
#define PRIMSET_BACKENDS_CPU_SORT_UNIQUE_H_

#include <array>
#include <vector>

#include "backends/cpu/sort/row_range.h"
#include "backends/cpu/sparse/sparse_rows.h"

namespace primset_cpu {

template <typename U, KeyKind kKind>
class UniqueCall {
 public:
  UniqueCall(const primset_primitive_call& call, U infinity)
      : order_{infinity, false},
        x_{order_, data_at<const U>(call.operands[0]), call.operands[0].strides[0],
           call.operands[0].sizes[0]},
        size_(x_.size),
        entries_(data_at<U>(call.results[0])),
        inverse_(flag(call, "return_inverse", true) ? data_at<int64_t>(call.results[1]) : nullptr),
        counts_(flag(call, "return_counts", true) ? data_at<int64_t>(call.results[2]) : nullptr),
        count_(data_at<int64_t>(call.results[3])) {}

  void run(ThreadPool& pool, bool sorted) const {
    if (sorted && size_ > 0)
      find_sorted(pool);
    else
      find_consecutive(pool);
    // What is behind them is defined nowhere, but a bool's byte is 0 or 1.
    if (sizeof(U) == 1) std::fill(entries_ + *count_, entries_ + size_, U{});
  }

 private:
  void find_consecutive(ThreadPool& pool) const {
    if (x_.stride == 1) return cut_runs(pool, AsTheyStand<1>{x_});
    cut_runs(pool, AsTheyStand<0>{x_});
  }

  void find_sorted(ThreadPool& pool) const {
    const int64_t parts = size_ < kLongRow ? 1 : pool.size();
    NumberRange range{0, std::numeric_limits<U>::max(), 0, false, true};
    if (sizeof(U) > 1) range = x_.range(pool, parts);
    if (range.ascending) return find_consecutive(pool);
    if (range.told && range.greatest - range.least < most_kinds())
      return count_kinds(pool, parts, range);
    with_entry(range.bits(), size_, inverse_ || !range.told, [&]<typename Entry>() {
      RowOrder<Entry> order(size_, range.bits(), parts);
      over_row(pool, size_, parts, [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; ++i) order.set(i, range.packed(x_.number(i)));
      });
      order.sort(pool);
      cut_runs(pool, InOrder<Entry>{x_, order, range});
    });
  }

  // Elements that a thread takes at a time.
  static constexpr int64_t kPart = 1 << 12;

  template <typename F>
  void over_parts(ThreadPool& pool, const F& f) const {
    in_parallel(pool, (size_ + kPart - 1) / kPart, [&](int64_t first, int64_t end) {
      for (int64_t p = first; p < end; ++p) f(p, p * kPart, std::min((p + 1) * kPart, size_));
    });
  }

  // --- runs of equal keys ---

  // An order of the elements: their numbers, where they stood, and what they are.
  template <int64_t kStride>
  struct AsTheyStand {
    KeyRow<U, kKind> x;
    PRIMSET_INLINE U number(int64_t i) const { return x.order.number(element(i)); }
    PRIMSET_INLINE int64_t position(int64_t i) const { return i; }
    PRIMSET_INLINE U element(int64_t i) const { return x.keys[i * (kStride ? kStride : x.stride)]; }
  };
  template <typename Entry>
  struct InOrder {
    KeyRow<U, kKind> x;
    const RowOrder<Entry>& order;
    NumberRange range;
    PRIMSET_INLINE U number(int64_t i) const {
      return static_cast<U>(range.unpacked(order.number(i)));
    }
    PRIMSET_INLINE int64_t position(int64_t i) const { return order.position(i); }
    PRIMSET_INLINE U element(int64_t i) const {
      return range.told ? x.order.bits(number(i)) : x.keys[position(i) * x.stride];
    }
  };

  // NaN is equal to nothing.
  template <typename Order>
  PRIMSET_INLINE static bool begins(const Order& order, int64_t i) {
    const U n = order.number(i);
    const bool is_nan = kKind == KeyKind::floating && n == std::numeric_limits<U>::max();
    return is_nan | (n != order.number(i - 1));
  }

  struct Part {
    int64_t runs = 0;   // that begin before it; first, those that begin in it
    int64_t begin = 0;  // where the first run begins that does so in it or behind it
  };

  template <typename Order>
  void cut_runs(ThreadPool& pool, const Order& order) const {
    std::vector<Part> list(static_cast<size_t>((size_ + kPart - 1) / kPart) + 1);
    over_parts(pool, [&](int64_t p, int64_t first, int64_t end) {
      vector_code(FindRuns(), order, first, end, &list[static_cast<size_t>(p)]);
    });
    int64_t runs = 0;
    for (Part& p : list) p.runs = std::exchange(runs, runs + p.runs);
    list.back().begin = size_;
    for (size_t p = list.size() - 1; p-- > 0;)
      if (list[p].runs == list[p + 1].runs) list[p].begin = list[p + 1].begin;
    *count_ = runs;
    over_parts(pool, [&](int64_t p, int64_t first, int64_t end) {
      const auto k = static_cast<size_t>(p);
      write_runs(order, first, end, list[k].runs, list[k + 1].begin);
    });
  }

  struct FindRuns {
    template <typename Order>
    PRIMSET_INLINE void operator()(const Order& order, int64_t first, int64_t end,
                                   Part* part) const {
      int64_t begin = first, runs = first == 0;
      if (first > 0)
        while (begin < end && !begins(order, begin)) ++begin;
      for (int64_t i = std::max<int64_t>(begin, 1); i < end; ++i) runs += begins(order, i);
      *part = {runs, begin};
    }
  };

  // Those that begin from `first` on and before `end`; `run` is the number of the first of them.
  template <typename Order>
  void write_runs(const Order& order, int64_t first, int64_t end, int64_t run,
                  int64_t next_begin) const {
    std::array<uint8_t, kPart> flags;
    vector_code(FlagRuns(), order, first, end, flags.data());
    std::array<int32_t, kPart + 1> starts;  // a vector has no more elements
    int64_t found = 0;
    for (int64_t i = first; i < end; ++i) {  // without a branch for each element
      starts[static_cast<size_t>(found)] = static_cast<int32_t>(i);
      found += flags[static_cast<size_t>(i - first)];
    }
    starts[static_cast<size_t>(found)] = static_cast<int32_t>(next_begin);
    for (int64_t k = 0; k < found; ++k)
      entries_[run + k] = order.element(starts[static_cast<size_t>(k)]);
    for (int64_t k = 0; counts_ && k < found; ++k)
      counts_[run + k] = starts[static_cast<size_t>(k) + 1] - starts[static_cast<size_t>(k)];
    int64_t* const inverse = inverse_;
    for (int64_t i = first; inverse && i < end; ++i) {
      run += flags[static_cast<size_t>(i - first)];
      inverse[order.position(i)] = run - 1;
    }
  }

  struct FlagRuns {
    template <typename Order>
    PRIMSET_INLINE void operator()(Order order, int64_t first, int64_t end,
                                   uint8_t* __restrict flags) const {
      if (first == 0) flags[0] = 1;
      for (int64_t i = std::max<int64_t>(first, 1); i < end; ++i)
        flags[i - first] = begins(order, i);
    }
  };

  // --- few kinds of keys ---

  // Tables of so many numbers are filled sooner than the elements are sorted.
  uint64_t most_kinds() const {
    constexpr uint64_t kLeast = 1 << 8, kMost = 1 << 15;
    return std::clamp(static_cast<uint64_t>(size_), kLeast, kMost);
  }

  void count_kinds(ThreadPool& pool, int64_t parts, const NumberRange& range) const {
    const auto least = static_cast<U>(range.least);
    const size_t kinds = range.greatest - range.least + 1;
    std::vector<uint32_t> counts(kinds * static_cast<size_t>(parts * kTables));
    over_row(pool, size_, parts, [&](int64_t p, int64_t first, int64_t end) {
      count_part(first, end, least, kinds,
                 counts.data() + kinds * static_cast<size_t>(p * kTables));
    });
    std::vector<int64_t> place(kinds);
    int64_t found = 0;
    for (size_t kind = 0; kind < kinds; ++kind) {
      int64_t sum = 0;
      for (size_t table = kind; table < counts.size(); table += kinds) sum += counts[table];
      place[kind] = found;
      if (sum == 0) continue;
      entries_[found] = order_.bits(static_cast<U>(range.least + kind));
      if (counts_) counts_[found] = sum;
      ++found;
    }
    *count_ = found;
    if (!inverse_) return;
    over_parts(pool, [&](int64_t, int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i)
        inverse_[i] = place[static_cast<U>(x_.number(i) - least)];
    });
  }

  // Neighbours are counted in tables of their own: one count after another of the same number would
  // wait for each other.
  static constexpr int64_t kTables = 4;

  void count_part(int64_t first, int64_t end, U least, size_t kinds, uint32_t* counts) const {
    const auto count = [&](int64_t i, size_t table) {
      ++counts[table * kinds + static_cast<U>(x_.number(i) - least)];
    };
    int64_t i = first;
    for (; i + kTables <= end; i += kTables)
      for (size_t table = 0; table < kTables; ++table)
        count(i + static_cast<int64_t>(table), table);
    for (; i < end; ++i) count(i, 0);
  }

  const KeyOrder<U, kKind> order_;
  const KeyRow<U, kKind> x_;
  const int64_t size_;
  U* const entries_;
  int64_t* const inverse_;  // null where it is not asked for, and so are counts
  int64_t* const counts_;
  int64_t* const count_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_UNIQUE_H_
