// The bounds that elements carry: a device within them is right, one outside is wrong.
#include <random>

#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

Element one(Prim p, const std::vector<Array>& inputs, std::vector<Attr> attrs = {}) {
  return first(run_prim(p, inputs, std::move(attrs))).data[0];
}

Array inexact(double v, double error, DType t = DType::f32) {
  return with_errors(vector(t, {v}), {error});
}

TEST(Bound, ExactOperandsOfARoundedOperationLeaveNoChoice) {
  EXPECT_EQ(one(Prim::add, {vector(DType::f32, {0.1}), vector(DType::f32, {0.2})}).error, 0);
  EXPECT_EQ(one(Prim::sqrt, {vector(DType::f32, {2})}).error, 0);
}

TEST(Bound, UlpTolerance) {
  // exp may be off by 3 ulp of f32, the reference itself by half of one.
  Element e = one(Prim::exp, {vector(DType::f32, {0.7})});
  EXPECT_GE(e.error, 3 * ulp(e.re, DType::f32));
  EXPECT_LE(e.error, 3.5L * ulp(e.re, DType::f32));
}

TEST(Bound, AddsErrors) {
  Element e = one(Prim::add, {inexact(1, 0.25), inexact(2, 0.5)});
  EXPECT_EQ(e.re, 3);
  EXPECT_NEAR(static_cast<double>(e.error), 0.75, 1e-6);
}

TEST(Bound, GrowsWithTheSlope) {
  Element e = one(Prim::exp, {inexact(2, 0.01)});
  EXPECT_NEAR(static_cast<double>(e.error), std::exp(2.01) - std::exp(2), 1e-5);
  e = one(Prim::mul, {inexact(10, 0.1), inexact(-20, 0.2)});
  EXPECT_NEAR(static_cast<double>(e.error), 10 * 0.2 + 20 * 0.1 + 0.02, 1e-4);
}

TEST(Bound, SineIsGentle) {
  Element e = one(Prim::sin, {inexact(1e10, 1e6)});
  EXPECT_NEAR(static_cast<double>(e.error), 2, 1e-5);
}

TEST(Undecided, JumpsAndEdges) {
  EXPECT_TRUE(one(Prim::floor, {inexact(2, 0.1)}).undecided);
  EXPECT_FALSE(one(Prim::floor, {inexact(2.5, 0.1)}).undecided);
  EXPECT_TRUE(one(Prim::log, {inexact(0.1, 0.2)}).undecided);
  EXPECT_TRUE(one(Prim::sqrt, {inexact(0.1, 0.2)}).undecided);
  EXPECT_TRUE(one(Prim::div, {vector(DType::f32, {1}), inexact(0.1, 0.2)}).undecided);
  EXPECT_TRUE(one(Prim::tan, {inexact(1.57, 0.01)}).undecided);
  EXPECT_TRUE(one(Prim::atan2, {inexact(0.0, 0.1), vector(DType::f32, {-1})}).undecided);
  EXPECT_FALSE(one(Prim::atan2, {inexact(0.0, 0.1), vector(DType::f32, {1})}).undecided);
  EXPECT_TRUE(one(Prim::rem, {inexact(3, 0.1), vector(DType::f32, {3})}).undecided);
  EXPECT_TRUE(one(Prim::exp, {inexact(88.7, 0.1)}).undecided);  // finite, or inf
  EXPECT_TRUE(one(Prim::sign, {inexact(0.1, 0.2)}).undecided);
}

TEST(Undecided, Comparisons) {
  Array x = inexact(1, 0.1), y = inexact(1.15, 0.1), far = inexact(2, 0.1);
  for (Prim p : {Prim::eq, Prim::lt, Prim::le}) {
    EXPECT_TRUE(one(p, {x, y}).undecided);
    EXPECT_FALSE(one(p, {x, far}).undecided);
  }
}

TEST(Undecided, SelectWidensOverBothArms) {
  auto choose = [](double y) {
    return first(run_graph({inexact(0, 0.5), inexact(y, 0.25)},
                           [](Builder& b, const Builder::Values& v) {
                             ValueId zero = b.constant(Scalar(0.0), DType::f32, {1});
                             return Builder::Values{
                                 b.select(b.binary(Prim::lt, v[0], zero), v[0], v[1])};
                           }))
        .data[0];
  };
  Element near = choose(0.5);
  EXPECT_FALSE(near.undecided);
  EXPECT_EQ(near.error, 0.75L);
  EXPECT_TRUE(choose(2).undecided);
}

TEST(Undecided, ZeroFactorsDecide) {
  Array unknown = vector(DType::f32, {0});
  Array mask = first(run_prim(Prim::lt, {inexact(0, 1), inexact(0, 1)}));
  ASSERT_TRUE(mask.data[0].undecided);
  EXPECT_FALSE(one(Prim::bit_and, {mask, integers(DType::boolean, {0})}).undecided);
  EXPECT_TRUE(one(Prim::bit_and, {mask, integers(DType::boolean, {1})}).undecided);
  EXPECT_FALSE(one(Prim::bit_or, {mask, integers(DType::boolean, {1})}).undecided);
}

TEST(Undecided, IndexOfAnExtremeThatAnotherMayBe) {
  Array x = with_errors(vector(DType::f32, {1, 3, 2.9}), {0, 0, 0.2});
  EXPECT_TRUE(one(Prim::argmax, {x}, {{"dim", int64_t{0}}}).undecided);
  EXPECT_FALSE(one(Prim::argmin, {x}, {{"dim", int64_t{0}}}).undecided);
}

// Any order of adding up stays within the bound.
TEST(Bound, SumsInAnyOrder) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<double> x;
  for (int i = 0; i < 1000; ++i) x.push_back(normal(random) * 100);
  Element e = one(Prim::reduce_sum, {vector(DType::f32, x)}, {{"dims", Ints{0}}});
  for (int round = 0; round < 50; ++round) {
    std::shuffle(x.begin(), x.end(), random);
    float sum = 0;
    for (double v : x) sum += static_cast<float>(v);
    ASSERT_LE(std::fabs(sum - e.re), e.error);
  }
}

TEST(Bound, OverflowThatDependsOnTheOrder) {
  Array x = vector(DType::f32, {3e38, 3e38, -3e38});
  EXPECT_TRUE(one(Prim::reduce_sum, {x}, {{"dims", Ints{0}}}).undecided);
  Array y = vector(DType::f32, {3e38, 3e38, 1});
  EXPECT_EQ(one(Prim::reduce_sum, {y}, {{"dims", Ints{0}}}).re, HUGE_VALL);
  Array z = vector(DType::f32, {1e30, 1e30, 1e-30});
  EXPECT_TRUE(one(Prim::reduce_prod, {z}, {{"dims", Ints{0}}}).undecided);
}

}  // namespace
}  // namespace primset::prims::reference
