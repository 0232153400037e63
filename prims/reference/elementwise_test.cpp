// Elementwise primitives: special values by hand, others correctly rounded by mpmath.
#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

struct UnaryRow {
  Prim prim;
  std::vector<double> x, f32, f64;
};

const UnaryRow kRows[] = {
    {Prim::exp,
     {0.5, -2.25, 3.75},
     {1.6487212181091309, 0.1053992211818695, 42.52108383178711},
     {1.6487212707001282, 0.10539922456186433, 42.52108200006278}},
    {Prim::expm1,
     {1e-10, -0.5, 7.5},
     {1.000000013351432e-10, -0.39346933364868164, 1807.0423583984375},
     {1.00000000005e-10, -0.3934693402873666, 1807.0424144560632}},
    {Prim::log,
     {0.001, 0.9999, 7.5},
     {-6.907755374908447, -0.00010002159251598641, 2.0149030685424805},
     {-6.907755278982137, -0.00010000500033334732, 2.0149030205422647}},
    {Prim::log1p,
     {1e-10, -0.5, 7.5},
     {1.000000013351432e-10, -0.6931471824645996, 2.140066146850586},
     {9.999999999500001e-11, -0.6931471805599453, 2.1400661634962708}},
    {Prim::sin,
     {0.5, -2.25, 100000.0},
     {0.4794255495071411, -0.7780731916427612, 0.03574879840016365},
     {0.479425538604203, -0.7780731968879212, 0.03574879797201651}},
    {Prim::cos,
     {0.5, -2.25, 100000.0},
     {0.8775825500488281, -0.6281736493110657, -0.9993607997894287},
     {0.8775825618903728, -0.6281736227227391, -0.9993608074382124}},
    {Prim::tan,
     {0.5, -2.25, 100000.0},
     {0.5463024973869324, 1.2386276721954346, -0.03577166423201561},
     {0.5463024898437905, 1.2386276162240966, -0.035771662952898776}},
    {Prim::atan,
     {0.5, -2.25, 3.75},
     {0.46364760398864746, -1.1525720357894897, 1.3101938962936401},
     {0.4636476090008061, -1.1525719972156676, 1.3101939350475555}},
    {Prim::tanh,
     {0.5, -2.25, 3.75},
     {0.46211716532707214, -0.9780260920524597, 0.998894453048706},
     {0.46211715726000974, -0.9780261147388136, 0.9988944427261528}},
    {Prim::erf,
     {0.5, -2.25, 3.75},
     {0.5204998850822449, -0.9985373020172119, 0.9999998807907104},
     {0.5204998778130465, -0.9985372834133188, 0.9999998862727434}},
    {Prim::erfc,
     {0.5, -2.25, 9.0},
     {0.4795001149177551, 1.998537302017212, 4.137031708073991e-37},
     {0.4795001221869535, 1.9985372834133188, 4.13703174651381e-37}},
    {Prim::normal_cdf,
     {0.5, -2.25, -9.0},
     {0.6914624571800232, 0.012224473059177399, 1.1285884256611585e-19},
     {0.6914624612740131, 0.012224472655044703, 1.1285884059538405e-19}},
    {Prim::exp2,
     {0.5, -2.25, 3.75},
     {1.4142135381698608, 0.21022410690784454, 13.45434284210205},
     {1.4142135623730951, 0.21022410381342863, 13.454342644059432}},
    {Prim::log2,
     {0.001, 8.0, 7.5},
     {-9.965784072875977, 3.0, 2.906890630722046},
     {-9.965784284662087, 3.0, 2.9068905956085187}},
    {Prim::log10,
     {0.001, 100.0, 7.5},
     {-3.0, 2.0, 0.8750612735748291},
     {-3.0, 2.0, 0.8750612633917001}},
    {Prim::sqrt,
     {2.0, 1e-10, 7.5},
     {1.4142135381698608, 9.999999747378752e-06, 2.7386128902435303},
     {1.4142135623730951, 1e-05, 2.7386127875258306}},
};

TEST(Unary, RoundsTheExactValue) {
  for (const UnaryRow& row : kRows) {
    SCOPED_TRACE(std::string(info(row.prim).name));
    expect_equal(first(run_prim(row.prim, {vector(DType::f32, row.x)})),
                 vector(DType::f32, row.f32));
    expect_equal(first(run_prim(row.prim, {vector(DType::f64, row.x)})),
                 vector(DType::f64, row.f64));
  }
}

TEST(Unary, SpecialValues) {
  const std::vector<double> x = {kNan, kInf, -kInf, 0.0, -0.0};
  auto f = [&](Prim p, const std::vector<double>& y) {
    return PrimCase{p, {vector(DType::f32, x)}, vector(DType::f32, y)};
  };
  expect_cases({
      f(Prim::neg, {kNan, -kInf, kInf, -0.0, 0.0}),
      f(Prim::abs, {kNan, kInf, kInf, 0.0, 0.0}),
      f(Prim::sign, {0, 1, -1, 0, 0}),
      f(Prim::floor, {kNan, kInf, -kInf, 0.0, -0.0}),
      f(Prim::sqrt, {kNan, kInf, kNan, 0.0, -0.0}),
      f(Prim::exp, {kNan, kInf, 0, 1, 1}),
      f(Prim::expm1, {kNan, kInf, -1, 0.0, -0.0}),
      f(Prim::exp2, {kNan, kInf, 0, 1, 1}),
      f(Prim::log, {kNan, kInf, kNan, -kInf, -kInf}),
      f(Prim::log1p, {kNan, kInf, kNan, 0.0, -0.0}),
      f(Prim::log2, {kNan, kInf, kNan, -kInf, -kInf}),
      f(Prim::log10, {kNan, kInf, kNan, -kInf, -kInf}),
      f(Prim::sin, {kNan, kNan, kNan, 0.0, -0.0}),
      f(Prim::cos, {kNan, kNan, kNan, 1, 1}),
      f(Prim::tan, {kNan, kNan, kNan, 0.0, -0.0}),
      f(Prim::tanh, {kNan, 1, -1, 0.0, -0.0}),
      f(Prim::erf, {kNan, 1, -1, 0.0, -0.0}),
      f(Prim::erfc, {kNan, 0, 2, 1, 1}),
  });
}

TEST(Unary, Rounding) {
  const std::vector<double> x = {0.5, 1.5, 2.5, -0.5, -1.5, 2.25, -2.75};
  auto f = [&](Prim p, const std::vector<double>& y) {
    return PrimCase{p, {vector(DType::bf16, x)}, vector(DType::bf16, y)};
  };
  expect_cases({
      f(Prim::floor, {0, 1, 2, -1, -2, 2, -3}),
      f(Prim::ceil, {1, 2, 3, -0.0, -1, 3, -2}),
      f(Prim::trunc, {0, 1, 2, -0.0, -1, 2, -2}),
      f(Prim::round_even, {0, 2, 2, -0.0, -2, 2, -3}),
      f(Prim::sign, {1, 1, 1, -1, -1, 1, -1}),
  });
}

TEST(Unary, Integers) {
  expect_cases({
      {Prim::neg, {integers(DType::i8, {1, -128, 0})}, integers(DType::i8, {-1, -128, 0})},
      {Prim::neg, {integers(DType::u8, {1, 0})}, integers(DType::u8, {255, 0})},
      {Prim::abs, {integers(DType::i8, {-5, -128})}, integers(DType::i8, {5, -128})},
      {Prim::abs, {integers(DType::u64, {-1})}, integers(DType::u64, {-1})},
      {Prim::sign, {integers(DType::i32, {-5, 0, 7})}, integers(DType::i32, {-1, 0, 1})},
      {Prim::sign, {integers(DType::u64, {-1})}, integers(DType::u64, {1})},
      {Prim::bit_not, {integers(DType::u8, {1})}, integers(DType::u8, {254})},
      {Prim::bit_not, {integers(DType::boolean, {1, 0})}, integers(DType::boolean, {0, 1})},
  });
}

TEST(Binary, Floats) {
  auto f = [](Prim p, const std::vector<double>& x, const std::vector<double>& y,
              const std::vector<double>& z) {
    return PrimCase{p, {vector(DType::f32, x), vector(DType::f32, y)}, vector(DType::f32, z)};
  };
  expect_cases({
      f(Prim::add, {1, 0x1p24, kInf}, {2, 1, -kInf}, {3, 0x1p24, kNan}),
      f(Prim::sub, {1, 0.0, kInf}, {2, 0.0, kInf}, {-1, 0.0, kNan}),
      f(Prim::mul, {3, 0.0, 1e30}, {-2, kInf, 1e30}, {-6, kNan, kInf}),
      f(Prim::div, {1, 1, -1, 0}, {3, 0.0, 0.0, 0.0}, {0.3333333432674408, kInf, -kInf, kNan}),
      f(Prim::rem, {5, -5, 1, kInf, 5}, {3, 3, kInf, 2, 0}, {2, -2, 1, kNan, kNan}),
      f(Prim::pow, {2, -8, kNan, 1, -2}, {10, 0.5, 0, kNan, 3}, {1024, kNan, 1, 1, -8}),
      f(Prim::atan2, {0.0, -0.0, 1, kInf}, {-1, -1, 0, kInf},
        {3.1415927410125732, -3.1415927410125732, 1.5707963705062866, 0.7853981852531433}),
      f(Prim::min, {1, kNan, -kInf}, {2, 1, 0}, {1, kNan, -kInf}),
      f(Prim::max, {1, 1, -kInf}, {2, kNan, 0}, {2, kNan, 0}),
  });
}

TEST(Binary, F64IsRoundedOnce) {
  // The exact quotient's 64-bit rounding lies on a tie of f64 for operands like these.
  double x = 0x1.fffffffffffffp0, y = 0x1.0000000000001p0;
  for (Prim p : {Prim::add, Prim::mul, Prim::div}) {
    double want = p == Prim::add ? x + y : p == Prim::mul ? x * y : x / y;
    EXPECT_EQ(first(run_prim(p, {vector(DType::f64, {x}), vector(DType::f64, {y})})).data[0].re,
              want);
  }
  Array r = first(run_prim(
      Prim::fma, {vector(DType::f64, {0.1}), vector(DType::f64, {10}), vector(DType::f64, {-1})}));
  EXPECT_EQ(r.data[0].re, std::fma(0.1, 10.0, -1.0));
}

// What is lost of a difference is multiplied: the error is that of all that follows.
TEST(Binary, DenormalsMayBecomeZerosOnTheWay) {
  const double least = 0x1p-126, y = 0x1p-140;
  const std::vector<Array> inputs = {vector(DType::f32, {y, 1}), vector(DType::f32, {least, 0.5}),
                                     vector(DType::f32, {-3.5, -3.5})};
  const auto build = [](Builder& b, const Builder::Values& v) {
    return Builder::Values{b.binary(Prim::mul, b.binary(Prim::sub, v[0], v[1]), v[2])};
  };
  const Array kept = first(run_graph(inputs, build));
  const Array flushed = first(run_graph(inputs, build, {.flush_f32 = true}));
  EXPECT_EQ(kept.data[0].error, 0);
  EXPECT_GE(flushed.data[0].error, 3.5 * (least - y));
  EXPECT_LT(flushed.data[0].error, 3.6 * least);
  EXPECT_EQ(flushed.data[1].error, 0) << "no denormal there";
}

// A device's difference may keep the denormal that its fma then takes for zero.
TEST(Binary, DenormalOperandsMayCountAsZeros) {
  const double least = 0x1p-126, y = -0x1p-127;
  const std::vector<Array> inputs = {vector(DType::f32, {least}), vector(DType::f32, {y}),
                                     vector(DType::f32, {3})};
  const auto build = [](Builder& b, const Builder::Values& v) {
    return Builder::Values{b.fma(v[2], b.binary(Prim::sub, v[1], v[0]), v[1])};
  };
  EXPECT_EQ(first(run_graph(inputs, build)).data[0].error, 0);
  const Element flushed = first(run_graph(inputs, build, {.flush_f32 = true})).data[0];
  EXPECT_GE(flushed.error, std::fabs(flushed.re - 3 * (y - least)));
  EXPECT_GE(flushed.error, std::fabs(flushed.re + 3 * least));
  EXPECT_LT(flushed.error, 5 * std::fabs(y));
}

TEST(Binary, FmaRoundsOnce) {
  // x*y + z is just above a tie of f32; rounding twice would go down.
  float x = 1 + 0x1p-12f, z = 0x1p-60f;
  Array r = first(run_prim(
      Prim::fma, {vector(DType::f32, {x}), vector(DType::f32, {x}), vector(DType::f32, {z})}));
  EXPECT_EQ(r.data[0].re, std::fma(x, x, z));
  r = first(run_prim(Prim::fma, {vector(DType::f32, {0.0}), vector(DType::f32, {kInf}),
                                 vector(DType::f32, {kNan})}));
  EXPECT_TRUE(std::isnan(r.data[0].re));
}

TEST(Binary, Halves) {
  auto f = [](Prim p, DType t, double x, double y, double z) {
    return PrimCase{p, {vector(t, {x}), vector(t, {y})}, vector(t, {z})};
  };
  expect_cases({
      f(Prim::add, DType::f16, 2048, 1, 2048),
      f(Prim::add, DType::f16, 65504, 32, kInf),
      f(Prim::mul, DType::bf16, 1.0078125, 1.0078125, 1.015625),
      f(Prim::div, DType::f16, 1, 3, 0.333251953125),
  });
}

TEST(Binary, Integers) {
  auto f = [](Prim p, DType t, const std::vector<int64_t>& x, const std::vector<int64_t>& y,
              const std::vector<int64_t>& z) {
    return PrimCase{p, {integers(t, x), integers(t, y)}, integers(t, z)};
  };
  const int64_t low = INT64_MIN;
  expect_cases({
      f(Prim::add, DType::i8, {127, 1}, {1, 2}, {-128, 3}),
      f(Prim::sub, DType::u8, {0}, {1}, {255}),
      f(Prim::mul, DType::i32, {65536, -3}, {65536, 7}, {0, -21}),
      f(Prim::div, DType::i32, {7, -7, 7, 5}, {2, 2, -2, 0}, {3, -3, -3, 0}),
      f(Prim::div, DType::i64, {low}, {-1}, {low}),
      f(Prim::div, DType::u64, {-1}, {2}, {INT64_MAX}),
      f(Prim::rem, DType::i32, {7, -7, 7, 5}, {2, 2, -2, 0}, {1, -1, 1, 0}),
      f(Prim::rem, DType::i64, {low}, {-1}, {0}),
      f(Prim::rem, DType::u64, {-1}, {10}, {5}),
      f(Prim::pow, DType::i64, {2, -1, -1, 3, 0, 1}, {3, 5, -2, 0, -1, -7}, {8, -1, 1, 1, 0, 1}),
      f(Prim::pow, DType::u8, {2}, {9}, {0}),
      f(Prim::min, DType::u64, {-1}, {1}, {1}),
      f(Prim::max, DType::i8, {-1}, {1}, {1}),
      f(Prim::add, DType::boolean, {1, 0}, {1, 0}, {1, 0}),
      f(Prim::mul, DType::boolean, {1, 1}, {1, 0}, {1, 0}),
  });
}

TEST(Bits, LogicAndShifts) {
  auto f = [](Prim p, DType t, const std::vector<int64_t>& x, const std::vector<int64_t>& y,
              const std::vector<int64_t>& z) {
    return PrimCase{p, {integers(t, x), integers(t, y)}, integers(t, z)};
  };
  expect_cases({
      f(Prim::bit_and, DType::i8, {-2, 6}, {7, 3}, {6, 2}),
      f(Prim::bit_or, DType::u8, {6}, {1}, {7}),
      f(Prim::bit_xor, DType::boolean, {1, 1}, {1, 0}, {0, 1}),
      f(Prim::shift_left, DType::i8, {1, 1, 1, 3}, {7, 8, -1, 7}, {-128, 0, 0, -128}),
      f(Prim::shift_right, DType::i8, {-128, -1, -1, 5}, {3, 8, -1, 9}, {-16, -1, -1, 0}),
      f(Prim::shift_right, DType::u8, {128}, {3}, {16}),
      f(Prim::shift_right, DType::u64, {-1}, {63}, {1}),
      f(Prim::mul_high, DType::u32, {0xffffffff}, {0xffffffff}, {0xfffffffe}),
      f(Prim::mul_high, DType::i32, {-1, 0x40000000}, {1, 16}, {-1, 4}),
      f(Prim::mul_high, DType::u64, {-1}, {-1}, {-2}),
      f(Prim::mul_high, DType::i64, {INT64_MIN}, {4}, {-2}),
      f(Prim::mul_high, DType::u8, {200}, {200}, {156}),
  });
}

TEST(Comparison, NanAndZeros) {
  Array x = vector(DType::f32, {1, kNan, -0.0, kInf}), y = vector(DType::f32, {2, kNan, 0.0, kInf});
  expect_cases({
      {Prim::eq, {x, y}, integers(DType::boolean, {0, 0, 1, 1})},
      {Prim::lt, {x, y}, integers(DType::boolean, {1, 0, 0, 0})},
      {Prim::le, {x, y}, integers(DType::boolean, {1, 0, 1, 1})},
      {Prim::lt,
       {integers(DType::u64, {1}), integers(DType::u64, {-1})},
       integers(DType::boolean, {1})},
      {Prim::lt,
       {integers(DType::i64, {1}), integers(DType::i64, {-1})},
       integers(DType::boolean, {0})},
      {Prim::select,
       {integers(DType::boolean, {1, 0, 1, 0}), x, y},
       vector(DType::f32, {1, kNan, -0.0, kInf})},
  });
}

TEST(Complex, Arithmetic) {
  auto z = [](double re, double im) {
    Array a = vector(DType::c64, {re});
    a.data[0].im = im;
    return a;
  };
  expect_cases({
      {Prim::add, {z(1, 2), z(3, -5)}, z(4, -3)},
      {Prim::sub, {z(1, 2), z(3, -5)}, z(-2, 7)},
      {Prim::mul, {z(1, 2), z(3, -5)}, z(13, 1)},
      {Prim::div, {z(13, 1), z(3, -5)}, z(1, 2)},
      {Prim::neg, {z(1, -2)}, z(-1, 2)},
      {Prim::eq, {z(1, -2), z(1, 2)}, integers(DType::boolean, {0})},
  });
}

}  // namespace
}  // namespace primset::prims::reference
