// The primitive sort: rows of keys along a dim, and what is moved with them.
#ifndef PRIMSET_BACKENDS_CPU_SORT_SORT_H_
#define PRIMSET_BACKENDS_CPU_SORT_SORT_H_

#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <vector>

#include "backends/common/element_bytes.h"
#include "backends/cpu/sort/key_order.h"
#include "backends/cpu/sort/row_order.h"
#include "backends/cpu/sort/row_range.h"
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

  // f.operator()<T>() of a type of as many bytes as operand k's elements have.
  template <typename F>
  void with_element(size_t k, const F& f) const {
    switch (bytes_[k]) {
      case 1:
        return f.template operator()<uint8_t>();
      case 2:
        return f.template operator()<uint16_t>();
      case 4:
        return f.template operator()<uint32_t>();
      case 8:
        return f.template operator()<uint64_t>();
      default:
        return f.template operator()<Complex<double>>();
    }
  }

  // Operands from `k` on: element i from position(i).
  template <typename Position>
  void move_operands(ThreadPool& pool, int64_t r, int64_t parts, size_t k,
                     const Position& position) const {
    for (; k < from_.size(); ++k) {
      over_row(pool, size_, parts, [&](int64_t, int64_t first, int64_t end) {
        with_element(k, [&]<typename T>() { move_elements<T>(k, r, first, end, position); });
      });
    }
  }

  // The same of the rows from `first` on: element i of the q-th of them from position(q, i).
  template <typename Position>
  void move_block(int64_t first, int64_t count, size_t k, const Position& position) const {
    for (; k < from_.size(); ++k)
      with_element(k, [&]<typename T>() {
        std::array<const T*, kBlock> from;
        std::array<T*, kBlock> to;
        for (int64_t q = 0; q < count; ++q) {
          from[static_cast<size_t>(q)] = from_[k].template row<T>(first + q);
          to[static_cast<size_t>(q)] = to_[k].template row<T>(first + q);
        }
        const int64_t from_stride = from_[k].stride, to_stride = to_[k].stride;
        for (int64_t i = 0; i < size_; ++i)
          for (int64_t q = 0; q < count; ++q)
            to[static_cast<size_t>(q)][i * to_stride] =
                from[static_cast<size_t>(q)][position(q, i) * from_stride];
      });
  }

  // Rows across memory that are sorted side by side: the elements of a cache line are as many
  // rows'.
  static constexpr int64_t kBlock = 16;

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
    const auto rows = static_cast<int64_t>(from_[0].offsets.size());
    if (size_ == 0) return;
    if (size_ >= kLongRow && rows < static_cast<int64_t>(pool.size())) {
      for (int64_t r = 0; r < rows; ++r) sort_row(pool, r, pool.size());
      return;
    }
    if (sizeof(U) <= 4 && size_ <= kMostRankedWords) return sort_short_rows(pool, rows);
    constexpr int64_t kBlockElements = 1 << 16;  // are in the cache until they are moved
    const int64_t block =
        from_[0].stride == 1 ? 1 : std::clamp(kBlockElements / size_, int64_t{1}, kBlock);
    in_parallel(pool, rows, [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; r += block) {
        if (block == 1)
          sort_row(pool, r, 1);
        else
          sort_block(pool, r, std::min(block, end - r));
      }
    });
  }

 private:
  struct Block {
    int64_t first, count;
    std::array<const U*, kBlock> keys;
    std::array<NumberRange, kBlock> ranges;
  };

  void sort_block(ThreadPool& pool, int64_t first, int64_t count) const {
    const auto same = [](int64_t, int64_t i) { return i; };
    if (from_[0].stride == 0) return move_block(first, count, 0, same);  // of one key each
    Block b{first, count, {}, {}};
    for (int64_t q = 0; q < count; ++q)
      b.keys[static_cast<size_t>(q)] = from_[0].template row<U>(first + q);
    find_ranges(b);
    bool ascending = true, told = true;
    int bits = 0;
    for (int64_t q = 0; q < count; ++q) {
      const NumberRange& range = b.ranges[static_cast<size_t>(q)];
      ascending = ascending && range.ascending, told = told && range.told;
      bits = std::max(bits, range.bits());
    }
    if (ascending) return move_block(first, count, 0, same);
    with_entry(bits, size_, asks_positions(told),
               [&]<typename Entry>() { order_block<Entry>(pool, b, told); });
  }

  // --- short rows, whose numbers and positions are words ---

  struct ShortRows {
    std::array<const U*, kBlock> keys;
    std::array<std::array<uint64_t, kMostRankedWords>, kBlock> given, ordered;
  };
  static constexpr int kPositionBits = 5;

  void sort_short_rows(ThreadPool& pool, int64_t rows) const {
    const auto some = [&](int64_t first, int64_t end) {
      ShortRows b;
      for (int64_t r = first; r < end; r += kBlock) {
        const int64_t count = std::min(kBlock, end - r);
        for (int64_t q = 0; q < count; ++q)
          b.keys[static_cast<size_t>(q)] = from_[0].template row<U>(r + q);
        vector_code(OrderShortRows(), order_, count, size_, from_[0].stride, &b);
        move_block(r, count, 0, [&](int64_t q, int64_t i) {
          const uint64_t word = b.ordered[static_cast<size_t>(q)][static_cast<size_t>(i)];
          return static_cast<int64_t>(word & ((1 << kPositionBits) - 1));
        });
      }
    };
    in_parallel(pool, rows, some, rows * size_);
  }

  struct OrderShortRows {
    PRIMSET_INLINE void operator()(const KeyOrder<U, kKind> order, int64_t count, int64_t size,
                                   int64_t stride, ShortRows* b) const {
      for (int64_t i = 0; i < size; ++i)
        for (size_t q = 0; q < static_cast<size_t>(count); ++q)
          b->given[q][static_cast<size_t>(i)] = uint64_t{order.number(b->keys[q][i * stride])}
                                                    << kPositionBits |
                                                static_cast<uint64_t>(i);
      for (size_t q = 0; q < static_cast<size_t>(count); ++q)
        rank_words(b->given[q].data(), size, b->ordered[q].data());
    }
  };

  // --- rows side by side ---

  void find_ranges(Block& b) const {
    std::array<U, kBlock> first, before{};
    const int64_t stride = from_[0].stride;
    for (size_t q = 0; q < static_cast<size_t>(b.count); ++q)
      first[q] = order_.number(b.keys[q][0]);
    for (int64_t i = 0; i < size_; ++i)
      for (size_t q = 0; q < static_cast<size_t>(b.count); ++q) {
        const U key = b.keys[q][i * stride], n = order_.number(key);
        NumberRange& range = b.ranges[q];
        range.told &= order_.is_told(key), range.ascending &= before[q] <= n;
        range.add(n, first[q]), before[q] = n;
      }
  }

  template <typename Entry>
  void order_block(ThreadPool& pool, const Block& b, bool told) const {
    const auto range = [&](int64_t q) -> const NumberRange& {
      return b.ranges[static_cast<size_t>(q)];
    };
    std::deque<RowOrder<Entry>> orders;
    for (int64_t q = 0; q < b.count; ++q) orders.emplace_back(size_, range(q).bits(), 1);
    const auto order = [&](int64_t q) -> RowOrder<Entry>& {
      return orders[static_cast<size_t>(q)];
    };
    for (int64_t i = 0; i < size_; ++i)
      for (int64_t q = 0; q < b.count; ++q) order(q).set(i, range(q).packed(number_at(b, q, i)));
    for (int64_t q = 0; q < b.count; ++q) order(q).sort(pool);
    const auto position = [&](int64_t q, int64_t i) { return order(q).position(i); };
    if (!told) return move_block(b.first, b.count, 0, position);
    for (int64_t i = 0; i < size_; ++i)
      for (int64_t q = 0; q < b.count; ++q)
        to_[0].template row<U>(b.first + q)[i * to_[0].stride] =
            order_.bits(static_cast<U>(range(q).unpacked(order(q).number(i))));
    move_block(b.first, b.count, 1, position);
  }

  U number_at(const Block& b, int64_t q, int64_t i) const {
    return order_.number(b.keys[static_cast<size_t>(q)][i * from_[0].stride]);
  }

  void sort_row(ThreadPool& pool, int64_t r, int64_t parts) const {
    const KeyRow<U, kKind> row{order_, from_[0].template row<U>(r), from_[0].stride, size_};
    const NumberRange all = row.range(pool, parts);
    if (all.ascending) return move_operands(pool, r, parts, 0, SamePosition());
    with_entry(all.bits(), size_, asks_positions(all.told),
               [&]<typename Entry>() { order_row<Entry>(pool, row, r, parts, all); });
  }

  // What moves with the keys, and keys that are not told from their numbers, are found by them.
  bool asks_positions(bool told) const { return !told || from_.size() > 1; }

  template <typename Entry>
  void order_row(ThreadPool& pool, const KeyRow<U, kKind>& row, int64_t r, int64_t parts,
                 const NumberRange& all) const {
    RowOrder<Entry> order(size_, all.bits(), parts);
    over_row(pool, size_, parts, [&](int64_t, int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) order.set(i, all.packed(row.number(i)));
    });
    order.sort(pool);
    const OrderedPosition<Entry> position{order};
    if (!all.told) return move_operands(pool, r, parts, 0, position);
    U* const to = to_[0].template row<U>(r);
    over_row(pool, size_, parts, [&](int64_t, int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i)
        to[i * to_[0].stride] = order_.bits(static_cast<U>(all.unpacked(order.number(i))));
    });
    move_operands(pool, r, parts, 1, position);
  }

  const KeyOrder<U, kKind> order_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_SORT_H_
