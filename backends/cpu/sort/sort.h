// The primitive sort: rows of keys along a dim, and what is moved with them.
#ifndef PRIMSET_BACKENDS_CPU_SORT_SORT_H_
#define PRIMSET_BACKENDS_CPU_SORT_SORT_H_

#include <bit>
#include <cstring>
#include <vector>

#include "backends/common/element_bytes.h"
#include "backends/cpu/sort/key_order.h"
#include "backends/cpu/sort/row_order.h"
#include "backends/cpu/sort/tensor_rows.h"
#include "backends/cpu/sparse/sparse_rows.h"

namespace primset_cpu {

// Rows of a call's operands and where their elements go. Knows nothing of what keys are, so that
// what moves elements is compiled once for all types of keys.
class SortedRows {
 public:
  SortedRows(const primset_primitive_call& call, uint32_t dim)
      : size_(call.operands[0].sizes[dim]) {
    for (uint32_t k = 0; k < call.operand_count; ++k) {
      from_.emplace_back(call.operands[k], dim);
      to_.emplace_back(call.results[k], dim);
      bytes_.push_back(primset_backend::element_bytes(call.operands[k].dtype));
    }
  }

 protected:
  struct SamePosition {
    int64_t operator()(int64_t i) const { return i; }
  };
  template <typename Entry>
  struct OrderedPosition {
    const RowOrder<Entry>& order;
    int64_t operator()(int64_t i) const { return order.position(i); }
  };

  template <typename F>
  void over_row(ThreadPool& pool, int64_t parts, const F& f) const {
    const auto some = [&](int64_t first, int64_t end) {
      for (int64_t p = first; p < end; ++p) f(p, size_ * p / parts, size_ * (p + 1) / parts);
    };
    if (parts == 1) return some(0, 1);
    in_parallel(pool, parts, some);
  }

  // Operands from `k` on: element i from position(i).
  template <typename Position>
  void move_operands(ThreadPool& pool, int64_t r, int64_t parts, size_t k,
                     const Position& position) const {
    for (; k < from_.size(); ++k) {
      over_row(pool, parts, [&](int64_t, int64_t first, int64_t end) {
        switch (bytes_[k]) {
          case 1:
            return move_elements<uint8_t>(k, r, first, end, position);
          case 2:
            return move_elements<uint16_t>(k, r, first, end, position);
          case 4:
            return move_elements<uint32_t>(k, r, first, end, position);
          case 8:
            return move_elements<uint64_t>(k, r, first, end, position);
          default:
            return move_elements<Complex<double>>(k, r, first, end, position);
        }
      });
    }
  }

  template <typename T, typename Position>
  void move_elements(size_t k, int64_t r, int64_t first, int64_t end,
                     const Position& position) const {
    const T* const from = from_[k].template row<T>(r);
    T* const to = to_[k].template row<T>(r);
    const int64_t from_stride = from_[k].stride, to_stride = to_[k].stride;
    for (int64_t i = first; i < end; ++i) to[i * to_stride] = from[position(i) * from_stride];
  }

  const int64_t size_;
  std::vector<TensorRows> from_, to_;
  std::vector<size_t> bytes_;
};

template <typename U, KeyKind kKind>
class SortCall : private SortedRows {
 public:
  SortCall(const primset_primitive_call& call, U infinity)
      : SortedRows(call, static_cast<uint32_t>(integer(call, "dim"))),
        order_{infinity, flag(call, "descending")} {}

  // Few long rows are shared by the threads, each of them; of others each thread has some.
  void run(ThreadPool& pool) {
    constexpr int64_t kLongRow = 1 << 15;
    const auto rows = static_cast<int64_t>(from_[0].offsets.size());
    if (size_ == 0) return;
    if (size_ >= kLongRow && rows < static_cast<int64_t>(pool.size())) {
      for (int64_t r = 0; r < rows; ++r) sort_row(pool, r, pool.size());
      return;
    }
    in_parallel(pool, rows, [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; ++r) sort_row(pool, r, 1);
    });
  }

 private:
  U number(int64_t r, int64_t i) const {
    return order_.number(from_[0].template row<U>(r)[i * from_[0].stride]);
  }

  void sort_row(ThreadPool& pool, int64_t r, int64_t parts) const {
    std::vector<NumberRange> ranges(static_cast<size_t>(parts));
    over_row(pool, parts, [&](int64_t p, int64_t first, int64_t end) {
      ranges[static_cast<size_t>(p)] = range_of(r, first, end);
    });
    NumberRange all = ranges[0];
    for (int64_t p = 1; p < parts; ++p) {
      const int64_t begin = size_ * p / parts;
      all.add(ranges[static_cast<size_t>(p)], number(r, begin - 1) <= number(r, begin));
    }
    if (all.ascending) return move_operands(pool, r, parts, 0, SamePosition());
    const int bits = std::bit_width(all.greatest - all.least);
    if (bits + std::bit_width(static_cast<uint64_t>(size_)) <= 64)
      order_row<PackedEntry>(pool, r, parts, all);
    else
      order_row<WideEntry>(pool, r, parts, all);
  }

  NumberRange range_of(int64_t r, int64_t first, int64_t end) const {
    const U* const keys = from_[0].template row<U>(r);
    const int64_t stride = from_[0].stride;
    U least = std::numeric_limits<U>::max(), greatest = 0, before = 0;
    bool ascending = true, told = true;
    for (int64_t i = first; i < end; ++i) {
      const U n = order_.number(keys[i * stride]);
      told &= order_.is_told(keys[i * stride]);
      ascending &= before <= n;
      least = std::min(least, n), greatest = std::max(greatest, n), before = n;
    }
    return {least, greatest, ascending, told};
  }

  template <typename Entry>
  void order_row(ThreadPool& pool, int64_t r, int64_t parts, const NumberRange& all) const {
    RowOrder<Entry> order(size_, std::bit_width(all.greatest - all.least), parts);
    over_row(pool, parts, [&](int64_t, int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) order.set(i, number(r, i) - all.least);
    });
    order.sort(pool);
    const OrderedPosition<Entry> position{order};
    if (!all.told) return move_operands(pool, r, parts, 0, position);
    U* const to = to_[0].template row<U>(r);
    over_row(pool, parts, [&](int64_t, int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i)
        to[i * to_[0].stride] = order_.bits(static_cast<U>(order.number(i) + all.least));
    });
    move_operands(pool, r, parts, 1, position);
  }

  const KeyOrder<U, kKind> order_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_SORT_H_
