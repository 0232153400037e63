// The primitive cholesky. A row-major lower factor L is, read column-major, the upper U = L^T with
// U^H U = conj(A), which LAPACK computes in place of conj(A), that is of the lower triangle of A
// read alike.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_CHOLESKY_H_
#define PRIMSET_BACKENDS_CPU_LINALG_CHOLESKY_H_

#include <memory>

#include "backends/cpu/linalg/lu_factorization.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

// From left to right: the rows of U that a block of its diagonal begins, stripe by stripe, and what
// their product takes off the columns to their right. The number of the minor that fails, or 0.
template <typename T>
int factor_cholesky_by_panels(ThreadPool& pool, const ColumnMajor<T>& u) {
  const T one = one_of<T>(), minus = minus_one<T>();
  const int stride = static_cast<int>(u.stride);
  for (int64_t k = 0; k < u.columns; k += kPanel) {
    const int64_t width = std::min(kPanel, u.columns - k), behind = k + width;
    const int block = static_cast<int>(width);
    T* const diagonal = u.column(k) + k;
    int info = 0;
    blas<T>().potrf("U", &block, diagonal, &stride, &info);
    if (info > 0) return static_cast<int>(k) + info;
    const int64_t stripes = (u.columns - behind + kStripe - 1) / kStripe;
    const auto for_stripes = [&](const auto& f) {
      in_parallel(pool, stripes, [&](int64_t first, int64_t end) {
        for (int64_t s = first; s < end; ++s)
          f(behind + s * kStripe, std::min(behind + (s + 1) * kStripe, u.columns));
      });
    };
    for_stripes([&](int64_t from, int64_t to) {
      const int columns = static_cast<int>(to - from);
      blas<T>().trsm("L", "U", "C", "N", &block, &columns, &one, diagonal, &stride,
                     u.column(from) + k, &stride);
    });
    for_stripes([&](int64_t from, int64_t to) {
      const int rows = static_cast<int>(to - behind), columns = static_cast<int>(to - from);
      blas<T>().gemm("C", "N", &rows, &columns, &block, &minus, u.column(behind) + k, &stride,
                     u.column(from) + k, &stride, &one, u.column(from) + behind, &stride);
    });
  }
  return 0;
}

template <typename T>
class CholeskyCall {
 public:
  explicit CholeskyCall(const primset_primitive_call& call)
      : a_(call.operands[0]),
        factor_(data_at<T>(call.results[0])),
        info_(data_at<int32_t>(call.results[1])),
        upper_(flag(call, "upper")) {}

  void run(ThreadPool& pool) {
    const auto count = static_cast<int64_t>(a_.offsets.size());
    if (a_.rows >= kLargeOrder) {
      for (int64_t b = 0; b < count; ++b) {
        copy_in(b);
        finish(b, factor_cholesky_by_panels(pool, matrix(b)));
      }
      return;
    }
    in_parallel(pool, count, [&](int64_t first, int64_t end) {
      for (int64_t b = first; b < end; ++b) {
        copy_in(b);
        const ColumnMajor<T> u = matrix(b);
        const int n = static_cast<int>(u.columns);
        int info = 0;
        if (n > 0) blas<T>().potrf("U", &n, u.data, &n, &info);
        finish(b, info);
      }
    });
  }

 private:
  ColumnMajor<T> matrix(int64_t b) const {
    return {factor_ + b * a_.rows * a_.rows, a_.rows, a_.rows, a_.rows};
  }

  // The lower triangle of A, or the adjoint of the upper one, by rows.
  void copy_in(int64_t b) const {
    const T* from = a_.data + a_.offsets[static_cast<size_t>(b)];
    T* to = matrix(b).data;
    const int64_t n = a_.rows;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j)
        to[i * n + j] = upper_ ? conjugate(from[j * a_.row_stride + i * a_.column_stride])
                               : from[i * a_.row_stride + j * a_.column_stride];
    }
  }

  // A NaN on the diagonal is no success, though no comparison finds it. From the column that failed
  // on the factor is NaN; above the diagonal it is 0.
  void finish(int64_t b, int info) const {
    T* to = matrix(b).data;
    const int64_t n = a_.rows;
    for (int64_t i = 0; i < n && info == 0; ++i) {
      const auto size = pivot_size(to[i * n + i]);
      if (size != size) info = static_cast<int>(i + 1);
    }
    info_[b] = info;
    const int64_t known = info > 0 ? info - 1 : n;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = known; j <= i; ++j) to[i * n + j] = not_a_number<T>();
      for (int64_t j = i + 1; j < n; ++j) to[i * n + j] = T{};
    }
    if (upper_) take_adjoint(to);
  }

  void take_adjoint(T* to) const {
    const int64_t n = a_.rows;
    for (int64_t i = 0; i < n; ++i) {
      to[i * n + i] = conjugate(to[i * n + i]);
      for (int64_t j = i + 1; j < n; ++j) {
        to[i * n + j] = conjugate(to[j * n + i]);
        to[j * n + i] = T{};
      }
    }
  }

  const StridedMatrices<T> a_;
  T* const factor_;
  int32_t* const info_;
  const bool upper_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_CHOLESKY_H_
