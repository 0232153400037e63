// The primitive triangular_solve. Row-major X is, read column-major, X^T, and A X = B is
// X^T A^T = B^T: b is copied to the result and solved there.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_TRIANGULAR_SOLVE_H_
#define PRIMSET_BACKENDS_CPU_LINALG_TRIANGULAR_SOLVE_H_

#include <memory>

#include "backends/cpu/linalg/lu_factorization.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

template <typename T>
class TriangularSolveCall {
 public:
  explicit TriangularSolveCall(const primset_primitive_call& call)
      : a_(call.operands[0]),
        b_(call.operands[1]),
        x_(data_at<T>(call.results[0])),
        upper_(flag(call, "upper")),
        unit_(flag(call, "unit_diagonal")) {}

  // Right-hand sides are independent of one another: stripes of them are solved by any thread.
  void run(ThreadPool& pool) {
    const auto count = static_cast<int64_t>(a_.offsets.size());
    const int64_t stripes = (b_.columns + kStripe - 1) / kStripe;
    if (count * stripes * a_.rows == 0) return;
    in_parallel(pool, count * stripes, [&](int64_t first, int64_t end) {
      std::unique_ptr<T[]> scratch;
      for (int64_t part = first; part < end; ++part) {
        const int64_t from = part % stripes * kStripe;
        solve(part / stripes, from, std::min(from + kStripe, b_.columns), scratch);
      }
    });
  }

 private:
  struct Triangle {
    const T* data;
    int64_t stride;
    bool by_rows;
  };

  // As BLAS takes it: one stride is 1. Else a copy, by rows.
  Triangle triangle(int64_t b, std::unique_ptr<T[]>& scratch) const {
    const T* from = a_.data + a_.offsets[static_cast<size_t>(b)];
    const int64_t n = a_.rows;
    if (a_.column_stride == 1 && a_.row_stride >= n) return {from, a_.row_stride, true};
    if (a_.row_stride == 1 && a_.column_stride >= n) return {from, a_.column_stride, false};
    if (!scratch) scratch.reset(new T[static_cast<size_t>(n * n)]);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        scratch[static_cast<size_t>(i * n + j)] = from[i * a_.row_stride + j * a_.column_stride];
    return {scratch.get(), n, true};
  }

  void solve(int64_t b, int64_t first, int64_t end, std::unique_ptr<T[]>& scratch) const {
    const T one = one_of<T>(), *from = b_.data + b_.offsets[static_cast<size_t>(b)];
    T* const to = x_ + b * b_.rows * b_.columns;
    for (int64_t i = 0; i < b_.rows; ++i)
      for (int64_t j = first; j < end; ++j)
        to[i * b_.columns + j] = from[i * b_.row_stride + j * b_.column_stride];
    const Triangle t = triangle(b, scratch);
    const int rows = static_cast<int>(end - first), n = static_cast<int>(a_.rows),
              lda = static_cast<int>(t.stride), ldx = static_cast<int>(b_.columns);
    // What lies by rows is A^T, read by columns.
    const bool upper = t.by_rows ? !upper_ : upper_;
    blas<T>().trsm("R", upper ? "U" : "L", t.by_rows ? "N" : "T", unit_ ? "U" : "N", &rows, &n,
                   &one, t.data, &lda, to + first, &ldx);
  }

  const StridedMatrices<T> a_, b_;
  T* const x_;
  const bool upper_, unit_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_TRIANGULAR_SOLVE_H_
