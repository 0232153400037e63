// One matrix of a batch in complex long double, for the plain algorithms beside.
#ifndef PRIMSET_PRIMS_REFERENCE_LINALG_DENSE_MATRIX_H_
#define PRIMSET_PRIMS_REFERENCE_LINALG_DENSE_MATRIX_H_

#include <complex>
#include <vector>

#include "prims/reference/operation.h"

namespace primset::prims::reference {

using Number = std::complex<long double>;

struct DenseMatrix {
  int64_t rows = 0, columns = 0;
  std::vector<Number> data;

  DenseMatrix(int64_t r, int64_t c) : rows(r), columns(c), data(static_cast<size_t>(r * c)) {}
  static DenseMatrix identity(int64_t n);
  Number& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * columns + j)]; }
  const Number& operator()(int64_t i, int64_t j) const {
    return data[static_cast<size_t>(i * columns + j)];
  }
  bool is_finite() const;
  long double norm() const;  // Frobenius'
  // Columns p and q times the 2 x 2 matrix {{a, b}, {c, d}}, from the right.
  void combine_columns(int64_t p, int64_t q, Number a, Number b, Number c, Number d);
};

DenseMatrix adjoint(const DenseMatrix& a);

// Matrix `batch` of an array [..., rows, columns], and back, with one error bound for all.
int64_t batch_count(const Array& a);
DenseMatrix matrix_of(const Array& a, int64_t batch);
void store(Array& to, int64_t batch, const DenseMatrix& m, long double error);
// The same of an array [..., length].
std::vector<Number> vector_of(const Array& a, int64_t batch);
void store(Array& to, int64_t batch, const std::vector<Number>& v, long double error);

// What rounding may move by in results as great as `size`: a multiple of n roundings.
long double rounding_bound(const NodeRun& run, int64_t n, long double size);

// Values that are right in more than one way, or whose bound is not known.
void mark_undecided(Array& a);

// Cuts columns to what the array takes.
DenseMatrix first_columns(const DenseMatrix& m, int64_t count);

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_LINALG_DENSE_MATRIX_H_
