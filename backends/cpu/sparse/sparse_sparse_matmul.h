// The primitive sparse_sparse_matmul, row by row (Gustavson, Two fast algorithms for sparse
// matrices, 1978): a row of the first matrix says which rows of the second are added up.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_SPARSE_MATMUL_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_SPARSE_MATMUL_H_

#include <cstring>
#include <mutex>

#include "backends/cpu/sparse/row_sums.h"

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

  // Shares of rows are computed side by side. Each is written where there is room for as many
  // entries as it can have, and moved behind the one before it in the end.
  void run(ThreadPool& pool) {
    if (columns_ <= 0 || b_.rows() == 0)
      return void(std::fill(pointers_, pointers_ + a_.rows() + 1, 0));
    find_room(pool);
    if (columns_ * static_cast<int64_t>(sizeof(T)) <= kDenseBytes)
      multiply_all<DenseRowSums<T>>(pool, columns_);
    else
      multiply_all<HashedRowSums<T>>(pool, most_);
    close_gaps();
  }

 private:
  // A row of sums for each thread: no more than stays in a cache.
  static constexpr int64_t kDenseBytes = 4 << 20;

  // work_: how many products come before each row; room_: where its entries can be written at last.
  void find_room(ThreadPool& pool) {
    const auto rows = static_cast<size_t>(a_.rows());
    work_.resize(rows + 1), room_.resize(rows + 1);
    in_parallel(pool, a_.rows(), [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; ++r) {
        int64_t products = 0;
        for (int64_t e = a_.begin(r); e < a_.end(r); ++e) {
          const int64_t k = bounded(a_.columns[e], b_.rows());
          products += b_.end(k) - b_.begin(k);
        }
        work_[static_cast<size_t>(r) + 1] = products;
      }
    });
    for (size_t r = 0; r < rows; ++r) {
      const int64_t most = std::min(work_[r + 1], columns_);
      most_ = std::max(most_, most);
      room_[r + 1] = std::min(room_[r] + most, entries_);
      work_[r + 1] += work_[r];
    }
  }

  // What rows are added up in is allocated here, where a failure has a caller to go to, and for as
  // many threads as have work that is worth its size.
  template <typename Sums>
  void multiply_all(ThreadPool& pool, int64_t size) {
    const int64_t worth = std::max<int64_t>(work_.back() / (4 * std::max<int64_t>(size, 64)), 1);
    const int64_t shares = std::min<int64_t>({worth, a_.rows(), 64});
    cuts_ = row_shares(work_, std::max<int64_t>(shares, 1));
    std::vector<Sums> sums(static_cast<size_t>(std::min<int64_t>(shares, pool.size())), Sums(size));
    std::vector<Sums*> idle;
    for (Sums& s : sums) idle.push_back(&s);
    std::mutex taking;
    in_parallel(pool, shares, [&](int64_t first, int64_t end) {
      Sums* own = nullptr;
      {
        const std::lock_guard lock(taking);
        own = idle.back();
        idle.pop_back();
      }
      for (int64_t s = first; s < end; ++s) multiply(s, *own);
      const std::lock_guard lock(taking);
      idle.push_back(own);  // there was room for it
    });
  }

  // The rows of one share, without gaps between them. Their ends count from the share's start.
  template <typename Sums>
  void multiply(int64_t share, Sums& sums) {
    const auto begin = static_cast<size_t>(cuts_[static_cast<size_t>(share)]);
    const auto end = static_cast<size_t>(cuts_[static_cast<size_t>(share) + 1]);
    const int64_t last = room_[end];
    int64_t at = room_[begin];
    for (size_t row = begin; row < end; ++row) {
      if (work_[row + 1] > work_[row]) {
        add_up(row, sums);
        sums.take([&](int64_t column, T sum) {
          if (at == last) return;
          values_[at] = sum, places_[at++] = column;
        });
      }
      pointers_[row + 1] = at - room_[begin];
    }
  }

  template <typename Sums>
  void add_up(size_t row, Sums& sums) {
    const auto r = static_cast<int64_t>(row);
    sums.begin(std::min(work_[row + 1] - work_[row], columns_));
    for (int64_t e = a_.begin(r); e < a_.end(r); ++e) {
      const int64_t k = bounded(a_.columns[e], b_.rows());
      const T value = a_.values[e];
      for (int64_t i = b_.begin(k); i < b_.end(k); ++i)
        sums.add(bounded(b_.columns[i], columns_), value, b_.values[i]);
    }
  }

  void close_gaps() {
    int64_t at = pointers_[0] = 0;
    for (size_t s = 0; s + 1 < cuts_.size(); ++s) {
      const auto begin = static_cast<size_t>(cuts_[s]), end = static_cast<size_t>(cuts_[s + 1]);
      if (begin == end) continue;
      const int64_t from = room_[begin], count = pointers_[end];
      for (size_t row = begin; row < end; ++row) pointers_[row + 1] += at;
      if (at != from) {
        std::memmove(values_ + at, values_ + from, static_cast<size_t>(count) * sizeof(T));
        std::memmove(places_ + at, places_ + from, static_cast<size_t>(count) * sizeof(int64_t));
      }
      at += count;
    }
  }

  const SparseRows<T, Index> a_, b_;
  const int64_t columns_, entries_;
  T* const values_;
  int64_t* const pointers_;
  int64_t* const places_;
  std::vector<int64_t> work_, room_, cuts_;
  int64_t most_ = 0;  // entries of a row
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_SPARSE_MATMUL_H_
