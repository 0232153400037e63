// Expected values of hypot: mpmath at 400 bits, of arguments that f32 holds.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

struct BinaryFunction {
  Prim prim;
  std::vector<Sample> samples;
};

const BinaryFunction kHypot = {
    Prim::hypot,
    {{{3.0, 4.0}, 5.0},
     {{1.0000000200408773e+20, 1.0000000200408773e+20}, 1.4142135907151756e+20},
     {{3.0000000054977558e+38, 9.999999680285692e+37}, 3.1622776552737544e+38},
     {{1.0000000031710769e-30, -2.0000000063421537e-30}, 2.236067984590533e-30},
     {{1.0, 9.99999993922529e-09}, 1.0},
     {{-4.999999675228202e-39, 1.0000002153053333e-39}, 5.099019237352693e-39},
     {{9.99994610111476e-41, 1.0005271035279194e-42}, 1.0000446618529056e-40},
     {{1.6231387853622437, 0.23770469427108765}, 1.64045208348971},
     {{2.161738634109497, -1.6069432497024536}, 2.6935813575917615},
     {{0.0826299786567688, 2.7148044109344482}, 2.7160616162012885},
     {{0.46676886081695557, -0.24520960450172424}, 0.5272579250881398},
     {{-1.3843231201171875, 0.28797784447669983}, 1.4139595962404412},
     {{2.7426977157592773, -2.965745210647583}, 4.039558814339783},
     {{1.701931357383728, 1.9229154586791992}, 2.567912421885422},
     {{2.317077398300171, 1.4430204629898071}, 2.7296805172621954},
     {{1.8548394441604614, 0.11206970363855362}, 1.8582219948346115},
     {{0.36814719438552856, -0.44345593452453613}, 0.576355378736909},
     {{-2.6632602214813232, 2.2200608253479004}, 3.4672215209832133},
     {{0.4199959933757782, -1.8009635210037231}, 1.8492880355525567},
     {{0.02832280471920967, -0.09044932574033737}, 0.09478007065857327},
     {{-0.8592602014541626, -0.9235324859619141}, 1.2614437547627881},
     {{0.23087278008460999, 0.7409366965293884}, 0.7760730821564936},
     {{0.6747148036956787, -0.2511191964149475}, 0.7199311891661503},
     {{-2.8321499824523926, -1.6223697662353516}, 3.263917459357641},
     {{-1.9367324113845825, 0.5067652463912964}, 2.0019349260796595},
     {{2.166053056716919, 1.7906336784362793}, 2.8103656016367244},
     {{1.7825853824615479, 1.8986241817474365}, 2.6043011402834555},
     {{0.0, 0.0}, 0.0},
     {{-0.0, -0.0}, 0.0},
     {{kInf, kNan}, kInf},
     {{kNan, -kInf}, kInf},
     {{kNan, 1.0}, kNan},
     {{0.0, -2.5}, 2.5}}};

TEST(Hypot, NeitherOverflowsNorUnderflowsInBetween) {
  expect_ulps(Prim::hypot, DType::f32, kHypot.samples, 3);
  expect_ulps(Prim::hypot, DType::f64, kHypot.samples, 3);
  expect_ulps(Prim::hypot, DType::f64, {{{1e200, 1e200}, 1.414213562373095e200}}, 3);
}

TEST(Copysign, SignsOfZerosAndNanCount) {
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    expect_equal(derived(Prim::copysign, {vector(t, {1, -2, 0, kInf, 3, 3}),
                                          vector(t, {-0.0, 5, -1, -kInf, -kNan, 0})}),
                 vector(t, {-1, 2, -0.0, -kInf, std::signbit(-kNan) ? -3.0 : 3.0, 3}));
  }
}

// To both sides of where the algorithm goes on in f32.
TEST(Gcd, OfGreatNumbers) {
  expect_equal(derived(Prim::gcd,
                       {integers(DType::i64, {16777216, 16777215, 16777217, 16777213, 600851475143,
                                              4611686018427387904, 9007199254740991, 150994944}),
                        integers(DType::i64, {25165824, 16777213, 97, 16769023, 486847,
                                              1099511627776, 16777215, 100663296})}),
               integers(DType::i64, {8388608, 1, 97, 1, 486847, 1099511627776, 1, 50331648}));
}

// Quotients that round up to the next whole number, that have no fraction left, or none at all.
TEST(FloorDivision, IsOfTheExactQuotient) {
  const Array x =
      vector(DType::f32, {1, 0x1.fffffep+21, -0x1p-149, 0x1p60, -7, -0.0, kInf, 5, -5, 3});
  const Array y = vector(DType::f32, {0.1f, 0.5f, 0x1p100, 3, 2, 2, 2, kInf, kInf, 0});
  expect_equal(
      derived(Prim::floor_div, {x, y}),
      vector(DType::f32, {9, 0x1.fffffcp+22, -1, 0x1.555556p+58, -4, -0.0, kNan, 0, -1, kInf}));
}

TEST(Gcd, OfSignedAndUnsignedNumbers) {
  const int64_t least = INT64_MIN;
  expect_equal(derived(Prim::gcd, {integers(DType::i64, {12, -18, 0, 0, 7, least, least, 6, 6}),
                                   integers(DType::i64, {18, 12, -5, 0, 0, 0, least, least, 6})}),
               integers(DType::i64, {6, 6, 5, 0, 7, least, least, 2, 6}));
  expect_equal(
      derived(Prim::gcd, {integers(DType::u8, {200, 255}), integers(DType::u8, {150, 85})}),
      integers(DType::u8, {50, 85}));
  expect_equal(
      derived(Prim::gcd, {integers(DType::i8, {-128, -128}), integers(DType::i8, {0, 96})}),
      integers(DType::i8, {-128, 32}));
}

// --- ldexp: no power is made that the result does not need ---

double scaled(DType t, double x, int64_t n) {
  const Array y = derived(Prim::ldexp, {vector(t, {x}), integers(DType::i64, {n})});
  return prims::reference::plain(t, y.data[0]);
}

TEST(Ldexp, ScalesWithoutMakingThePower) {
  EXPECT_EQ(scaled(DType::f16, 2, -25), 0x1p-24);
  EXPECT_EQ(scaled(DType::f32, 0, 500), 0);
  EXPECT_EQ(scaled(DType::f32, 0x1.8p-126, 130), 24);
  EXPECT_EQ(scaled(DType::f64, 0x1p-1074, 2097), 0x1p1023);
  EXPECT_EQ(scaled(DType::f64, 0x1.8p1023, -2097), 0x1p-1073);
  EXPECT_EQ(scaled(DType::f32, 0x1p127, -300), 0);
  EXPECT_EQ(scaled(DType::f32, 1, int64_t{1} << 40), kInf);
  EXPECT_EQ(scaled(DType::f64, -3, -(int64_t{1} << 40)), 0);
  EXPECT_EQ(scaled(DType::f32, -kInf, -1000), -kInf);
  EXPECT_TRUE(std::isnan(scaled(DType::f32, kNan, 3)));
}

// Rounded once: in two steps 2^-25 (1 + 2^-23) would be a tie of the coarser denormals.
TEST(Ldexp, RoundsADenormalOnce) {
  for (int64_t n : {-100, -103, -120, -125, -126, -127, -140}) {
    const double x = 0x1.000002p-24;
    EXPECT_EQ(scaled(DType::f32, x, n), static_cast<float>(std::ldexp(x, static_cast<int>(n))));
  }
}

}  // namespace
}  // namespace primset::decomps
