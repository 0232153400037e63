// The primitive lu.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_LU_H_
#define PRIMSET_BACKENDS_CPU_LINALG_LU_H_

#include <memory>
#include <numeric>

#include "backends/cpu/linalg/lu_factorization.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

// Panels of columns, each factored by one thread. Then threads take the other columns: stripes to
// its left exchange their rows, those to its right are eliminated. The columns of the next panel
// come first, and who takes them factors them too, while the others are at the stripes
// (look-ahead).
template <typename T>
void factor_by_panels(ThreadPool& pool, const ColumnMajor<T>& a, int32_t* pivots, bool pivot) {
  const int64_t steps = std::min(a.rows, a.columns);
  const auto panel_at = [&](int64_t k) {
    return a.part(k, k, a.rows - k, std::min(kPanel, steps - k));
  };
  const auto stripes = [](int64_t columns) { return (columns + kStripe - 1) / kStripe; };
  factor_lu(panel_at(0), pivots, pivot);
  for (int64_t k = 0; k < steps; k += kPanel) {
    const ColumnMajor<T> panel = panel_at(k);
    const int64_t behind = k + panel.columns, next = std::min(kPanel, steps - behind),
                  rest = behind + next, right = stripes(a.columns - rest), left = stripes(k);
    const auto columns = [&](int64_t from, int64_t to) {
      return a.part(k, from, a.rows - k, to - from);
    };
    in_parallel(pool, 1 + right + left, [&](int64_t first, int64_t end) {
      for (int64_t task = first; task < end; ++task) {
        if (task == 0 && next > 0) {
          eliminate(panel, pivots + k, columns(behind, rest));
          factor_lu(panel_at(behind), pivots + behind, pivot);
        } else if (task > 0 && task <= right) {
          const int64_t from = rest + (task - 1) * kStripe;
          eliminate(panel, pivots + k, columns(from, std::min(from + kStripe, a.columns)));
        } else if (task > right) {
          const int64_t from = (task - 1 - right) * kStripe;
          exchange_rows(columns(from, std::min(from + kStripe, k)), pivots + k, panel.columns);
        }
      }
    });
    for (int64_t i = k; i < behind; ++i) pivots[i] += static_cast<int32_t>(k);
  }
}

template <typename T>
class LuCall {
 public:
  explicit LuCall(const primset_primitive_call& call)
      : a_(call.operands[0]),
        factors_(data_at<T>(call.results[0])),
        pivots_(data_at<int32_t>(call.results[1])),
        permutation_(data_at<int32_t>(call.results[2])),
        info_(data_at<int32_t>(call.results[3])),
        pivot_(flag(call, "pivot")) {}

  void run(ThreadPool& pool) {
    const auto count = static_cast<int64_t>(a_.offsets.size());
    if (std::min(a_.rows, a_.columns) >= kLargeOrder) {
      for (int64_t b = 0; b < count; ++b) factor_large(pool, b);
      return;
    }
    in_parallel(pool, count, [&](int64_t first, int64_t end) {
      const std::unique_ptr<T[]> scratch(new T[size()]);
      for (int64_t b = first; b < end; ++b) {
        const ColumnMajor<T> x = matrix(scratch.get());
        copy_in(x, b, 0, a_.columns);
        factor_lu(x, pivots(b), pivot_);
        copy_out(x, b, 0, a_.columns);
        finish(x, b);
      }
    });
  }

 private:
  size_t size() const { return static_cast<size_t>(a_.rows * a_.columns); }
  ColumnMajor<T> matrix(T* data) const { return {data, a_.rows, a_.columns, a_.rows}; }
  int32_t* pivots(int64_t b) const { return pivots_ + b * std::min(a_.rows, a_.columns); }

  void copy_in(const ColumnMajor<T>& x, int64_t b, int64_t first, int64_t end) const {
    const T* from = a_.data + a_.offsets[static_cast<size_t>(b)];
    copy_columns(
        a_.rows, first, end,
        [&](int64_t i, int64_t j) { return from[i * a_.row_stride + j * a_.column_stride]; },
        [&](int64_t i, int64_t j) -> T& { return x.data[i + j * x.stride]; });
  }
  void copy_out(const ColumnMajor<T>& x, int64_t b, int64_t first, int64_t end) const {
    T* to = factors_ + b * a_.rows * a_.columns;
    copy_columns(
        a_.rows, first, end, [&](int64_t i, int64_t j) { return x.data[i + j * x.stride]; },
        [&](int64_t i, int64_t j) -> T& { return to[i * a_.columns + j]; });
  }

  void factor_large(ThreadPool& pool, int64_t b) {
    const std::unique_ptr<T[]> scratch(new T[size()]);
    const ColumnMajor<T> x = matrix(scratch.get());
    const int64_t stripes = (a_.columns + kStripe - 1) / kStripe;
    const auto by_stripes = [&](const auto& copy) {
      in_parallel(pool, stripes, [&](int64_t first, int64_t end) {
        copy(first * kStripe, std::min(end * kStripe, a_.columns));
      });
    };
    by_stripes([&](int64_t first, int64_t end) { copy_in(x, b, first, end); });
    factor_by_panels(pool, x, pivots(b), pivot_);
    by_stripes([&](int64_t first, int64_t end) { copy_out(x, b, first, end); });
    finish(x, b);
  }

  // The permutation, the first zero of the diagonal, and pivots that count from 1.
  void finish(const ColumnMajor<T>& x, int64_t b) {
    const int64_t steps = std::min(a_.rows, a_.columns);
    int32_t* order = permutation_ + b * a_.rows;
    std::iota(order, order + a_.rows, 0);
    info_[b] = 0;
    for (int64_t i = 0; i < steps; ++i) {
      std::swap(order[i], order[pivots(b)[i]++]);
      if (info_[b] == 0 && pivot_size(x.column(i)[i]) == 0) info_[b] = static_cast<int32_t>(i + 1);
    }
  }

  const StridedMatrices<T> a_;
  T* const factors_;
  int32_t *const pivots_, *const permutation_, *const info_;
  const bool pivot_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_LU_H_
