// Reflectors one after the other, as LAPACK's geqr2 and orm2r apply them.
#include "prims/reference/linalg/householder.h"

#include <algorithm>
#include <cmath>

namespace primset::prims::reference {
namespace {

// Column j of packed reflectors, 0 above and 1 at its diagonal.
std::vector<Number> reflector(const DenseMatrix& packed, int64_t j) {
  std::vector<Number> v(static_cast<size_t>(packed.rows));
  for (int64_t i = j; i < packed.rows; ++i) v[static_cast<size_t>(i)] = i == j ? 1 : packed(i, j);
  return v;
}

// (1 - factor v v*) c
void reflect(DenseMatrix& c, const std::vector<Number>& v, Number factor) {
  for (int64_t j = 0; j < c.columns; ++j) {
    Number along = 0;
    for (int64_t i = 0; i < c.rows; ++i) along += std::conj(v[static_cast<size_t>(i)]) * c(i, j);
    for (int64_t i = 0; i < c.rows; ++i) c(i, j) -= factor * v[static_cast<size_t>(i)] * along;
  }
}

long double length_below(const DenseMatrix& a, int64_t j) {
  long double sum = 0;
  for (int64_t i = j + 1; i < a.rows; ++i) sum += std::norm(a(i, j));
  return std::sqrt(sum);
}

}  // namespace

std::vector<Number> factor_qr(DenseMatrix& a) {
  std::vector<Number> tau(static_cast<size_t>(std::min(a.rows, a.columns)));
  for (int64_t j = 0; j < static_cast<int64_t>(tau.size()); ++j) {
    const Number alpha = a(j, j);
    const long double below = length_below(a, j);
    if (below == 0 && alpha.imag() == 0) continue;
    const long double whole = std::hypot(std::abs(alpha), below);
    const long double beta = alpha.real() < 0 ? whole : -whole;
    const Number factor = (beta - alpha) / beta;
    tau[static_cast<size_t>(j)] = factor;
    for (int64_t i = j + 1; i < a.rows; ++i) a(i, j) /= alpha - beta;
    DenseMatrix rest(a.rows, a.columns - j - 1);
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t k = j + 1; k < a.columns; ++k) rest(i, k - j - 1) = a(i, k);
    }
    reflect(rest, reflector(a, j), std::conj(factor));
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t k = j + 1; k < a.columns; ++k) a(i, k) = rest(i, k - j - 1);
    }
    a(j, j) = beta;
  }
  return tau;
}

DenseMatrix times_q(const DenseMatrix& packed, const std::vector<Number>& tau, DenseMatrix c,
                    bool adjoint) {
  const auto count = static_cast<int64_t>(tau.size());
  for (int64_t step = 0; step < count; ++step) {
    const int64_t j = adjoint ? step : count - 1 - step;
    const Number factor = tau[static_cast<size_t>(j)];
    reflect(c, reflector(packed, j), adjoint ? std::conj(factor) : factor);
  }
  return c;
}

namespace {

std::vector<Array> qr(NodeRun& run) {
  Array v = run.result(0), tau = run.result(1);
  for (int64_t b = 0; b < batch_count(run.x(0)); ++b) {
    DenseMatrix a = matrix_of(run.x(0), b);
    const std::vector<Number> factors = factor_qr(a);
    store(v, b, a, 0);
    store(tau, b, factors, 0);
  }
  // How far they may be depends on the matrix's condition.
  mark_undecided(v);
  mark_undecided(tau);
  return {v, tau};
}

// Sizes of vectors and factors that are no reflectors' grow in the products.
long double growth(const DenseMatrix& packed, const std::vector<Number>& tau) {
  long double g = 1;
  for (size_t j = 0; j < tau.size(); ++j) {
    long double square = 0;
    for (const Number& z : reflector(packed, static_cast<int64_t>(j))) square += std::norm(z);
    g *= std::max(1.0L, 1 + std::abs(tau[j]) * square - 2);
  }
  return g;
}

std::vector<Array> product(NodeRun& run, bool from_identity) {
  Array y = run.result(0);
  const bool left = from_identity || run.flag("left");
  const bool adjointed = !from_identity && run.flag("adjoint");
  for (int64_t b = 0; b < batch_count(run.x(0)); ++b) {
    const DenseMatrix packed = matrix_of(run.x(0), b);
    const std::vector<Number> tau = vector_of(run.x(1), b);
    const DenseMatrix c = from_identity
                              ? first_columns(DenseMatrix::identity(packed.rows), packed.columns)
                              : matrix_of(run.x(2), b);
    const DenseMatrix result = left ? times_q(packed, tau, c, adjointed)
                                    : adjoint(times_q(packed, tau, adjoint(c), !adjointed));
    const long double size = c.norm() * growth(packed, tau);
    store(y, b, result, rounding_bound(run, packed.rows + packed.columns, size));
  }
  const auto known = [](const Element& e) { return !e.undecided && e.error == 0; };
  const bool exact =
      std::ranges::all_of(run.x(0).data, known) && std::ranges::all_of(run.x(1).data, known);
  if (!exact) mark_undecided(y);
  return {y};
}

std::vector<Array> householder_product(NodeRun& run) {
  return product(run, true);
}
std::vector<Array> apply_reflectors(NodeRun& run) {
  return product(run, false);
}

}  // namespace

void add_householder_operations(OperationTable& t) {
  t.set(Prim::qr, qr);
  t.set(Prim::householder_product, householder_product);
  t.set(Prim::apply_reflectors, apply_reflectors);
}

}  // namespace primset::prims::reference
