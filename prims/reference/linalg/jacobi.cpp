// Singular values and Hermitian eigenvalues by Jacobi's method, pair after pair.
#include <algorithm>
#include <cmath>
#include <utility>

#include "prims/reference/linalg/householder.h"

namespace primset::prims::reference {
namespace {

constexpr int kMostSweeps = 60;

// Makes two columns orthogonal whose own products are a and b and whose product is x* y = g.
struct Rotation {
  long double cosine;
  Number sine;
};
Rotation rotation(long double a, long double b, Number g) {
  const long double size = std::abs(g), z = (b - a) / (2 * size);
  const long double tangent = (z < 0 ? -1 : 1) / (std::fabs(z) + std::hypot(1.0L, z));
  const long double cosine = 1 / std::hypot(1.0L, tangent);
  return {cosine, g / size * (tangent * cosine)};
}

void rotate_columns(DenseMatrix& m, int64_t p, int64_t q, const Rotation& r) {
  m.combine_columns(p, q, r.cosine, r.sine, -std::conj(r.sine), r.cosine);
}

Number product(const DenseMatrix& m, int64_t p, int64_t q) {
  Number sum = 0;
  for (int64_t i = 0; i < m.rows; ++i) sum += std::conj(m(i, p)) * m(i, q);
  return sum;
}

// Columns made orthogonal by rotations, which `turned` gets too.
void orthogonalize(DenseMatrix& a, DenseMatrix& turned) {
  const long double negligible = std::pow(a.norm() * 0x1p-70L, 2);
  bool any = true;
  for (int sweep = 0; any && sweep < kMostSweeps; ++sweep) {
    any = false;
    for (int64_t p = 0; p < a.columns; ++p) {
      for (int64_t q = p + 1; q < a.columns; ++q) {
        const Number g = product(a, p, q);
        const long double x = product(a, p, p).real(), y = product(a, q, q).real();
        const bool wanted =
            std::abs(g) > std::sqrt(x) * std::sqrt(y) * 0x1p-58L && std::min(x, y) > negligible;
        if (!wanted) continue;
        any = true;
        const Rotation r = rotation(x, y, g);
        rotate_columns(a, p, q, r);
        rotate_columns(turned, p, q, r);
      }
    }
  }
}

struct Spectrum {
  std::vector<Number> values;
  DenseMatrix vectors;
};

// Ascending, or descending.
Spectrum in_order(const std::vector<Number>& values, const DenseMatrix& vectors, bool descending) {
  std::vector<std::pair<long double, int64_t>> keys;
  for (const Number& v : values)
    keys.emplace_back(descending ? -v.real() : v.real(), static_cast<int64_t>(keys.size()));
  std::ranges::sort(keys);
  Spectrum s{{}, DenseMatrix(vectors.rows, vectors.columns)};
  for (int64_t k = 0; k < static_cast<int64_t>(keys.size()); ++k) {
    const int64_t from = keys[static_cast<size_t>(k)].second;
    s.values.push_back(values[static_cast<size_t>(from)]);
    for (int64_t i = 0; i < vectors.rows; ++i) s.vectors(i, k) = vectors(i, from);
  }
  return s;
}

void symmetrize(DenseMatrix& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    a(i, i) = a(i, i).real();
    for (int64_t j = i + 1; j < a.columns; ++j) a(i, j) = std::conj(a(j, i));
  }
}

// Of a Hermitian matrix.
Spectrum eigen(DenseMatrix a) {
  DenseMatrix v = DenseMatrix::identity(a.rows);
  const long double negligible = a.norm() * 0x1p-66L / static_cast<long double>(a.rows);
  bool any = true;
  for (int sweep = 0; any && sweep < kMostSweeps; ++sweep) {
    any = false;
    for (int64_t p = 0; p < a.rows; ++p) {
      for (int64_t q = p + 1; q < a.rows; ++q) {
        if (!(std::abs(a(p, q)) > negligible)) continue;
        any = true;
        const Rotation r = rotation(a(p, p).real(), a(q, q).real(), a(p, q));
        rotate_columns(a, p, q, r);
        a = adjoint(a);
        rotate_columns(a, p, q, r);
        a(p, q) = a(q, p) = 0;
        rotate_columns(v, p, q, r);
      }
    }
  }
  std::vector<Number> values;
  for (int64_t i = 0; i < a.rows; ++i) values.push_back(a(i, i));
  return in_order(values, v, false);
}

std::vector<Array> eigh(NodeRun& run) {
  Array values = run.result(0), vectors = run.result(1), info = run.result(2);
  for (int64_t b = 0; b < batch_count(run.x(0)); ++b) {
    DenseMatrix a = matrix_of(run.x(0), b);
    symmetrize(a);
    const int64_t n = a.rows;
    if (!a.is_finite()) {
      store(values, b, std::vector<Number>(static_cast<size_t>(n), NAN), 0);
      info.data[static_cast<size_t>(b)].integer = n > 2 ? n - 1 : 0;
      continue;
    }
    const Spectrum s = eigen(a);
    store(values, b, s.values, rounding_bound(run, n, a.norm()));
    if (run.flag("vectors")) store(vectors, b, s.vectors, 0);
  }
  mark_undecided(vectors);
  return {values, vectors, info};
}

// Columns from `known` on become orthonormal to those before: each is the unit vector that the
// others reach least, less its parts along them, taken away twice.
void complete_basis(DenseMatrix& m, int64_t known) {
  for (int64_t j = known; j < m.columns; ++j) {
    DenseMatrix best(m.rows, 1);
    for (int64_t i = 0; i < m.rows; ++i) {
      DenseMatrix unit(m.rows, 1);
      unit(i, 0) = 1;
      for (int64_t k = 0; k < 2 * j; ++k) {
        Number along = 0;
        for (int64_t r = 0; r < m.rows; ++r) along += std::conj(m(r, k % j)) * unit(r, 0);
        for (int64_t r = 0; r < m.rows; ++r) unit(r, 0) -= along * m(r, k % j);
      }
      if (unit.norm() > best.norm()) best = unit;
    }
    for (int64_t r = 0; r < m.rows; ++r) m(r, j) = best(r, 0) / best.norm();
  }
}

// A = left diag(values) right* of a matrix that is not wide; left has `count` columns.
struct SingularFactors {
  DenseMatrix left, right;
  std::vector<Number> values;
};

SingularFactors singular_factors(DenseMatrix a, int64_t count) {
  const long double negligible = a.norm() * 0x1p-60L;
  DenseMatrix right = DenseMatrix::identity(a.columns);
  orthogonalize(a, right);
  std::vector<Number> lengths;
  for (int64_t j = 0; j < a.columns; ++j) lengths.push_back(std::sqrt(product(a, j, j).real()));
  const Spectrum sorted = in_order(lengths, a, true);
  DenseMatrix left(a.rows, count);
  int64_t known = 0;
  for (; known < a.columns; ++known) {
    const Number length = sorted.values[static_cast<size_t>(known)];
    if (!(length.real() > negligible)) break;
    for (int64_t i = 0; i < a.rows; ++i) left(i, known) = sorted.vectors(i, known) / length;
  }
  complete_basis(left, known);
  return {left, in_order(lengths, right, true).vectors, sorted.values};
}

std::vector<Array> svd(NodeRun& run) {
  Array u = run.result(0), s = run.result(1), vh = run.result(2), info = run.result(3);
  for (int64_t b = 0; b < batch_count(run.x(0)); ++b) {
    DenseMatrix a = matrix_of(run.x(0), b);
    const bool wide = a.rows < a.columns;
    const int64_t n = std::max(a.rows, a.columns), least = std::min(a.rows, a.columns);
    if (!a.is_finite()) {
      const bool nan = std::ranges::any_of(
          a.data, [](const Number& z) { return std::isnan(z.real()) || std::isnan(z.imag()); });
      info.data[static_cast<size_t>(b)].integer = nan ? 1 : 0;
      store(s, b, std::vector<Number>(static_cast<size_t>(least), NAN), 0);
      continue;
    }
    const long double size = a.norm();
    const SingularFactors f = singular_factors(wide ? adjoint(a) : a, run.flag("full") ? n : least);
    store(s, b, f.values, rounding_bound(run, n, size));
    if (!run.flag("vectors")) continue;
    store(u, b, wide ? f.right : f.left, 0);
    store(vh, b, adjoint(wide ? f.left : f.right), 0);
  }
  // Right in more than one way.
  mark_undecided(u);
  mark_undecided(vh);
  return {u, s, vh, info};
}

}  // namespace

void add_jacobi_operations(OperationTable& t) {
  t.set(Prim::eigh, eigh);
  t.set(Prim::svd, svd);
}

}  // namespace primset::prims::reference
