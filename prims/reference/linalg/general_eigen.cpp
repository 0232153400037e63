// Eigenvalues of general matrices by QR iteration with shifts on the whole matrix.
#include <algorithm>
#include <cmath>

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

// a - shift = Q R becomes R Q + shift.
void iterate(DenseMatrix& a, Number shift) {
  for (int64_t i = 0; i < a.rows; ++i) a(i, i) -= shift;
  DenseMatrix packed = a;
  const std::vector<Number> tau = factor_qr(packed);
  DenseMatrix r = packed;
  for (int64_t i = 0; i < r.rows; ++i) {
    for (int64_t j = 0; j < i; ++j) r(i, j) = 0;
  }
  a = adjoint(times_q(packed, tau, adjoint(r), true));
  for (int64_t i = 0; i < a.rows; ++i) a(i, i) += shift;
}

// How much the last row has left of its diagonal.
long double coupling(const DenseMatrix& a) {
  long double sum = 0;
  for (int64_t j = 0; j + 1 < a.columns; ++j) sum += std::abs(a(a.rows - 1, j));
  return sum;
}

std::vector<Number> eigenvalues(DenseMatrix a) {
  constexpr int kMostIterations = 300, kPatience = 11;
  const long double negligible = a.norm() * 0x1p-62L;
  std::vector<Number> values(static_cast<size_t>(a.rows));
  for (int64_t n = a.rows; n > 0; --n) {
    for (int i = 1; i < kMostIterations && coupling(a) > negligible; ++i) {
      const bool stuck = i % kPatience == 0;
      iterate(a, stuck ? a(n - 1, n - 1) + std::abs(a(n - 1, n - 2)) : wilkinson_shift(a, n));
    }
    values[static_cast<size_t>(n - 1)] = a(n - 1, n - 1);
    a = leading(a, n - 1);
  }
  return values;
}

// Eigenvectors are right in more than one way, and how far eigenvalues may be depends on them:
// results are judged by the property that defines them.
std::vector<Array> eig(NodeRun& run) {
  Array values = run.result(0), vectors = run.result(1), info = run.result(2);
  for (int64_t b = 0; b < batch_count(run.x(0)); ++b) {
    const DenseMatrix a = matrix_of(run.x(0), b);
    if (a.is_finite()) {
      store(values, b, eigenvalues(a), 0);
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
