// Expected values: PyTorch 2.13 in f64, to eight digits.
#include <complex>

#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

const std::vector<double> kMatrix = {4, 1, -2, 1, 3, 0, -2, 0, 1};
const std::vector<double> kPacked = {-4.5825757, -1.5275252, 2.1821789, 0.1165151, -2.7688746,
                                     -0.4815434, -0.2330303, 0.1075903, -0.0788110};
const std::vector<double> kTau = {1.8728716, 1.9771136, 0};

void expect_values(const Array& got, const std::vector<double>& want) {
  ASSERT_EQ(got.data.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(static_cast<double>(got.data[i].re), want[i], 1e-6) << i;
}

bool all_undecided(const Array& a) {
  return std::ranges::all_of(a.data, [](const Element& e) { return e.undecided; });
}

TEST(Qr, AsGeqrfPacksIt) {
  const Result r = run_prim(Prim::qr, {array(DType::f64, {3, 3}, kMatrix)});
  expect_values(r.outputs[0], kPacked);
  expect_values(r.outputs[1], kTau);
  EXPECT_TRUE(all_undecided(r.outputs[0]));
}

TEST(Reflectors, Products) {
  const Array v = array(DType::f64, {3, 3}, kPacked), tau = array(DType::f64, {3}, kTau);
  expect_values(first(run_prim(Prim::householder_product, {v, tau})),
                {-0.8728716, 0.1203859, 0.4728662, -0.2182179, -0.9630868, -0.1576221, 0.4364358,
                 -0.2407717, 0.8669214});
  const std::vector<double> plain = {2.1322367,  1.8526172, -2.5566620,
                                     -3.8955888, 2.9861424, 4.0487279},
                            adjoint = {1.3093073,  0.6546537, -2.8892605,
                                       -3.9727332, 3.1524416, 4.3346072},
                            from_right = {1.3093073, -2.8892605, 3.1524416,
                                          0.6546537, -3.9727332, 4.3346072};
  const auto apply = [&](Ints shape, const std::vector<double>& c, bool left, bool adjointed) {
    return first(run_prim(Prim::apply_reflectors, {v, tau, array(DType::f64, std::move(shape), c)},
                          {{"left", left}, {"adjoint", adjointed}}));
  };
  expect_values(apply({3, 2}, {0, 1, 2, 3, 4, 5}, true, false), plain);
  expect_values(apply({3, 2}, {0, 1, 2, 3, 4, 5}, true, true), adjoint);
  const Array right = apply({2, 3}, {0, 2, 4, 1, 3, 5}, false, false);
  expect_values(right, from_right);
  EXPECT_GT(right.data[0].error, 0);
  EXPECT_LT(right.data[0].error, 1e-11);
}

TEST(Eigh, ReadsTheLowerTriangle) {
  std::vector<double> lower = kMatrix;
  lower[1] = lower[2] = lower[5] = 77;
  const Result r = run_prim(Prim::eigh, {array(DType::f64, {3, 3}, lower)}, {{"vectors", true}});
  expect_values(r.outputs[0], {-0.0687078, 2.7222456, 5.3464622});
  EXPECT_FALSE(r.outputs[0].data[0].undecided);
  EXPECT_TRUE(all_undecided(r.outputs[1]));
}

TEST(Eigh, TellsOfNan) {
  std::vector<double> values = kMatrix;
  values[3] = kNan;
  const Result r = run_prim(Prim::eigh, {array(DType::f64, {3, 3}, values)}, {{"vectors", false}});
  EXPECT_EQ(r.outputs[2].data[0].integer, 2);
}

TEST(Svd, ValuesInOrder) {
  const Array a = array(DType::f64, {2, 3}, {0, 1, 2, 3, 4, 5});
  const Result r = run_prim(Prim::svd, {a}, {{"full", true}, {"vectors", true}});
  expect_values(r.outputs[1], {7.3484692, 1});
  EXPECT_EQ(r.outputs[2].shape, (Ints{3, 3}));
  EXPECT_EQ(r.outputs[3].data[0].integer, 0);
}

// A of rank 1 whose U is completed.
TEST(Svd, VectorsOfTallMatrices) {
  const Array a = array(DType::f64, {3, 2}, {1, 2, 2, 4, -2, -4});
  const Result r = run_prim(Prim::svd, {a}, {{"full", true}, {"vectors", true}});
  const Array &u = r.outputs[0], &s = r.outputs[1], &vh = r.outputs[2];
  EXPECT_EQ(u.shape, (Ints{3, 3}));
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      long double product = 0;
      for (size_t k = 0; k < 2; ++k)
        product += u.data[3 * i + k].re * s.data[k].re * vh.data[2 * k + j].re;
      EXPECT_NEAR(static_cast<double>(product), static_cast<double>(a.data[2 * i + j].re), 1e-12);
    }
    for (size_t j = 0; j < 3; ++j) {
      long double dot = 0;
      for (size_t k = 0; k < 3; ++k) dot += u.data[3 * k + i].re * u.data[3 * k + j].re;
      EXPECT_NEAR(static_cast<double>(dot), i == j ? 1 : 0, 1e-12);
    }
  }
}

TEST(Eig, ComplexPairs) {
  const Array a = array(DType::f64, {2, 2}, {1, 2, -3, 1});
  const Array values = first(run_prim(Prim::eig, {a}, {{"vectors", true}}));
  EXPECT_EQ(values.dtype, DType::c128);
  for (const Element& e : values.data) {
    EXPECT_NEAR(static_cast<double>(e.re), 1, 1e-12);
    EXPECT_NEAR(std::fabs(static_cast<double>(e.im)), 2.4494897, 1e-6);
  }
}

TEST(Eig, VectorsOfLengthOne) {
  const Array a = array(DType::f64, {3, 3}, {2, 1, 0, 0, 2, 3, 1, 0, -1});
  const Result r = run_prim(Prim::eig, {a}, {{"vectors", true}});
  for (size_t k = 0; k < 3; ++k) {
    const auto at = [&](const Array& x, size_t i) {
      return std::complex<long double>(x.data[i].re, x.data[i].im);
    };
    long double length = 0;
    for (size_t i = 0; i < 3; ++i) {
      std::complex<long double> product = 0;
      for (size_t j = 0; j < 3; ++j) product += a.data[3 * i + j].re * at(r.outputs[1], 3 * j + k);
      const auto x = at(r.outputs[1], 3 * i + k);
      EXPECT_LT(std::abs(product - at(r.outputs[0], k) * x), 1e-12L) << k;
      length += std::norm(x);
    }
    EXPECT_NEAR(static_cast<double>(length), 1, 1e-12) << k;
  }
}

}  // namespace
}  // namespace primset::prims::reference
