// Decompositions of orthogonal factorisations, held against the property that defines each.
#include <complex>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Complex = std::complex<double>;

struct Dense {
  int64_t rows, columns;
  std::vector<Complex> data;
  Complex& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * columns + j)]; }
  Complex operator()(int64_t i, int64_t j) const {
    return data[static_cast<size_t>(i * columns + j)];
  }
};

Dense dense(int64_t rows, int64_t columns) {
  return {rows, columns, std::vector<Complex>(static_cast<size_t>(rows * columns))};
}

Dense dense(const Array& a) {
  Dense m = dense(a.shape[0], a.shape[1]);
  for (size_t i = 0; i < m.data.size(); ++i)
    m.data[i] = {static_cast<double>(a.data[i].re), static_cast<double>(a.data[i].im)};
  return m;
}

Dense diagonal(const Array& v) {
  const int64_t n = v.shape[0];
  Dense m = dense(n, n);
  for (int64_t i = 0; i < n; ++i) {
    const auto& e = v.data[static_cast<size_t>(i)];
    m(i, i) = {static_cast<double>(e.re), static_cast<double>(e.im)};
  }
  return m;
}

Dense operator*(const Dense& a, const Dense& b) {
  Dense c = dense(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      for (int64_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

Dense adjoint(const Dense& a) {
  Dense t = dense(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) t(j, i) = std::conj(a(i, j));
  }
  return t;
}

Dense upper(Dense a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < std::min(i, a.columns); ++j) a(i, j) = 0;
  }
  return a;
}

void expect_close(const Dense& a, const Dense& b) {
  ASSERT_EQ(a.data.size(), b.data.size());
  for (size_t i = 0; i < a.data.size(); ++i) EXPECT_LT(std::abs(a.data[i] - b.data[i]), 1e-12) << i;
}

void expect_orthonormal(const Dense& q) {
  Dense one = dense(q.columns, q.columns);
  for (int64_t i = 0; i < q.columns; ++i) one(i, i) = 1;
  expect_close(adjoint(q) * q, one);
}

// Numbers without a pattern, the same each time.
Array sample(DType t, int64_t rows, int64_t columns) {
  Array a = prims::reference::make_array(t, {rows, columns});
  uint32_t state = 12345;
  const auto next = [&] {
    state = state * 1664525 + 1013904223;
    return static_cast<double>(state >> 8) / (1 << 23) - 1;
  };
  for (auto& e : a.data) {
    e.re = next();
    if (is_complex(t)) e.im = next();
  }
  return a;
}

std::vector<Array> run_alone(Prim p, const std::vector<Array>& inputs,
                             std::vector<prims::Attr> attrs = {}) {
  return run_derived(p, inputs, std::move(attrs), {}, {.without_bounds = true}).outputs;
}

constexpr DType kOrthogonalTypes[] = {DType::f64, DType::c128};

// The first rows and columns.
Array corner(const Array& a, int64_t rows, int64_t columns) {
  Array out = prims::reference::make_array(a.dtype, {rows, columns});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      out.data[static_cast<size_t>(i * columns + j)] =
          a.data[static_cast<size_t>(i * a.shape[1] + j)];
  }
  return out;
}

TEST(QrDecomposition, ProductIsTheMatrix) {
  // The last two take blocks.
  const std::pair<int64_t, int64_t> sizes[] = {{3, 3}, {5, 2}, {2, 5}, {1, 1}, {40, 34}, {34, 40}};
  for (DType t : kOrthogonalTypes) {
    for (const auto& [m, n] : sizes) {
      const Array a = sample(t, m, n);
      const int64_t k = std::min(m, n);
      const auto packed = run_alone(Prim::qr, {a});
      const Array v = corner(packed[0], m, k);
      const Dense q = dense(run_alone(Prim::householder_product, {v, packed[1]})[0]);
      expect_orthonormal(q);
      expect_close(q * upper(dense(corner(packed[0], k, n))), dense(a));
    }
  }
}

// LAPACK's geqrf: PyTorch 2.13 in f64.
TEST(QrDecomposition, PacksAsLapackDoes) {
  const auto packed = run_alone(Prim::qr, {array(DType::f64, {3, 2}, {4, 1, 1, 3, -2, 0})});
  expect_near(packed[1], {2}, {1.8728715609439695, 1.9771135990910123}, 1e-14);
  expect_near(packed[0], {3, 2},
              {-4.5825756949558398, -1.5275252316519468, 0.11651513899116801, -2.7688746209726918,
               -0.23303027798233603, 0.10759025554202813},
              1e-14);
}

TEST(QrDecomposition, ReflectsNothingInZeros) {
  const auto packed = run_alone(Prim::qr, {array(DType::f64, {3, 2}, {0, 0, 0, 0, 0, 0})});
  expect_equal(packed[1], array(DType::f64, {2}, {0, 0}));
}

TEST(ReflectorProducts, FromBothSides) {
  for (DType t : kOrthogonalTypes) {
    const auto packed = run_alone(Prim::qr, {sample(t, 4, 4)});
    const Dense q = dense(run_alone(Prim::householder_product, packed)[0]);
    const auto apply = [&](const Array& c, bool left, bool adjointed) {
      return dense(run_alone(Prim::apply_reflectors, {packed[0], packed[1], c},
                             {{"left", left}, {"adjoint", adjointed}})[0]);
    };
    const Array c = sample(t, 4, 2), d = sample(t, 2, 4);
    expect_close(apply(c, true, false), q * dense(c));
    expect_close(apply(c, true, true), adjoint(q) * dense(c));
    expect_close(apply(d, false, false), dense(d) * q);
    expect_close(apply(d, false, true), dense(d) * adjoint(q));
  }
}

void expect_svd(const Array& a) {
  const auto r = run_alone(Prim::svd, {a}, {{"full", false}, {"vectors", true}});
  expect_orthonormal(dense(r[0]));
  expect_orthonormal(adjoint(dense(r[2])));
  expect_close(dense(r[0]) * diagonal(r[1]) * dense(r[2]), dense(a));
  EXPECT_EQ(r[3].data[0].integer, 0);
  for (size_t i = 1; i < r[1].data.size(); ++i) EXPECT_LE(r[1].data[i].re, r[1].data[i - 1].re);
}

TEST(SvdDecomposition, ProductIsTheMatrix) {
  for (DType t : kOrthogonalTypes) {
    expect_svd(sample(t, 4, 4));
    expect_svd(sample(t, 5, 3));
    expect_svd(sample(t, 3, 5));
    expect_svd(sample(t, 1, 1));
  }
}

TEST(SvdDecomposition, OfLessThanFullRank) {
  expect_svd(array(DType::f64, {3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
  expect_svd(array(DType::f64, {3, 2}, {0, 0, 0, 0, 0, 0}));
}

TEST(SvdDecomposition, TellsOfNan) {
  const auto r = run_alone(Prim::svd, {array(DType::f64, {2, 2}, {1, kNan, 0, 1})},
                           {{"full", false}, {"vectors", false}});
  EXPECT_EQ(r[3].data[0].integer, 1);
}

TEST(EighDecomposition, DiagonalizesTheLowerTriangle) {
  for (DType t : kOrthogonalTypes) {
    for (int64_t n : {1, 2, 5}) {
      const Array a = sample(t, n, n);
      Dense whole = dense(a);
      for (int64_t i = 0; i < n; ++i) {
        whole(i, i) = whole(i, i).real();
        for (int64_t j = i + 1; j < n; ++j) whole(i, j) = std::conj(whole(j, i));
      }
      const auto r = run_alone(Prim::eigh, {a}, {{"vectors", true}});
      const Dense v = dense(r[1]);
      expect_orthonormal(v);
      expect_close(whole * v, v * diagonal(r[0]));
      for (size_t i = 1; i < r[0].data.size(); ++i) EXPECT_GE(r[0].data[i].re, r[0].data[i - 1].re);
    }
  }
}

void expect_eigen(const Array& a) {
  const auto r = run_alone(Prim::eig, {a}, {{"vectors", true}});
  EXPECT_EQ(r[2].data[0].integer, 0);
  const Dense v = dense(r[1]);
  expect_close(dense(a) * v, v * diagonal(r[0]));
  Complex trace = 0;
  for (int64_t i = 0; i < v.rows; ++i) trace += diagonal(r[0])(i, i) - dense(a)(i, i);
  EXPECT_LT(std::abs(trace), 1e-12);
}

TEST(EigDecomposition, VectorsBelongToValues) {
  for (DType t : kOrthogonalTypes) {
    for (int64_t n : {1, 2, 3, 6}) expect_eigen(sample(t, n, n));
  }
  // A permutation, which plain shifts leave as it is, and a block that has one vector alone.
  expect_eigen(array(DType::f64, {3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}));
  expect_eigen(array(DType::f64, {2, 2}, {1, 1, 0, 1}));
}

TEST(EigDecomposition, RealValuesOfRealMatricesAreReal) {
  const auto r =
      run_alone(Prim::eig, {array(DType::f64, {2, 2}, {2, 1, 1, 3})}, {{"vectors", true}});
  for (const auto& e : r[0].data) EXPECT_EQ(e.im, 0);
  for (const auto& e : r[1].data) EXPECT_EQ(e.im, 0);
}

}  // namespace
}  // namespace primset::decomps
