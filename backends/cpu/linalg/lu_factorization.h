// LU factorization with partial pivoting of column-major matrices.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_LU_FACTORIZATION_H_
#define PRIMSET_BACKENDS_CPU_LINALG_LU_FACTORIZATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "backends/cpu/linalg/blas_api.h"
#include "backends/cpu/linalg/column_major.h"

namespace primset_cpu {

inline float pivot_size(float x) {
  return std::fabs(x);
}
inline double pivot_size(double x) {
  return std::fabs(x);
}
template <typename Real>
Real pivot_size(Complex<Real> x) {  // as LAPACK compares them
  return std::fabs(x.re) + std::fabs(x.im);
}

template <typename T>
T negative_product(T sum, T a, T b) {
  return sum - a * b;
}
template <typename Real>
Complex<Real> negative_product(Complex<Real> sum, Complex<Real> a, Complex<Real> b) {
  return {sum.re - (a.re * b.re - a.im * b.im), sum.im - (a.re * b.im + a.im * b.re)};
}

template <typename T>
T quotient(T a, T b) {
  return a / b;
}
// Smith's method: no overflow where the quotient has none.
template <typename Real>
Complex<Real> quotient(Complex<Real> a, Complex<Real> b) {
  if (std::fabs(b.re) >= std::fabs(b.im)) {
    const Real r = b.im / b.re, d = b.re + b.im * r;
    return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const Real r = b.re / b.im, d = b.im + b.re * r;
  return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

// Rows i and pivots[i] of a in place of one another, for i from 0 on.
template <typename T>
void exchange_rows(const ColumnMajor<T>& a, const int32_t* pivots, int64_t count) {
  for (int64_t j = 0; j < a.columns; ++j) {
    T* column = a.column(j);
    for (int64_t i = 0; i < count; ++i) std::swap(column[i], column[pivots[i]]);
  }
}

// The first of the greatest; NaN, which no comparison finds, where it is the first.
template <typename T>
int32_t greatest_row(const T* column, int64_t first, int64_t end) {
  int64_t at = first;
  auto most = pivot_size(column[first]);
  for (int64_t i = first + 1; i < end; ++i) {
    const auto size = pivot_size(column[i]);
    if (size > most) most = size, at = i;
  }
  return static_cast<int32_t>(at);
}

// A few columns one after the other: exchange, divide, subtract multiples from those to the right.
template <typename T>
void factor_narrow(const ColumnMajor<T>& a, int32_t* pivots, bool pivot) {
  const int64_t steps = std::min(a.rows, a.columns);
  for (int64_t k = 0; k < steps; ++k) {
    T* own = a.column(k);
    pivots[k] = pivot ? greatest_row(own, k, a.rows) : static_cast<int32_t>(k);
    if (pivots[k] != k) {
      for (int64_t j = 0; j < a.columns; ++j) std::swap(a.column(j)[k], a.column(j)[pivots[k]]);
    }
    const T divisor = own[k];
    if (pivot_size(divisor) != 0) {
      for (int64_t i = k + 1; i < a.rows; ++i) own[i] = quotient(own[i], divisor);
    }
    for (int64_t j = k + 1; j < a.columns; ++j) {
      T* column = a.column(j);
      const T factor = column[k];
      for (int64_t i = k + 1; i < a.rows; ++i)
        column[i] = negative_product(column[i], own[i], factor);
    }
  }
}

// c -= a * b.
template <typename T>
void subtract_product(const ColumnMajor<T>& a, const ColumnMajor<T>& b, const ColumnMajor<T>& c) {
  const T one = one_of<T>(), minus = minus_one<T>();
  const int rows = static_cast<int>(c.rows), columns = static_cast<int>(c.columns);
  const int steps = static_cast<int>(a.columns), lda = static_cast<int>(a.stride);
  const int ldb = static_cast<int>(b.stride), ldc = static_cast<int>(c.stride);
  blas<T>().gemm("N", "N", &rows, &columns, &steps, &minus, a.data, &lda, b.data, &ldb, &one,
                 c.data, &ldc);
}

// b becomes the X of L X = b; L is what is below the diagonal of `a`, with ones on it. By halves,
// of which all but narrow ones are products: OpenBLAS's own solver takes twice as long.
template <typename T>
void solve_unit_lower(const ColumnMajor<T>& a, const ColumnMajor<T>& b) {
  constexpr int64_t kNarrow = 16;
  const int64_t steps = b.rows;
  if (steps > kNarrow) {
    const int64_t half = (steps / 2 + kNarrow - 1) / kNarrow * kNarrow;
    const ColumnMajor<T> above = b.part(0, 0, half, b.columns);
    const ColumnMajor<T> below = b.part(half, 0, steps - half, b.columns);
    solve_unit_lower(a.part(0, 0, half, half), above);
    subtract_product(a.part(half, 0, steps - half, half), above, below);
    return solve_unit_lower(a.part(half, half, steps - half, steps - half), below);
  }
  for (int64_t j = 0; j < b.columns; ++j) {
    T* column = b.column(j);
    for (int64_t k = 0; k < steps; ++k) {
      const T *own = a.column(k), factor = column[k];
      for (int64_t i = k + 1; i < steps; ++i)
        column[i] = negative_product(column[i], own[i], factor);
    }
  }
}

// What factored columns `left`, of a diagonal from their first row on, leave of columns to their
// right: exchanged rows, rows of U, and the rest minus a product.
template <typename T>
void eliminate(const ColumnMajor<T>& left, const int32_t* pivots, const ColumnMajor<T>& right) {
  const int64_t steps = std::min(left.rows, left.columns), below = left.rows - steps;
  exchange_rows(right, pivots, steps);
  const ColumnMajor<T> upper = right.part(0, 0, steps, right.columns);
  solve_unit_lower(left.part(0, 0, steps, steps), upper);
  if (below == 0) return;
  subtract_product(left.part(steps, 0, below, steps), upper,
                   right.part(steps, 0, below, right.columns));
}

// By halves (Toledo, "Locality of reference in LU decomposition with partial pivoting", 1997), so
// that most work is products. pivots[i] is the row that row i was exchanged with.
template <typename T>
void factor_lu(const ColumnMajor<T>& a, int32_t* pivots, bool pivot) {
  constexpr int64_t kNarrow = 16;
  const int64_t steps = std::min(a.rows, a.columns);
  if (steps == 0) return;
  if (a.columns <= kNarrow) return factor_narrow(a, pivots, pivot);
  const int64_t half = std::min(steps, (a.columns + 1) / 2);
  const ColumnMajor<T> left = a.part(0, 0, a.rows, half);
  const ColumnMajor<T> right = a.part(0, half, a.rows, a.columns - half);
  factor_lu(left, pivots, pivot);
  eliminate(left, pivots, right);
  if (half == steps) return;
  factor_lu(right.part(half, 0, a.rows - half, right.columns), pivots + half, pivot);
  exchange_rows(left.part(half, 0, a.rows - half, half), pivots + half, steps - half);
  for (int64_t i = half; i < steps; ++i) pivots[i] += static_cast<int32_t>(half);
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_LU_FACTORIZATION_H_
