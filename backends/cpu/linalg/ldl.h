// The primitives ldl_factor and ldl_solve.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_LDL_H_
#define PRIMSET_BACKENDS_CPU_LINALG_LDL_H_

#include <numeric>
#include <vector>

#include "backends/cpu/linalg/lapack_api.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

template <typename T>
class LdlFactorCall {
 public:
  explicit LdlFactorCall(const primset_primitive_call& call)
      : a_(call.operands[0]),
        factors_(data_at<T>(call.results[0])),
        pivots_(data_at<int32_t>(call.results[1])),
        info_(data_at<int32_t>(call.results[2])),
        factor_routine_(flag(call, "hermitian") ? lapack<T>().hetrf : lapack<T>().sytrf) {}

  void run(ThreadPool& pool) {
    const int n = as_int(a_.rows), query = -1;
    T size{}, unused{};
    int32_t pivot = 0, info = 0;
    factor_routine_("L", &n, &unused, &n, &pivot, &size, &query, &info);
    const int64_t room = size_from(size);
    in_parallel(pool, a_.count(), [&](int64_t first, int64_t end) {
      const OwnedMatrix<T> own(n, n);
      std::vector<T> work(static_cast<size_t>(room));
      const int lwork = as_int(room);
      for (int64_t b = first; b < end; ++b) {
        copy_from<T>(a_, b, own);
        for (int64_t j = 0; j < n; ++j) std::fill_n(own.column(j), j, T{});
        int32_t* const pivots = pivots_ + b * n;
        if (contents_of(own.data, n * n) == Contents::finite) {
          factor_routine_("L", &n, own.data, &n, pivots, work.data(), &lwork, info_ + b);
        } else {  // no element is the greatest
          for (int64_t j = 0; j < n; ++j) std::fill_n(own.column(j) + j, n - j, not_a_number<T>());
          std::iota(pivots, pivots + n, 1);
          info_[b] = 0;
        }
        copy_by_rows<T>(own, factors_ + b * n * n);
      }
    });
  }

 private:
  const StridedMatrices<T> a_;
  T* const factors_;
  int32_t *const pivots_, *const info_;
  Lapack<T>::Sytrf* const factor_routine_;
};

template <typename T>
class LdlSolveCall {
 public:
  explicit LdlSolveCall(const primset_primitive_call& call)
      : factors_(call.operands[0]),
        pivots_(call.operands[1]),
        b_(call.operands[2]),
        x_(data_at<T>(call.results[0])),
        solve_routine_(flag(call, "hermitian") ? lapack<T>().hetrs : lapack<T>().sytrs) {}

  void run(ThreadPool& pool) {
    in_parallel(pool, factors_.count(), [&](int64_t first, int64_t end) {
      const OwnedMatrix<T> own(factors_.rows, factors_.rows), x(b_.rows, b_.columns);
      for (int64_t b = first; b < end; ++b) {
        copy_from<T>(factors_, b, own);
        copy_from<T>(b_, b, x);
        const std::vector<int32_t> pivots = possible(pivots_.vector(b));
        const int n = as_int(x.rows), columns = as_int(x.columns);
        int info = 0;
        solve_routine_("L", &n, &columns, own.data, &n, pivots.data(), x.data, &n, &info);
        copy_by_rows<T>(x, x_ + b * b_.rows * b_.columns);
      }
    });
  }

 private:
  // LAPACK does not look at pivots, and would leave its memory: each names a row of its own or one
  // below, and a negative one, of a block of size 2, has a row behind it.
  static std::vector<int32_t> possible(std::vector<int32_t> pivots) {
    const auto n = static_cast<int32_t>(pivots.size());
    for (int32_t i = 0; i < n; ++i) {
      int32_t& p = pivots[static_cast<size_t>(i)];
      const int32_t row = std::clamp(p < 0 ? (p < -n ? n : -p) : p, i + 1, n);
      if (p >= 0 || i + 1 == n) {
        p = row;
        continue;
      }
      p = -std::max(row, i + 2);
      pivots[static_cast<size_t>(++i)] = p;
    }
    return pivots;
  }

  const StridedMatrices<T> factors_;
  const StridedVectors<int32_t> pivots_;
  const StridedMatrices<T> b_;
  T* const x_;
  Lapack<T>::Sytrs* const solve_routine_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_LDL_H_
