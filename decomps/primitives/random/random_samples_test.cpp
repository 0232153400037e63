// Numbers by rejection and search, against the same methods written in Python over its own Philox,
// with Python's log-gamma in the place of Stirling's series; derivatives of samples by mpmath.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

Result draw_samples(Prim p, const std::vector<Array>& parameters,
                    std::vector<prims::Attr> attrs = {}) {
  Array key = number(DType::i64, 0), offset = key;
  key.data[0].integer = 7;
  offset.data[0].integer = 5;
  std::vector<Array> operands = {key, offset};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return run_derived(p, operands, std::move(attrs));
}

void expect_close(const Array& actual, const std::vector<double>& expected, double error) {
  ASSERT_EQ(actual.data.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(static_cast<double>(actual.data[i].re), expected[i],
                error * std::abs(expected[i]) + 1e-300)
        << i;
}

TEST(RandomGamma, ByMarsagliaAndTsang) {
  const Array alpha = vector(DType::f64, {0.3, 1, 2.5, 50, 0.01, 700});
  expect_close(draw_samples(Prim::random_gamma, {alpha}).outputs[0],
               {7.046820421045258e-08, 0.12746928119376374, 1.3469774254490956, 49.073008602019755,
                9.163569820015652e-11, 697.8261318226403},
               1e-12);
}

TEST(RandomPoisson, BySearchAndByRejection) {
  const Array rate = vector(DType::f64, {0.2, 3, 9.5, 10.5, 40, 2000, 0, 25});
  expect_equal(draw_samples(Prim::random_poisson, {rate}).outputs[0],
               vector(DType::f64, {1, 3, 8, 17, 40, 2000, 0, 25}));
}

TEST(RandomBinomial, BySearchAndByRejection) {
  const Array n = vector(DType::f64, {5, 40, 40, 100, 3000, 1000, 7, 9}),
              p = vector(DType::f64, {0.3, 0.2, 0.75, 0.4, 0.9, 0.005, 1, 0});
  expect_equal(draw_samples(Prim::random_binomial, {n, p}).outputs[0],
               vector(DType::f64, {3, 8, 30, 50, 2701, 4, 7, 0}));
}

TEST(RandomRejection, EndsWithoutSensibleParameters) {
  const Array wrong = vector(DType::f32, {kNan, kInf, -1});
  for (Prim p : {Prim::random_gamma, Prim::random_poisson})
    EXPECT_EQ(draw_samples(p, {wrong}).outputs[0].data.size(), 3u);
  EXPECT_EQ(draw_samples(Prim::random_binomial, {wrong, wrong}).outputs[0].data.size(), 3u);
}

TEST(RandomPermutation, IsOne) {
  const Array y =
      draw_samples(Prim::random_permutation, {}, {{"n", prims::SymInt(100)}}).outputs[0];
  std::vector<int64_t> sorted, order;
  for (const auto& e : y.data) order.push_back(static_cast<int64_t>(e.integer));
  sorted = order;
  std::ranges::sort(sorted);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(sorted[static_cast<size_t>(i)], i);
  EXPECT_NE(sorted, order);
}

TEST(Multinomial, NeverDrawsWhatHasNoWeight) {
  Array weights = vector(DType::f32, {0, 1, 2, 0, 5, 0});
  weights.shape = {1, 6};
  const auto drawn = [&](int64_t samples, bool replacement) {
    return draw_samples(Prim::multinomial, {weights},
                        {{"samples", prims::SymInt(samples)}, {"replacement", replacement}})
        .outputs[0];
  };
  for (const auto& e : drawn(200, true).data)
    EXPECT_TRUE(e.integer == 1 || e.integer == 2 || e.integer == 4);
  std::vector<int64_t> once;
  for (const auto& e : drawn(3, false).data) once.push_back(static_cast<int64_t>(e.integer));
  std::ranges::sort(once);
  EXPECT_EQ(once, (std::vector<int64_t>{1, 2, 4}));
}

TEST(GammaGrad, ByMpmath) {
  const Array a = vector(DType::f64, {0.1, 0.5, 2, 5, 50, 900, 0.01, 3, 200, 20000}),
              x = vector(DType::f64, {0.01, 3, 1, 9, 45, 820, 1e-9, 40, 150, 20300});
  const std::vector<double> expected = {
      0.4227934381297028, 2.9129424164403646, 0.7507786921262598,    1.367118188723254,
      0.9514101922116238, 0.9543535035017834, 2.016238040002079e-06, 2.9347629990088615,
      0.8637637477907577, 1.007471174247204};
  expect_close(derived(Prim::gamma_grad, {a, x}), expected, 1e-9);
  const Array edges = derived(Prim::gamma_grad, {vector(DType::f64, {1, 0, -1, kInf, 1}),
                                                 vector(DType::f64, {0, 1, 1, 1, kInf})});
  EXPECT_EQ(static_cast<double>(edges.data[0].re), 0);
  for (size_t i = 1; i < 5; ++i) EXPECT_TRUE(std::isnan(static_cast<double>(edges.data[i].re)));
}

TEST(DirichletGrad, ByMpmath) {
  const Array x = vector(DType::f64, {0.3, 0.7, 0.01, 0.99, 0.5, 0.4, 0.999, 0}),
              a = vector(DType::f64, {2, 2, 0.1, 0.1, 50, 500, 3, 1}),
              total = vector(DType::f64, {5, 5, 3, 0.2, 100, 1200, 3.5, 2});
  expect_close(derived(Prim::dirichlet_grad, {x, a, total}),
               {0.19929845136598923, 0.3067515481969157, 0.3365350112852042, 50.91756007996762,
                0.010066932556332401, 0.0008169366780887455, 0.3605588772688157, 0},
               1e-12);
}

}  // namespace
}  // namespace primset::decomps
