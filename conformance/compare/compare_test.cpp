#include "conformance/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/cases/inputs/rng.h"
#include "conformance/compare/property.h"
#include "conformance/compare/red_zone.h"
#include "conformance/compare/statistics.h"
#include "prims/reference/array.h"

namespace primset::conformance {
namespace {

using specs::Tolerance;
using specs::ToleranceKind;
using testing::HasSubstr;
using testing::IsEmpty;

const long double kNan = std::nanl("");
constexpr long double kInf = HUGE_VALL;

Element number(long double re, long double error = 0, long double im = 0) {
  Element e;
  e.re = re;
  e.im = im;
  e.error = error;
  return e;
}

Array one(DType t, Element e) {
  return {t, {}, {e}};
}

bool accepts(DType t, Element expected, Element actual, ComparePolicy policy = {}) {
  return compare(one(t, expected), one(t, actual), policy).ok();
}

TEST(Compare, TheReferencesBoundDecides) {
  EXPECT_TRUE(accepts(DType::f32, number(1), number(1)));
  EXPECT_FALSE(accepts(DType::f32, number(1), number(1 + 0x1p-23L)));
  EXPECT_TRUE(accepts(DType::f32, number(1, 0x1p-22L), number(1 + 0x1p-23L)));
  EXPECT_FALSE(accepts(DType::f32, number(1, 0x1p-23L), number(1 + 0x1p-22L)));
}

TEST(Compare, Specials) {
  EXPECT_TRUE(accepts(DType::f32, number(kNan), number(kNan)));
  EXPECT_FALSE(accepts(DType::f32, number(kNan), number(0)));
  EXPECT_FALSE(accepts(DType::f32, number(0, 100), number(kNan)));
  EXPECT_TRUE(accepts(DType::f32, number(kInf), number(kInf)));
  EXPECT_FALSE(accepts(DType::f32, number(kInf), number(-kInf)));
  EXPECT_FALSE(accepts(DType::f32, number(1e30L, 1e30L), number(kInf)));
  Element any;
  any.undecided = true;
  EXPECT_TRUE(accepts(DType::f32, any, number(kNan)));
}

TEST(Compare, ComplexInfinityHasAnyOtherPart) {
  EXPECT_TRUE(accepts(DType::c64, number(kInf, 0, kNan), number(kInf, 0, 3)));
  EXPECT_FALSE(accepts(DType::c64, number(kInf, 0, kNan), number(kNan, 0, kNan)));
  EXPECT_TRUE(accepts(DType::c64, number(kNan, 0, 1), number(1, 0, kNan)));
  EXPECT_TRUE(accepts(DType::c64, number(3, 0.5L, 4), number(3.3L, 0, 4.3L)));
  EXPECT_FALSE(accepts(DType::c64, number(3, 0.4L, 4), number(3.3L, 0, 4.3L)));
}

TEST(Compare, IntegersAreExact) {
  Element a, b;
  a.integer = 5;
  b.integer = 6;
  a.error = 100;
  EXPECT_FALSE(accepts(DType::i64, a, b));
  EXPECT_TRUE(accepts(DType::i64, a, a));
}

TEST(Compare, SignedZero) {
  EXPECT_TRUE(accepts(DType::f32, number(0), number(-0.0L)));
  ComparePolicy policy;
  policy.signed_zero = true;
  EXPECT_FALSE(accepts(DType::f32, number(0), number(-0.0L), policy));
  EXPECT_TRUE(accepts(DType::f32, number(-0.0L), number(-0.0L), policy));
}

TEST(Compare, FlushedDenormals) {
  Element denormal = number(0x1p-140L);
  EXPECT_FALSE(accepts(DType::f32, denormal, number(0)));
  ComparePolicy policy;
  policy.flush_f32 = true;
  EXPECT_TRUE(accepts(DType::f32, denormal, number(0), policy));
  EXPECT_FALSE(accepts(DType::f64, denormal, number(0), policy));
  EXPECT_FALSE(accepts(DType::f32, number(0x1p-100L), number(0), policy));
  Element sum = number(0x1p-123L);
  const Element without_a_term = number(0x1p-123L - 0x1p-127L);
  EXPECT_FALSE(accepts(DType::f32, sum, without_a_term, policy));
  sum.error = 0x1p-148L;
  EXPECT_TRUE(accepts(DType::f32, sum, without_a_term, policy));
  EXPECT_FALSE(accepts(DType::f32, sum, number(0x1p-123L - 0x1p-125L), policy));
}

struct StatedCase {
  Tolerance tolerance;
  long double off;  // of an expected 1 of f32, in ulps
  bool accepted;
};
TEST(Compare, StatedTolerances) {
  const StatedCase kCases[] = {
      {{ToleranceKind::exact, 0}, 0, true},
      {{ToleranceKind::exact, 0}, 1, false},
      {{ToleranceKind::ulp, 4}, 4, true},
      {{ToleranceKind::ulp, 4}, 5, false},
      {{ToleranceKind::rounded, 0}, 1, false},
      {{ToleranceKind::absolute, 0x1p-20}, 8, true},
      {{ToleranceKind::absolute, 0x1p-20}, 9, false},
  };
  for (const StatedCase& c : kCases) {
    ComparePolicy policy;
    policy.tolerance = c.tolerance;
    EXPECT_EQ(accepts(DType::f32, number(1), number(1 + c.off * 0x1p-23L), policy), c.accepted)
        << static_cast<int>(c.tolerance.kind) << " " << static_cast<double>(c.off);
  }
}

TEST(Compare, AccumulationGrowsWithTheLogarithmOfTerms) {
  ComparePolicy few, many;
  few.tolerance = many.tolerance = Tolerance{ToleranceKind::accumulate, 1};
  few.terms = 2;
  many.terms = 1 << 20;
  long double a = bound(*few.tolerance, few, DType::f32, number(1), 100);
  long double b = bound(*many.tolerance, many, DType::f32, number(1), 100);
  EXPECT_GT(b, 5 * a);
  EXPECT_LT(b, 25 * a);
}

TEST(Compare, SaysWhereAndHowFar) {
  Array expected{DType::f32, {2, 2}, {number(1), number(2, 0.5L), number(3), number(4)}};
  Array actual = expected;
  actual.data[1].re = 2.25L;
  actual.data[2].re = 5;
  actual.data[3].re = 6;
  Comparison c = compare(expected, actual, {});
  EXPECT_EQ(c.wrong, 2u);
  EXPECT_THAT(c.first, HasSubstr("at [1, 0]: got 5, expected 3"));
  EXPECT_THAT(c.first, HasSubstr("2 of 4 differ"));
  EXPECT_EQ(c.max_share, HUGE_VAL);
  actual.data[2].re = 3;
  actual.data[3].re = 4;
  EXPECT_EQ(compare(expected, actual, {}).max_share, 0.5);
}

// --- fences

class RedZone : public testing::Test {
 protected:
  RedZone() {
    Array values{DType::f32, {3, 2}, std::vector<Element>(6, number(1))};
    tensor_ = place(before_, values, LayoutKind::padded);
    after_ = before_;
  }
  std::string stray(size_t byte, bool written) {
    after_[0][byte] ^= std::byte{1};
    std::vector<HostTensor> tensors = {tensor_};
    return find_out_of_bounds_write(before_, after_, tensors,
                                    written ? tensors : std::vector<HostTensor>{})
        .value_or("");
  }
  std::vector<HostStorage> before_, after_;
  HostTensor tensor_;
};

TEST_F(RedZone, Before) {
  EXPECT_THAT(stray(kGuardBytes - 1, true), HasSubstr("before the first"));
}
TEST_F(RedZone, Behind) {
  EXPECT_THAT(stray(before_[0].size() - kGuardBytes, true), HasSubstr("behind the last"));
}
TEST_F(RedZone, Gap) {
  EXPECT_THAT(stray(kGuardBytes + 8, true), HasSubstr("in a gap"));
}
TEST_F(RedZone, Input) {
  EXPECT_THAT(stray(kGuardBytes, false), HasSubstr("only read"));
}
TEST_F(RedZone, Written) {
  EXPECT_THAT(stray(kGuardBytes, true), IsEmpty());
}

// --- statistics

std::vector<double> draw(const std::function<double(Rng&)>& f, size_t n = 5000) {
  Rng rng(42);
  std::vector<double> out;
  for (size_t i = 0; i < n; ++i) out.push_back(f(rng));
  return out;
}

double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(6.283185307179586 * rng.uniform());
}

TEST(Statistics, RightSamplesFitAndWrongOnesDoNot) {
  struct {
    const char* op;
    Parameters parameters;
    std::function<double(Rng&)> right, wrong;
  } const kCases[] = {
      {"uniform_",
       {-1, 2},
       [](Rng& r) { return r.uniform(-1, 2); },
       [](Rng& r) { return r.uniform(-1, 1.8); }},
      {"normal_",
       {1, 2},
       [](Rng& r) { return 1 + 2 * normal(r); },
       [](Rng& r) { return 1 + 1.6 * normal(r); }},
      {"exponential_",
       {2, 0},
       [](Rng& r) { return -std::log1p(-r.uniform()) / 2; },
       [](Rng& r) { return -std::log1p(-r.uniform()) / 2.4; }},
      {"bernoulli",
       {0.3, 0},
       [](Rng& r) { return r.uniform() < 0.3; },
       [](Rng& r) { return r.uniform() < 0.36; }},
      {"randint",
       {0, 10},
       [](Rng& r) { return static_cast<double>(r.below(10)); },
       [](Rng& r) { return static_cast<double>(r.below(9)); }},
      {"randint",
       {-100, 900},
       [](Rng& r) { return static_cast<double>(r.between(-100, 899)); },
       [](Rng& r) { return static_cast<double>(r.between(-100, 950)); }},
      {"geometric_",
       {0.4, 0},
       [](Rng& r) { return std::floor(std::log1p(-r.uniform()) / std::log(0.6)) + 1; },
       [](Rng& r) { return std::floor(std::log1p(-r.uniform()) / std::log(0.6)); }},
  };
  for (const auto& c : kCases) {
    std::optional<Distribution> d = distribution(c.op, c.parameters);
    ASSERT_TRUE(d) << c.op;
    EXPECT_EQ(test_fit(*d, draw(c.right)), "") << c.op;
    EXPECT_NE(test_fit(*d, draw(c.wrong)), "") << c.op;
  }
  EXPECT_FALSE(distribution("add", {}));
}

TEST(Statistics, PValues) {
  // A sample that is spaced perfectly is as near as can be; one shifted by 0.1 is far.
  std::vector<double> even;
  for (int i = 0; i < 1000; ++i) even.push_back((i + 0.5) / 1000);
  auto identity = [](double x) { return x; };
  EXPECT_GT(ks_p_value(even, identity), 0.99);
  for (double& x : even) x = std::min(1.0, x + 0.1);
  EXPECT_LT(ks_p_value(even, identity), 1e-6);
  // Chi-square of 10 with 4 degrees of freedom has p = 0.0404.
  const uint64_t counts[] = {30, 20, 20, 20, 10};
  const double expected[] = {20, 20, 20, 20, 20};
  EXPECT_NEAR(chi_square_p_value(counts, expected), 0.0404, 0.0001);
}

// --- properties

Array matrix(std::vector<int64_t> shape, const std::vector<double>& values) {
  Array a = prims::reference::make_array(DType::f64, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) a.data[i].re = static_cast<long double>(values[i]);
  return a;
}

TEST(Property, Qr) {
  ASSERT_NE(property_of("linalg_qr"), nullptr);
  const auto qr = property_of("linalg_qr")->check;
  Array a = matrix({2, 2}, {0, -2, 1, 3});
  Array q = matrix({2, 2}, {0, -1, 1, 0}), r = matrix({2, 2}, {1, 3, 0, 2});
  EXPECT_EQ(qr(std::vector{a}, std::vector{q, r}), "");
  // Signs may differ.
  Array q2 = matrix({2, 2}, {0, 1, 1, 0}), r2 = matrix({2, 2}, {1, 3, 0, -2});
  EXPECT_EQ(qr(std::vector{a}, std::vector{q2, r2}), "");
  EXPECT_THAT(qr(std::vector{a}, std::vector{q, r2}), HasSubstr("Q R differs"));
  Array i = matrix({2, 2}, {1, 0, 0, 1});
  EXPECT_THAT(qr(std::vector{a}, std::vector{i, a}), HasSubstr("not triangular"));
  EXPECT_THAT(qr(std::vector{a}, std::vector{a, i}), HasSubstr("not orthonormal"));
}

TEST(Property, EighAndSvd) {
  const Array i = matrix({2, 2}, {1, 0, 0, 1});
  const Array rising = matrix({2}, {2, 3}), falling = matrix({2}, {3, 2});
  const Array of_rising = matrix({2, 2}, {2, 0, 0, 3}), of_falling = matrix({2, 2}, {3, 0, 0, 2});
  const auto eigh = property_of("linalg_eigh")->check, svd = property_of("linalg_svd")->check;
  EXPECT_EQ(eigh(std::vector{of_rising}, std::vector{rising, i}), "");
  EXPECT_THAT(eigh(std::vector{of_falling}, std::vector{falling, i}), HasSubstr("not in order"));
  EXPECT_NE(eigh(std::vector{of_rising}, std::vector{falling, i}), "");
  EXPECT_EQ(svd(std::vector{of_falling}, std::vector{i, falling, i}), "");
  EXPECT_THAT(svd(std::vector{of_rising}, std::vector{i, rising, i}), HasSubstr("not in order"));
  EXPECT_NE(svd(std::vector{of_falling}, std::vector{i, rising, i}), "");
  EXPECT_EQ(property_of("add"), nullptr);
}

TEST(Property, PackedLu) {
  const Array a = matrix({2, 2}, {1, 2, 4, 6});
  const Array exchanged = matrix({2, 2}, {4, 6, 0.25, 0.5}), kept = matrix({2, 2}, {1, 2, 4, -2});
  const auto pivots = [](std::vector<int64_t> rows) {
    Array p = prims::reference::make_array(DType::i32, {static_cast<int64_t>(rows.size())});
    for (size_t i = 0; i < rows.size(); ++i) p.data[i].integer = rows[i];
    return p;
  };
  const auto lu = property_of("linalg_lu_factor")->check;
  EXPECT_EQ(lu(std::vector{a}, std::vector{exchanged, pivots({2, 2})}), "");
  EXPECT_THAT(lu(std::vector{a}, std::vector{exchanged, pivots({1, 2})}), HasSubstr("L U differs"));
  EXPECT_THAT(lu(std::vector{a}, std::vector{exchanged, pivots({3, 2})}), HasSubstr("pivot"));
  EXPECT_THAT(lu(std::vector{a}, std::vector{kept, pivots({1, 2})}), HasSubstr("not exchanged"));

  const auto primitive = property_of("prim/lu")->check;
  EXPECT_EQ(primitive(std::vector{a}, std::vector{exchanged, pivots({2, 2}), pivots({1, 0})}), "");
  EXPECT_THAT(primitive(std::vector{a}, std::vector{exchanged, pivots({2, 2}), pivots({0, 1})}),
              HasSubstr("not by the pivots"));
}

TEST(Property, JudgesSomeResults) {
  const Property* det = property_of("_linalg_det");
  ASSERT_NE(det, nullptr);
  EXPECT_FALSE(det->covers(0));
  EXPECT_TRUE(det->covers(1));
  EXPECT_TRUE(det->covers(2));
  const Array a = matrix({2, 2}, {1, 4, 2, 6}), factors = matrix({2, 2}, {4, 6, 0.25, 0.5});
  Array pivots = prims::reference::make_array(DType::i32, {2});
  pivots.data[0].integer = pivots.data[1].integer = 2;
  EXPECT_EQ(det->check(std::vector{a}, std::vector{factors, pivots}), "") << "of the transpose";
}

TEST(Property, Permutation) {
  const auto p = property_of("randperm")->check;
  EXPECT_EQ(p({}, std::vector{matrix({3}, {2, 0, 1})}), "");
  EXPECT_NE(p({}, std::vector{matrix({3}, {2, 0, 2})}), "");
  EXPECT_NE(p({}, std::vector{matrix({3}, {3, 0, 1})}), "");
}

TEST(Compare, AnotherAnswerIsRightElementByElement) {
  const Array expected{DType::f32, {3}, {number(1), number(2), number(3)}};
  const Array other{DType::f32, {3}, {number(1), number(-kInf), number(30)}};
  const auto wrong = [&](long double a, long double b, long double c) {
    const Array actual{DType::f32, {3}, {number(a), number(b), number(c)}};
    return compare(expected, actual, {}, &other).wrong;
  };
  EXPECT_EQ(wrong(1, 2, 3), 0u);
  EXPECT_EQ(wrong(1, -kInf, 3), 0u);
  EXPECT_EQ(wrong(1, -kInf, 30), 0u);
  EXPECT_EQ(wrong(1, kInf, 31), 2u);
}

}  // namespace
}  // namespace primset::conformance
