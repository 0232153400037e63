// The primitive sparse_sparse_matmul: row by row into a dense row, from which the entries are taken
// in order (Gustavson, Two fast algorithms for sparse matrices, 1978). A bit for each column tells
// where products are, whatever they add up to.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_MATMUL_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_MATMUL_H_

#include <bit>
#include <cstring>

#include "backends/cpu/sampled_matmul.h"

namespace primset_cpu {

template <typename T, typename Index>
class SparseSparseMatmulCall {
 public:
  explicit SparseSparseMatmulCall(const primset_primitive_call& call)
      : a_(sparse_rows<T, Index>(call, 0)),
        b_(sparse_rows<T, Index>(call, 3)),
        columns_(integer(call, "size")),
        entries_(integer(call, "entries")),
        values_(data_at<T>(call.results[0])),
        pointers_(data_at<int64_t>(call.results[1])),
        places_(data_at<int64_t>(call.results[2])) {}

  // Each row is written where there is room for as many entries as it can have, and moved to the
  // one before it in the end.
  void run(ThreadPool& pool) {
    if (columns_ <= 0) return void(std::fill(pointers_, pointers_ + a_.rows() + 1, 0));
    find_room(pool);
    const int64_t most = std::max<int64_t>(work_.back() / std::max<int64_t>(4 * columns_, 1), 1);
    const int64_t shares = std::min<int64_t>({most, a_.rows(), 64});
    if (shares > 0) {
      const std::vector<int64_t> cuts = row_shares(work_, shares);
      in_parallel(pool, shares, [&](int64_t first, int64_t end) {
        DenseRow row(columns_);
        for (int64_t r = cuts[static_cast<size_t>(first)]; r < cuts[static_cast<size_t>(end)]; ++r)
          multiply(r, row);
      });
    }
    close_gaps();
  }

 private:
  struct DenseRow {
    explicit DenseRow(int64_t size)
        : sums(static_cast<size_t>(size)), used(static_cast<size_t>(size + 63) / 64) {}
    std::vector<T> sums;
    std::vector<uint64_t> used;
  };

  // work_: how many products come before each row; room_: where its entries are written.
  void find_room(ThreadPool& pool) {
    const auto rows = static_cast<size_t>(a_.rows());
    work_.resize(rows + 1), room_.resize(rows + 1), count_.resize(rows);
    in_parallel(pool, a_.rows(), [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; ++r) {
        int64_t products = 0;
        for (int64_t e = a_.begin(r); e < a_.end(r) && b_.rows() > 0; ++e) {
          const int64_t k = bounded(a_.columns[e], b_.rows());
          products += b_.end(k) - b_.begin(k);
        }
        work_[static_cast<size_t>(r) + 1] = products;
      }
    });
    for (size_t r = 0; r < rows; ++r) {
      room_[r + 1] = std::min(room_[r] + std::min(work_[r + 1], columns_), entries_);
      work_[r + 1] += work_[r];
    }
  }

  void multiply(int64_t row, DenseRow& dense) {
    for (int64_t e = a_.begin(row); e < a_.end(row) && b_.rows() > 0; ++e) {
      const int64_t k = bounded(a_.columns[e], b_.rows());
      const T value = a_.values[e];
      for (int64_t i = b_.begin(k); i < b_.end(k); ++i) {
        const auto c = static_cast<size_t>(bounded(b_.columns[i], columns_));
        add_product(dense.sums[c], value, b_.values[i]);
        dense.used[c / 64] |= uint64_t{1} << (c % 64);
      }
    }
    const auto r = static_cast<size_t>(row);
    int64_t at = room_[r];
    for (size_t word = 0; word < dense.used.size() && at < room_[r + 1]; ++word) {
      uint64_t& bits = dense.used[word];
      for (; bits; bits &= bits - 1) {
        const size_t c = word * 64 + static_cast<size_t>(std::countr_zero(bits));
        if (at == room_[r + 1]) break;
        values_[at] = dense.sums[c], places_[at++] = static_cast<int64_t>(c);
        dense.sums[c] = T{};
      }
    }
    count_[r] = at - room_[r];
  }

  void close_gaps() {
    int64_t at = 0;
    pointers_[0] = 0;
    for (size_t r = 0; r < count_.size(); ++r) {
      const auto count = static_cast<size_t>(count_[r]);
      if (at != room_[r] && count > 0) {
        std::memmove(values_ + at, values_ + room_[r], count * sizeof(T));
        std::memmove(places_ + at, places_ + room_[r], count * sizeof(int64_t));
      }
      pointers_[r + 1] = at += count_[r];
    }
  }

  const SparseRows<T, Index> a_, b_;
  const int64_t columns_, entries_;
  T* const values_;
  int64_t* const pointers_;
  int64_t* const places_;
  std::vector<int64_t> work_, room_, count_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_MATMUL_H_
