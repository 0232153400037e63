// Eigenvalues and eigenvectors of general matrices: QR iteration with shifts on the whole matrix,
// and substitution in the triangular one that it ends with.
#include <algorithm>
#include <cmath>
#include <utility>

#include "prims/reference/linalg/householder.h"

namespace primset::prims::reference {
namespace {

// The eigenvalue of the last 2 x 2 block that is nearer to the last entry.
Number wilkinson_shift(const DenseMatrix& a, int64_t n) {
  const Number p = a(n - 2, n - 2), q = a(n - 2, n - 1), r = a(n - 1, n - 2), s = a(n - 1, n - 1);
  const Number half = (p + s) / 2.0L, root = std::sqrt((p - s) * (p - s) / 4.0L + q * r);
  return std::abs(half + root - s) < std::abs(half - root - s) ? half + root : half - root;
}

DenseMatrix leading(const DenseMatrix& a, int64_t n) {
  DenseMatrix out(n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) out(i, j) = a(i, j);
  }
  return out;
}

// A = Q T Q* with T, in the end, upper triangular.
struct Schur {
  DenseMatrix t, q_adjoint;
};

// Q* times the first rows of m, as many as Q has.
void reflect_rows(DenseMatrix& m, const DenseMatrix& packed, const std::vector<Number>& tau) {
  DenseMatrix top(packed.rows, m.columns);
  std::copy_n(m.data.begin(), top.data.size(), top.data.begin());
  top = times_q(packed, tau, std::move(top), true);
  std::ranges::copy(top.data, m.data.begin());
}

// With Q R = the leading block of T - shift, T becomes Q* T Q.
void iterate(Schur& s, int64_t n, Number shift) {
  DenseMatrix packed = leading(s.t, n);
  for (int64_t i = 0; i < n; ++i) packed(i, i) -= shift;
  const std::vector<Number> tau = factor_qr(packed);
  reflect_rows(s.t, packed, tau);
  s.t = adjoint(s.t);
  reflect_rows(s.t, packed, tau);
  s.t = adjoint(s.t);
  reflect_rows(s.q_adjoint, packed, tau);
}

// How much the leading block's last row has left of its diagonal.
long double coupling(const DenseMatrix& a, int64_t n) {
  long double sum = 0;
  for (int64_t j = 0; j + 1 < n; ++j) sum += std::abs(a(n - 1, j));
  return sum;
}

Schur schur(const DenseMatrix& a) {
  constexpr int kMostIterations = 300, kPatience = 11;
  const long double negligible = a.norm() * 0x1p-62L;
  Schur s{a, DenseMatrix::identity(a.rows)};
  for (int64_t n = a.rows; n > 1; --n) {
    for (int i = 1; i < kMostIterations && coupling(s.t, n) > negligible; ++i) {
      const bool stuck = i % kPatience == 0;
      iterate(s, n,
              stuck ? s.t(n - 1, n - 1) + std::abs(s.t(n - 1, n - 2)) : wilkinson_shift(s.t, n));
    }
  }
  return s;
}

// T x = T(k, k) x from row k upwards. Beside an equal eigenvalue the divisor is as small as
// rounding leaves it.
DenseMatrix triangular_eigenvector(const DenseMatrix& t, int64_t k) {
  const long double least = t.norm() * 0x1p-64L;
  DenseMatrix x(t.rows, 1);
  x(k, 0) = 1;
  for (int64_t i = k; i-- > 0;) {
    Number sum = 0;
    for (int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * x(j, 0);
    const Number apart = t(k, k) - t(i, i);
    if (sum != Number(0)) x(i, 0) = sum / (std::abs(apart) < least ? Number(least) : apart);
  }
  return x;
}

std::vector<Number> diagonal(const DenseMatrix& t) {
  std::vector<Number> out;
  for (int64_t i = 0; i < t.rows; ++i) out.push_back(t(i, i));
  return out;
}

// Of length 1, a column each.
DenseMatrix eigenvectors(const Schur& s) {
  const int64_t n = s.t.rows;
  DenseMatrix v(n, n);
  for (int64_t k = 0; k < n; ++k) {
    const DenseMatrix x = triangular_eigenvector(s.t, k);
    const long double length = x.norm();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= k; ++j) v(i, k) += std::conj(s.q_adjoint(j, i)) * x(j, 0) / length;
    }
  }
  return v;
}

// Eigenvectors are right in more than one way, and how far eigenvalues may be depends on them:
// results are judged by the property that defines them.
std::vector<Array> eig(NodeRun& run) {
  Array values = run.result(0), vectors = run.result(1), info = run.result(2);
  for (int64_t b = 0; b < batch_count(run.x(0)); ++b) {
    const DenseMatrix a = matrix_of(run.x(0), b);
    if (a.is_finite()) {
      const Schur s = schur(a);
      store(values, b, diagonal(s.t), 0);
      if (run.flag("vectors")) store(vectors, b, eigenvectors(s), 0);
    } else {
      info.data[static_cast<size_t>(b)].integer = a.rows;
    }
  }
  mark_undecided(values);
  mark_undecided(vectors);
  return {values, vectors, info};
}

}  // namespace

void add_general_eigen_operations(OperationTable& t) {
  t.set(Prim::eig, eig);
}

}  // namespace primset::prims::reference
