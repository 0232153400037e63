#include "conformance/compare/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <vector>

#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

using Number = std::complex<long double>;

// One matrix of a batch.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<Number> data;

  Matrix(int64_t r, int64_t c) : rows(r), columns(c), data(static_cast<size_t>(r * c)) {}
  Number& at(int64_t i, int64_t j) { return data[static_cast<size_t>(i * columns + j)]; }
  Number at(int64_t i, int64_t j) const { return data[static_cast<size_t>(i * columns + j)]; }
};

int64_t batch_count(const Array& a) {
  int64_t size = a.shape[a.shape.size() - 2] * a.shape.back();
  return size == 0 ? 0 : a.size() / size;
}

Matrix matrix(const Array& a, int64_t batch) {
  Matrix m(a.shape[a.shape.size() - 2], a.shape.back());
  auto base = static_cast<size_t>(batch * m.rows * m.columns);
  for (size_t i = 0; i < m.data.size(); ++i) {
    m.data[i] = {a.data[base + i].re, a.data[base + i].im};
  }
  return m;
}

// The batch's vector as a diagonal matrix.
Matrix diagonal(const Array& v, int64_t batch) {
  int64_t n = v.shape.back();
  Matrix m(n, n);
  for (int64_t i = 0; i < n; ++i) {
    const Element& e = v.data[static_cast<size_t>(batch * n + i)];
    m.at(i, i) = {e.re, e.im};
  }
  return m;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      for (int64_t j = 0; j < b.columns; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  }
  return t;
}

Matrix adjoint(const Matrix& a) {
  Matrix t = transposed(a);
  for (Number& z : t.data) z = std::conj(z);
  return t;
}

Matrix identity(int64_t n) {
  Matrix m(n, n);
  for (int64_t i = 0; i < n; ++i) m.at(i, i) = 1;
  return m;
}

Matrix leading_columns(const Matrix& a, int64_t count) {
  Matrix m(a.rows, std::min(count, a.columns));
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.columns; ++j) m.at(i, j) = a.at(i, j);
  }
  return m;
}

long double norm(const Matrix& a) {
  long double sum = 0;
  for (const Number& z : a.data) sum += std::norm(z);
  return std::sqrt(sum);
}

// Is a = b but for what rounding in the dtype explains? Backward stable algorithms stay well within
// this multiple of n * u * |b|.
std::string near(const char* what, const Matrix& a, const Matrix& b, DType t,
                 long double condition = 1) {
  if (a.rows != b.rows || a.columns != b.columns) return fmt::format("{}: the sizes differ", what);
  Matrix off = a;
  for (size_t i = 0; i < off.data.size(); ++i) off.data[i] -= b.data[i];
  auto n = static_cast<long double>(std::max(a.rows, a.columns) + 4);
  long double allowed =
      30 * n * prims::reference::unit_roundoff(t) * condition * std::max(1.0L, norm(b));
  long double seen = norm(off);
  if (seen <= allowed) return {};
  return fmt::format("{} by {:.3g}, allowed {:.3g}", what, static_cast<double>(seen),
                     static_cast<double>(allowed));
}

std::string triangular(const char* what, const Matrix& a, bool upper) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      bool outside = upper ? j < i : j > i;
      if (outside && a.at(i, j) != Number(0)) {
        return fmt::format("{} is not triangular at [{}, {}]", what, i, j);
      }
    }
  }
  return {};
}

std::string orthonormal(const char* what, const Matrix& q, DType t) {
  return near(what, adjoint(q) * q, identity(q.columns), t);
}

// Applies a test of one matrix to the whole batch.
template <typename Test>
std::string each(const Array& a, const Test& test) {
  for (int64_t b = 0; b < batch_count(a); ++b) {
    std::string wrong = test(b);
    if (!wrong.empty()) return fmt::format("matrix {}: {}", b, wrong);
  }
  return {};
}

std::string first_of(std::initializer_list<std::string> findings) {
  for (const std::string& f : findings) {
    if (!f.empty()) return f;
  }
  return {};
}

// R alone, of which R* R is A* A, or both factors.
std::string qr(std::span<const Array> in, std::span<const Array> out) {
  const bool r_alone = out[0].shape.size() < 2;
  return each(in[0], [&](int64_t b) {
    Matrix a = matrix(in[0], b), r = matrix(out[1], b);
    DType t = in[0].dtype;
    if (r_alone) {
      return first_of({near("R* R differs from A* A", adjoint(r) * r, adjoint(a) * a, t),
                       triangular("R", r, true)});
    }
    Matrix q = matrix(out[0], b);
    return first_of({near("Q R differs from A", q * r, a, t),
                     orthonormal("Q is not orthonormal", q, t), triangular("R", r, true)});
  });
}

// The R and the reflectors that LAPACK's geqrf packs: H_1 H_2 ... R is A.
std::string packed_qr(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    const Matrix a = matrix(in[0], b), packed = matrix(out[0], b), tau = diagonal(out[1], b);
    Matrix product = packed, unitary = identity(a.rows);
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < std::min(i, a.columns); ++j) product.at(i, j) = 0;
    }
    for (int64_t j = tau.rows; j-- > 0;) {
      Matrix v(a.rows, 1), h = identity(a.rows);
      for (int64_t i = j; i < a.rows; ++i) v.at(i, 0) = i == j ? Number(1) : packed.at(i, j);
      const Matrix square = v * adjoint(v);
      for (size_t i = 0; i < h.data.size(); ++i) h.data[i] -= tau.at(j, j) * square.data[i];
      product = h * product;
      unitary = h * unitary;
    }
    return first_of(
        {near("H_1 H_2 ... R differs from A", product, a, in[0].dtype),
         orthonormal("the reflectors' product is not orthonormal", unitary, in[0].dtype)});
  });
}

// Eigenvalues in any order, by the traces of powers of A, which are well conditioned.
std::string power_sums(const Matrix& a, const Matrix& values, DType t) {
  Matrix power = a;
  for (int k = 1; k <= 3; ++k) {
    Matrix off(1, 1);
    for (int64_t i = 0; i < a.rows; ++i)
      off.at(0, 0) += std::pow(values.at(i, i), k) - power.at(i, i);
    const long double size = std::pow(norm(a), static_cast<long double>(k));
    const long double allowed =
        30 * k * static_cast<long double>(a.rows + 4) * prims::reference::unit_roundoff(t) * size;
    if (!(norm(off) <= allowed)) {
      return fmt::format(
          "the sum of the eigenvalues' powers {} differs from the trace by {:.3g}, "
          "allowed {:.3g}",
          k, static_cast<double>(norm(off)), static_cast<double>(allowed));
    }
    power = power * a;
  }
  return {};
}

std::string eigenvalues(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    return power_sums(matrix(in[0], b), diagonal(out[0], b), in[0].dtype);
  });
}

std::string unit_columns(const char* what, const Matrix& v, DType t) {
  Matrix lengths = adjoint(v) * v;
  for (int64_t i = 0; i < v.columns; ++i) {
    for (int64_t j = 0; j < v.columns; ++j) {
      if (i != j) lengths.at(i, j) = 0;
    }
  }
  return near(what, lengths, identity(v.columns), t);
}

std::string eig(std::span<const Array> in, std::span<const Array> out) {
  const std::string wrong = eigenvalues(in, out);
  if (!wrong.empty() || out[1].data.empty()) return wrong;
  return each(in[0], [&](int64_t b) {
    const Matrix a = matrix(in[0], b), v = matrix(out[1], b);
    const DType t = in[0].dtype;
    return first_of({near("A V differs from V L", a * v, v * diagonal(out[0], b), t),
                     unit_columns("V's columns are not of length 1", v, t)});
  });
}

std::string in_order(const char* what, const Matrix& values, bool descending) {
  for (int64_t i = 1; i < values.rows; ++i) {
    const long double before = values.at(i - 1, i - 1).real(), now = values.at(i, i).real();
    if (descending ? before < now : now < before)
      return fmt::format("{} are not in order at {}", what, i);
  }
  return {};
}

std::string eigh(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    Matrix a = matrix(in[0], b), l = diagonal(out[0], b);
    DType t = in[0].dtype;
    // The lower triangle is the one that is read.
    for (int64_t i = 0; i < a.rows; ++i) {
      a.at(i, i) = a.at(i, i).real();
      for (int64_t j = i + 1; j < a.columns; ++j) a.at(i, j) = std::conj(a.at(j, i));
    }
    const std::string wrong = in_order("eigenvalues", l, false);
    if (!wrong.empty() || out[1].data.empty()) return first_of({wrong, power_sums(a, l, t)});
    Matrix v = matrix(out[1], b);
    return first_of(
        {near("A V differs from V L", a * v, v * l, t), orthonormal("V is not orthonormal", v, t)});
  });
}

// Singular values alone, by the eigenvalues of A* A.
std::string singular_values(const Matrix& a, const Matrix& s, DType t) {
  const Matrix gram = a.rows < a.columns ? a * adjoint(a) : adjoint(a) * a;
  return first_of({in_order("singular values", s, true), power_sums(gram, s * s, t)});
}

std::string svd(std::span<const Array> in, std::span<const Array> out, bool adjoint_given) {
  return each(in[0], [&](int64_t b) {
    Matrix a = matrix(in[0], b), s = diagonal(out[1], b);
    DType t = in[0].dtype;
    const std::string wrong = singular_values(a, s, t);
    const bool all_zero =
        std::ranges::all_of(out[0].data, [](const Element& e) { return e.re == 0 && e.im == 0; });
    if (!wrong.empty() || all_zero) return wrong;  // no vectors are asked for
    Matrix u = matrix(out[0], b), v = matrix(out[2], b), vh = adjoint_given ? v : adjoint(v);
    Matrix product = leading_columns(u, s.rows) * s * adjoint(leading_columns(adjoint(vh), s.rows));
    return first_of({near("U S Vh differs from A", product, a, t),
                     orthonormal("U is not orthonormal", u, t),
                     orthonormal("V is not orthonormal", adjoint(vh), t)});
  });
}
std::string svd_vh(std::span<const Array> in, std::span<const Array> out) {
  return svd(in, out, true);
}
std::string svd_v(std::span<const Array> in, std::span<const Array> out) {
  return svd(in, out, false);
}

std::string lu(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    Matrix a = matrix(in[0], b), p = matrix(out[0], b), l = matrix(out[1], b);
    Matrix u = matrix(out[2], b);
    return first_of({near("P L U differs from A", p * l * u, a, in[0].dtype),
                     triangular("L", l, false), triangular("U", u, true)});
  });
}

// The rows of a as interchanges, counted from 1, leave them.
Matrix interchanged(Matrix a, const Array& pivots, int64_t batch) {
  const int64_t steps = pivots.shape.back();
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t with = pivots.data[static_cast<size_t>(batch * steps + i)].integer - 1;
    if (with < i || with >= a.rows) return Matrix(0, 0);
    for (int64_t j = 0; j < a.columns; ++j) std::swap(a.at(i, j), a.at(with, j));
  }
  return a;
}

// Pivots of the greatest |re| + |im| or of the greatest modulus: no multiplier is beyond sqrt(2).
std::string bounded_multipliers(const Matrix& l, DType t) {
  const long double most = std::sqrt(2.0L) * (1 + 8 * prims::reference::unit_roundoff(t));
  for (int64_t i = 0; i < l.rows; ++i) {
    for (int64_t j = 0; j < std::min(i, l.columns); ++j) {
      if (!(std::abs(l.at(i, j)) <= most))
        return fmt::format("L[{}, {}] is {:.3g} large: rows are not exchanged for the greatest", i,
                           j, static_cast<double>(std::abs(l.at(i, j))));
    }
  }
  return {};
}

// Both factors in one matrix, L without its diagonal of ones, and the interchanges.
std::string packed_lu_of(const Matrix& a, const Matrix& packed, const Array& pivots, int64_t batch,
                         DType t) {
  const int64_t steps = std::min(a.rows, a.columns);
  Matrix l(a.rows, steps), u(steps, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) (j < i ? l : u).at(i, j) = packed.at(i, j);
    if (i < steps) l.at(i, i) = 1;
  }
  const Matrix rows = interchanged(a, pivots, batch);
  if (rows.rows != a.rows) return fmt::format("a pivot is not one of the rows left");
  return first_of({near("L U differs from A's rows in the pivots' order", l * u, rows, t),
                   bounded_multipliers(l, t)});
}

std::string packed_lu(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    return packed_lu_of(matrix(in[0], b), matrix(out[0], b), out[1], b, in[0].dtype);
  });
}

// The same, and what the interchanges together make of rows 0, 1, 2, ...
std::string permuting_lu(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    Matrix numbers(in[0].shape[in[0].shape.size() - 2], 1);
    for (int64_t i = 0; i < numbers.rows; ++i) numbers.at(i, 0) = static_cast<long double>(i);
    const Matrix wanted = interchanged(numbers, out[1], b);
    for (int64_t i = 0; i < wanted.rows; ++i) {
      const int64_t found = out[2].data[static_cast<size_t>(b * wanted.rows + i)].integer;
      if (wanted.at(i, 0) != Number(static_cast<long double>(found)))
        return fmt::format("row {} is {}, but not by the pivots", i, found);
    }
    return packed_lu_of(matrix(in[0], b), matrix(out[0], b), out[1], b, in[0].dtype);
  });
}

// Of A, or of its transpose: ATen factors what lies by columns.
std::string packed_lu_either(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    const Matrix a = matrix(in[0], b), packed = matrix(out[0], b);
    const std::string wrong = packed_lu_of(a, packed, out[1], b, in[0].dtype);
    return wrong.empty() ? wrong : packed_lu_of(transposed(a), packed, out[1], b, in[0].dtype);
  });
}

// Moore and Penrose's conditions, which are as exact as the matrix is well conditioned.
std::string pseudoinverse(std::span<const Array> in, std::span<const Array> out) {
  return each(in[0], [&](int64_t b) {
    const Matrix a = matrix(in[0], b), x = matrix(out[0], b), left = a * x, right = x * a;
    const long double condition = std::max(1.0L, norm(a) * norm(x));
    const DType t = in[0].dtype;
    return first_of({near("A X A differs from A", left * a, a, t, condition),
                     near("X A X differs from X", right * x, x, t, condition),
                     near("A X is not Hermitian", left, adjoint(left), t, condition),
                     near("X A is not Hermitian", right, adjoint(right), t, condition)});
  });
}

// The residual B - A X is orthogonal to A's columns. B may be one column.
std::string least_squares(std::span<const Array> in, std::span<const Array> out) {
  const auto columns = [&](const Array& x) {
    Array whole = x;
    if (in[1].shape.size() < in[0].shape.size()) whole.shape.push_back(1);
    return whole;
  };
  const Array given = columns(in[1]), found = columns(out[0]);
  return each(in[0], [&](int64_t i) {
    const Matrix a = matrix(in[0], i), b = matrix(given, i), x = matrix(found, i);
    Matrix rest = a * x;
    for (size_t k = 0; k < rest.data.size(); ++k) rest.data[k] -= b.data[k];
    const Matrix along = adjoint(a) * rest;
    const long double size = norm(a) * (norm(a) * norm(x) + norm(b));
    return near("A* (B - A X) is not 0 but", along, Matrix(along.rows, along.columns), in[0].dtype,
                size);
  });
}

// The results are 0 .. n - 1 in some order.
std::string permutation(std::span<const Array>, std::span<const Array> out) {
  std::vector<bool> seen(out[0].data.size());
  for (const Element& e : out[0].data) {
    bool integral = is_integral(out[0].dtype);
    auto v = integral ? e.integer : static_cast<int64_t>(e.re);
    if (v < 0 || v >= static_cast<int64_t>(seen.size()) || seen[static_cast<size_t>(v)]) {
      return fmt::format("{} is out of range or stands there twice", v);
    }
    seen[static_cast<size_t>(v)] = true;
  }
  return {};
}

struct NamedProperty {
  std::string_view op;
  Property property;
};
constexpr NamedProperty kProperties[] = {
    {"prim/qr", {packed_qr}},
    {"prim/svd", {svd_vh}},
    {"prim/eigh", {eigh}},
    {"prim/eig", {eig}},
    {"geqrf", {packed_qr}},
    {"linalg_eig", {eig}},
    {"linalg_eigvals", {eigenvalues}},
    {"_linalg_eigvals", {eigenvalues}},
    {"linalg_pinv", {pseudoinverse}},
    {"pinverse", {pseudoinverse}},
    {"linalg_lstsq", {least_squares}},
    {"linalg_qr", {qr}},
    {"qr", {qr}},
    {"linalg_eigh", {eigh}},
    {"_linalg_eigh", {eigh}},
    {"linalg_svd", {svd_vh}},
    {"_linalg_svd", {svd_vh}},
    {"svd", {svd_v}},
    {"linalg_lu", {lu}},
    {"prim/lu", {permuting_lu, 0, 3}},
    {"linalg_lu_factor", {packed_lu, 0, 2}},
    {"linalg_lu_factor_ex", {packed_lu, 0, 2}},
    {"_lu_with_info", {packed_lu, 0, 2}},
    {"_linalg_det", {packed_lu_either, 1, 2}},
    {"_linalg_slogdet", {packed_lu_either, 2, 2}},
    {"_linalg_solve_ex", {packed_lu_either, 1, 2}},
    {"randperm", {permutation}},
};

}  // namespace

const Property* property_of(std::string_view op) {
  const auto* const it = std::ranges::find(kProperties, op, &NamedProperty::op);
  return it == std::end(kProperties) ? nullptr : &it->property;
}

}  // namespace primset::conformance
