// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Ints = std::vector<int64_t>;

Array sample(DType t) {
  return array(t, {2, 3, 4}, {-0.25, 0.125, 0.625, -0.5,  -1.625, -0.75, 0.625,  0.875,
                              1.125, 0.375, 0.75,  0.875, 0.5,    -1.5,  -1.875, 0.25,
                              0.0,   0.25,  0.75,  -1.0,  1.125,  0.375, 0.125,  -0.125});
}

double precision(DType t) {
  return t == DType::f64 ? 4e-16 : t == DType::f32 ? 4e-7 : 5e-4;
}

TEST(Mean, RoundsOnce) {
  for (DType t : {DType::f16, DType::f32, DType::f64}) {
    expect_near(derived(Prim::mean, {sample(t)}, {{"dims", Ints{0, 2}}}), {3},
                {-0.328125, -0.109375, 0.578125}, 0);
  }
  expect_near(derived(Prim::mean, {vector(DType::f32, {})}, {{"dims", Ints{0}}}), {}, {kNan}, 0);
}

Result var_mean(const Array& x, Ints dims, double correction) {
  return run_derived(Prim::var_mean, {x}, {{"dims", dims}, {"correction", Scalar(correction)}});
}

TEST(VarMean, InOnePass) {
  for (DType t : {DType::f16, DType::f32, DType::f64}) {
    const Result r = var_mean(sample(t), {0, 2}, 1);
    expect_near(r.outputs[0], {3}, {0.8479352678571429, 0.8412388392857143, 0.2140066964285714},
                precision(t));
    expect_near(r.outputs[1], {3}, {-0.328125, -0.109375, 0.578125}, precision(t));
  }
}

TEST(VarMean, LargeMeansAndFewValues) {
  expect_near(
      var_mean(vector(DType::f64, {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}), {0}, 1).outputs[0], {},
      {30}, 1e-15);
  expect_near(var_mean(vector(DType::f32, {3e30}), {0}, 0).outputs[0], {}, {0}, 0);
  expect_near(var_mean(vector(DType::f32, {1}), {0}, 1).outputs[0], {}, {kNan}, 0);
  expect_near(var_mean(vector(DType::f32, {1, 2}), {0}, 3).outputs[0], {}, {kInf}, 0);
}

TEST(VarMean, InfinitiesHaveNone) {
  for (const std::vector<double>& x :
       {std::vector<double>{kInf, 1}, {1, kInf}, {-kInf}, {1, kNan}}) {
    const auto n = static_cast<int64_t>(x.size());
    expect_near(var_mean(array(DType::f32, {n}, x), {0}, 0).outputs[0], {}, {kNan}, 0);
  }
}

Array norm(const Array& x, double p, Ints dims, DeviceTraits device = {}) {
  return derived(Prim::vector_norm, {x}, {{"p", Scalar(p)}, {"dims", dims}}, device);
}

// As a CPU takes it. The numbers are exact to some units in the last place, denormals to half of
// theirs.
TEST(VectorNorm, OfWholeRangesInOnePass) {
  const DeviceTraits cpu{.fast_f64 = true};
  const auto expect_norm = [&](DType type, const std::vector<double>& x, double want,
                               double error) {
    SCOPED_TRACE(testing::Message() << "norm " << want);
    expect_near(norm(vector(type, x), 2, {0}, cpu), {}, {want}, error);
  };
  expect_norm(DType::f64, {3, -4}, 5, 0);
  expect_norm(DType::f64, {3e200, 4e200}, 5e200, 4e-16);
  expect_norm(DType::f64, {3e-200, 4e-200}, 5e-200, 4e-16);
  expect_norm(DType::f64, {3e-320, 4e-320}, 5e-320, 1e-3);
  expect_norm(DType::f64, {1e300, 1e-300, 1}, 1e300, 4e-16);
  expect_norm(DType::f64, {1e-160, 1e-170}, 1e-160, 4e-16);
  expect_norm(DType::f64, {kInf, 1}, kInf, 0);
  expect_norm(DType::f64, {-kInf, kNan}, kNan, 0);
  // The reference's bounds of roots of 0 reach below it.
  for (const std::vector<double>& zeros : {std::vector<double>{0, -0.0}, {}})
    EXPECT_EQ(
        prims::reference::plain(DType::f64, norm(vector(DType::f64, zeros), 2, {0}, cpu).data[0]),
        0);
  for (const DType type : {DType::f32, DType::bf16}) {
    expect_norm(type, {3e38, 1}, 3e38, 4e-3);
    expect_norm(type, {3e-38, 4e-38}, 5e-38, 4e-3);
    expect_norm(type, {kNan, kInf}, kNan, 0);
  }
  expect_near(norm(array(DType::f64, {2, 2}, {3e200, 1, 4e200, 1}), 2, {0}, cpu), {2},
              {5e200, 1.4142135623730951}, 4e-16);
}

TEST(VectorNorm, OfManyOrders) {
  Array x = sample(DType::f64);
  for (auto& e : x.data) e.re += 0.0625L;
  const struct {
    double p;
    std::vector<double> want;
  } cases[] = {
      {2,
       {1.9714762869484381, 0.8361930100162283, 1.2670709332945809, 1.3961442439805423,
        1.3154728237405742, 1.5347536447260843, 1.995111212439046, 0.9901862198596787}},
      {3,
       {1.764730046093081, 0.7460732264805735, 1.058592916705725, 1.2008534329748082,
        1.2282163326897129, 1.455699611491926, 1.8659985216271893, 0.9490244197771809}},
      {0.5,
       {7.688072898852314, 3.7002628411107485, 6.55206518577535, 6.749237691489901,
        4.3669494717703365, 5.853557827289094, 7.18610811130435, 3.1586631701939494}},
      {-1,
       {0.14672570016474465, 0.11020992366412213, 0.24155405405405406, 0.22629310344827588,
        0.05370603015075377, 0.16177652733118972, 0.14053180914512922, 0.049342105263157895}},
      {1, {2.9375, 1.3125, 2.1875, 2.3125, 1.8125, 2.1875, 2.8125, 1.3125}},
  };
  for (const auto& c : cases) expect_near(norm(x, c.p, {1}), {2, 4}, c.want, 1e-15);
}

TEST(VectorNorm, Extremes) {
  const Array x = vector(DType::f32, {3e38, -3e38, 0, 1});
  expect_near(norm(x, kInf, {0}), {}, {static_cast<float>(3e38)}, 0);
  expect_near(norm(x, -kInf, {0}), {}, {0}, 0);
  expect_near(norm(x, 0, {0}), {}, {3}, 0);
  expect_near(norm(x, -2, {0}), {}, {0}, 0);
  expect_near(norm(vector(DType::f32, {2e38, 2e38}), 2, {0}), {}, {2.8284271247461903e38}, 2e-7);
  expect_near(norm(vector(DType::f32, {3e-40, 4e-40}), 2, {0}), {}, {5e-40}, 1e-5);
  expect_near(norm(vector(DType::f32, {kInf, 1}), 2, {0}), {}, {kInf}, 0);
  expect_near(norm(vector(DType::f32, {kNan, kInf}), 3, {0}), {}, {kNan}, 0);
  expect_near(norm(vector(DType::f32, {}), 2, {0}), {}, {0}, 0);
}

Array log_sum_exp(const Array& x, Ints dims) {
  return derived(Prim::log_sum_exp, {x}, {{"dims", dims}});
}

TEST(LogSumExp, ShiftedByAFiniteMaximum) {
  expect_near(log_sum_exp(sample(DType::f64), {0, 2}), {3},
              {2.0406952127849083, 2.27267257664613, 2.7473950856038374}, 1e-15);
  expect_near(log_sum_exp(vector(DType::f32, {1000, 1000}), {0}), {}, {1000.6931471805599}, 1e-7);
  expect_near(log_sum_exp(vector(DType::f32, {-kInf, -kInf}), {0}), {}, {-kInf}, 0);
  expect_near(log_sum_exp(vector(DType::f32, {kInf, -kInf}), {0}), {}, {kInf}, 0);
  expect_near(log_sum_exp(vector(DType::f32, {}), {0}), {}, {-kInf}, 0);
}

}  // namespace
}  // namespace primset::decomps
