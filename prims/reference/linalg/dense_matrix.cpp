#include "prims/reference/linalg/dense_matrix.h"

#include <algorithm>
#include <cmath>

#include "prims/reference/float_format.h"

namespace primset::prims::reference {

DenseMatrix DenseMatrix::identity(int64_t n) {
  DenseMatrix m(n, n);
  for (int64_t i = 0; i < n; ++i) m(i, i) = 1;
  return m;
}

bool DenseMatrix::is_finite() const {
  return std::ranges::all_of(
      data, [](const Number& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); });
}

long double DenseMatrix::norm() const {
  long double sum = 0;
  for (const Number& z : data) sum += std::norm(z);
  return std::sqrt(sum);
}

void DenseMatrix::combine_columns(int64_t p, int64_t q, Number a, Number b, Number c, Number d) {
  DenseMatrix& m = *this;
  for (int64_t i = 0; i < rows; ++i) {
    const Number x = m(i, p), y = m(i, q);
    m(i, p) = x * a + y * c;
    m(i, q) = x * b + y * d;
  }
}

DenseMatrix adjoint(const DenseMatrix& a) {
  DenseMatrix t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) t(j, i) = std::conj(a(i, j));
  }
  return t;
}

int64_t batch_count(const Array& a) {
  return element_count(Ints(a.shape.begin(), a.shape.end() - 2));
}

DenseMatrix matrix_of(const Array& a, int64_t batch) {
  DenseMatrix m(a.shape[a.shape.size() - 2], a.shape.back());
  const auto first = static_cast<size_t>(batch) * m.data.size();
  for (size_t i = 0; i < m.data.size(); ++i) {
    m.data[i] = {a.data[first + i].re, a.data[first + i].im};
  }
  return m;
}

std::vector<Number> vector_of(const Array& a, int64_t batch) {
  std::vector<Number> v(static_cast<size_t>(a.shape.back()));
  const auto first = static_cast<size_t>(batch) * v.size();
  for (size_t i = 0; i < v.size(); ++i) v[i] = {a.data[first + i].re, a.data[first + i].im};
  return v;
}

void store(Array& to, int64_t batch, const std::vector<Number>& v, long double error) {
  const auto first = static_cast<size_t>(batch) * v.size();
  for (size_t i = 0; i < v.size(); ++i) {
    Element& e = to.data[first + i];
    e.re = round_to(v[i].real(), real_type(to.dtype));
    e.im = is_complex(to.dtype) ? round_to(v[i].imag(), real_type(to.dtype)) : 0;
    e.error = error + ulp(e.re, to.dtype) + (is_complex(to.dtype) ? ulp(e.im, to.dtype) : 0);
    if (!std::isfinite(e.re) || !std::isfinite(e.im)) e = undecided_element();
  }
}

void store(Array& to, int64_t batch, const DenseMatrix& m, long double error) {
  store(to, batch, m.data, error);
}

long double rounding_bound(const NodeRun& run, int64_t n, long double size) {
  const DType t = run.x(0).dtype;
  return tolerance(run.node.prim, t).number * static_cast<long double>(n + 1) * unit_roundoff(t) *
         size;
}

void mark_undecided(Array& a) {
  for (Element& e : a.data) e.undecided = true;
}

DenseMatrix first_columns(const DenseMatrix& m, int64_t count) {
  DenseMatrix out(m.rows, count);
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < count; ++j) out(i, j) = m(i, j);
  }
  return out;
}

}  // namespace primset::prims::reference
