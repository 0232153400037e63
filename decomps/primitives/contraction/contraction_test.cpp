// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Ints = std::vector<int64_t>;
using prims::SymInts;

double precision(DType t) {
  return t == DType::f64 ? 1e-15 : t == DType::f32 ? 5e-7 : 1e-3;
}

Array matmul(const Array& a, const Array& b, const Array& bias, double scale,
             const char* activation) {
  return derived(Prim::matmul, {a, b, bias},
                 {{"scale", Scalar(scale)}, {"activation", std::string(activation)}});
}

TEST(Matmul, BatchesScaleAndBias) {
  for (DType t : {DType::f16, DType::f32, DType::f64, DType::i32}) {
    Array a = prims::reference::make_array(t, {2, 2, 2}),
          b = prims::reference::make_array(t, {2, 2, 1});
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {1, -1, 2, 1};
    for (size_t i = 0; i < 8; ++i)
      a.data[i] = prims::reference::convert({x[i], 0, 0, 0, false}, DType::f64, t);
    for (size_t i = 0; i < 4; ++i)
      b.data[i] = prims::reference::convert({y[i], 0, 0, 0, false}, DType::f64, t);
    expect_near(matmul(a, b, absent(), 1, "none"), {2, 2, 1}, {-1, -1, 16, 22}, 0);
    const Array bias = is_floating(t) ? vector(t, {10}) : integers(t, {10});
    expect_near(matmul(a, b, bias, 2, "none"), {2, 2, 1}, {8, 8, 42, 54}, 0);
  }
}

TEST(Matmul, Activations) {
  const Array a = array(DType::f64, {3, 1}, {-1, 0, 1.5}), b = array(DType::f64, {1, 1}, {1});
  const struct {
    const char* activation;
    std::vector<double> want;
  } cases[] = {
      {"relu", {0, 0, 1.5}},
      {"gelu", {-0.15865525393145702, 0, 1.399789198096713}},
      {"gelu_tanh", {-0.15880800939172324, 0, 1.3995715769802328}},
      {"silu", {-0.2689414213699951, 0, 1.2263617142904655}},
  };
  for (const auto& c : cases)
    expect_near(matmul(a, b, absent(), 1, c.activation), {3, 1}, c.want, 1e-15);
}

TEST(Matmul, OfNothingGivesTheBias) {
  const Array a = array(DType::f32, {1, 0}, {}), b = array(DType::f32, {0, 2}, {});
  expect_near(matmul(a, b, vector(DType::f32, {3, 4}), 1, "none"), {1, 2}, {3, 4}, 0);
}

// Integers from -below on, over and over.
Array cycle(DType t, Ints shape, int64_t period, int64_t below) {
  Array a = prims::reference::make_array(t, std::move(shape));
  for (size_t i = 0; i < a.data.size(); ++i)
    a.data[i].re = static_cast<long double>(static_cast<int64_t>(i) % period - below);
  return a;
}

struct Shape {
  SymInts stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

Array convolution(const Array& x, const Array& w, const Array& bias, const Shape& s) {
  return derived(Prim::convolution, {x, w, bias},
                 {{"stride", s.stride},
                  {"padding", s.padding},
                  {"dilation", s.dilation},
                  {"transposed", s.transposed},
                  {"output_padding", s.output_padding},
                  {"groups", SymInt(s.groups)}});
}

TEST(Convolution, InGroupsOverTwoDims) {
  for (DType t : {DType::f16, DType::f64}) {
    const Array y =
        convolution(cycle(t, {1, 4, 5, 4}, 7, 3), cycle(t, {6, 2, 3, 2}, 5, 2),
                    vector(t, {0, 1, 2, 3, 4, 5}), {{2, 1}, {1, 1}, {1, 2}, {0, 0}, false, 2});
    expect_near(y, {1, 6, 3, 4},
                {-13, -8, 0,  0, -15, -5, 6,  -21, -5, -3, -3, 3,   9,  -6, 5,  0, 11, 12,
                 -1,  8,  9,  5, -8,  6,  1,  6,   -5, 10, -3, -11, 17, 7,  -7, 8, 12, -11,
                 5,   -2, 11, 4, -11, 12, 4,  -11, 5,  9,  -2, -4,  -1, 1,  1,  7, 10, -2,
                 15,  13, 8,  8, 14,  12, 13, 9,   -4, 10, 6,  -1,  -4, 2,  -4, 2, -5, -2},
                0);
  }
}

TEST(Convolution, TransposedInGroups) {
  const Array y =
      convolution(cycle(DType::f32, {2, 4, 3}, 5, 2), cycle(DType::f32, {4, 3, 3}, 7, 3), absent(),
                  {{3}, {2}, {2}, {1}, true, 2});
  expect_near(
      y, {2, 6, 8},
      {4,  1,  3,  2,  2,  3,  0,  0, 1,  4,  -7, 5,  -4, -8, -6, 0, 5,  -7, 4,  1,  4,  2,  2,  0,
       -8, -6, -7, 6,  -2, 4,  5,  0, 2,  2,  3,  0,  -2, -2, -2, 0, 5,  -4, -8, -6, -2, 6,  -2, 0,
       0,  -2, -2, -2, -6, -2, -4, 0, -6, -2, 6,  -2, 0,  5,  2,  0, 2,  5,  0,  -2, 6,  -2, -6, 0,
       5,  2,  5,  4,  1,  6,  -7, 0, -2, -6, -2, -4, 5,  -2, 4,  0, -2, 0,  5,  2,  2,  4,  1,  0},
      0);
}

TEST(Convolution, OverOneAndThreeDims) {
  const Array line =
      convolution(array(DType::f32, {1, 1, 4}, {1, 2, 3, 4}), array(DType::f32, {1, 1, 2}, {1, -1}),
                  absent(), {{1}, {0}, {1}, {0}});
  expect_near(line, {1, 1, 3}, {-1, -1, -1}, 0);
  const Array cube = convolution(cycle(DType::f32, {1, 1, 2, 2, 2}, 100, 0),
                                 cycle(DType::f32, {1, 1, 2, 2, 2}, 1, -1), absent(),
                                 {{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}});
  expect_near(cube, {1, 1, 1, 1, 1}, {28}, 0);
}

Array query(DType t) {
  return array(t, {1, 3, 2}, {-1, -0.25, -1, 0.75, -0.5, 0.75});
}
Array keys(DType t) {
  return array(t, {1, 4, 2}, {-0.75, -1, -0.0, 0.25, -0.5, -1, -0.0, -1.5});
}
Array values(DType t) {
  return array(t, {1, 4, 3}, {-1.25, 1, -0.5, 0.75, -0.75, 0.75, 0.5, 0.75, 0.5, 0, 0, 1.5});
}

Result attention(DType t, const Array& mask, bool causal) {
  return run_derived(Prim::attention, {query(t), keys(t), values(t), mask},
                     {{"causal", causal}, {"scale", Scalar(0.5)}});
}

TEST(Attention, WithAMask) {
  for (DType t : {DType::f16, DType::f32, DType::f64}) {
    const Array mask = array(t, {3, 4}, {0, -kInf, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
    const Result r = attention(t, mask, false);
    expect_near(r.outputs[0], {1, 3, 3},
                {-0.3093790106403605, 0.6357311159688261, 0.3973325104347555, 0.0042140637000056685,
                 0.23606351466791226, 0.4561630624998816, 0.05397843774699289, 0.17992497761247556,
                 0.5046781042184421},
                precision(t), precision(t) / 10);
    EXPECT_EQ(r.outputs[1].dtype, DType::f32);
    expect_near(r.outputs[1], {1, 3}, {1.4609246638283082, 1.2671067084698342, 2.186591989158846},
                5e-7);
  }
}

TEST(Attention, CausalAndMaskedThroughout) {
  const Result r = attention(DType::f64, absent(), true);
  expect_near(r.outputs[0], {1, 3, 3},
              {-1.25, 1, -0.5, -0.203159302127352, 0.08401438936143296, 0.15427543617040504,
               0.06534380332151699, 0.21780886665977928, 0.295109289668672},
              1e-14);
  const Array hidden = array(DType::f32, {1, 4}, {-kInf, -kInf, -kInf, -kInf});
  const Result none = attention(DType::f32, hidden, false);
  expect_near(none.outputs[0], {1, 3, 3}, std::vector<double>(9, 0.0), 0);
  expect_near(none.outputs[1], {1, 3}, {-kInf, -kInf, -kInf}, 0);
}

TEST(AttentionBackward, AsTheDerivativesOfTheForwardFormula) {
  const DType t = DType::f64;
  const auto result = run_derived(
      Prim::attention_backward,
      {array(t, {1, 3, 2}, {1, 0, 0.5, -1, 2, 1}),
       array(t, {1, 3, 2}, {0.25, 0.5, 0.75, -1, 1.25, 1.5}),
       array(t, {1, 3, 2}, {1.25, 1.5, 0.75, -1, 0.25, 0.5}),
       array(t, {1, 3, 2}, {-0.5, 0, 0.5, -3, 1.5, 2}),
       array(t, {1, 3, 2},
             {0.3572175958949728, -0.061145564600883606, 0.5264880094440391, -1.27607262662995,
              -0.04735562871783461, 0.12387106259970876}),
       array(DType::f32, {1, 3}, {1.3152067280417663, 1.3335225374337685, 2.2174311581881763}),
       absent()},
      {{"causal", false}, {"scale", Scalar(0.5)}});
  const double precision = 1e-6;  // logsumexp is f32
  expect_near(result.outputs[0], {1, 3, 2},
              {-0.18750559873850609, -0.22028712371277845, 0.06820484026059954, -0.9165332060982512,
               -0.4186673861353353, -0.25188399038802767},
              precision, precision);
  expect_near(result.outputs[1], {1, 3, 2},
              {-0.6536244199904888, -0.4853281244596865, 0.26913483566428587, -0.6092611887463381,
               0.3844895843262031, 1.0945893132060243},
              precision, precision);
  expect_near(result.outputs[2], {1, 3, 2},
              {2.021226066422118, 0.5336452350048784, 0.681797523974441, -0.4934468318478831,
               0.7969764096034411, -0.040198403156995216},
              precision, precision);
}

TEST(ScaledMatmul, NumbersRowsAndBlocks) {
  const Array a = array(DType::f8_e4m3fn, {2, 2}, {1, 2, -0.5, 4});
  const Array b = array(DType::f8_e5m2, {2, 2}, {1, 0.5, -1, 2});
  const auto product = [&](const Array& scale_a, const Array& scale_b) {
    return derived(Prim::scaled_matmul, {a, b, scale_a, scale_b, vector(DType::f32, {1, 0})},
                   {{"to", DType::f32}});
  };
  const Array two = number(DType::f32, 2), one = number(DType::f32, 1);
  expect_near(product(two, one), {2, 2}, {-1, 9, -8, 15.5}, 0);
  expect_near(product(array(DType::f32, {2, 1}, {1, 2}), array(DType::f32, {1, 2}, {1, 3})), {2, 2},
              {0, 13.5, -8, 46.5}, 0);
  expect_near(product(array(DType::f32, {1, 2}, {1, 2}), array(DType::f32, {2, 1}, {3, 1})), {2, 2},
              {0, 9.5, -8.5, 15.25}, 0);
}

// A loop over tiles of rows where kernels begin fast, else one product of all.
TEST(GroupedMatmul, RowsColumnsTermsAndBatches) {
  const DType t = DType::f32;
  const Array ends = integers(DType::i32, {1, 3}), less = integers(DType::i32, {0, 2});
  const Array rows = array(t, {3, 1}, {1, 2, 3}), each = array(t, {2, 1, 1}, {10, 100}),
              columns = array(t, {1, 3}, {1, 2, 3});
  for (const bool fast_launch : {true, false}) {
    const auto product = [&](const std::vector<Array>& inputs) {
      return derived(Prim::grouped_matmul, inputs, {}, {.fast_launch = fast_launch});
    };
    expect_near(product({rows, each, ends}), {3, 1}, {10, 200, 300}, 0);
    expect_near(product({each, columns, ends}), {1, 3}, {10, 200, 300}, 0);
    expect_near(product({columns, rows, ends}), {2, 1, 1}, {1, 13}, 0);
    expect_near(product({each, each, absent()}), {2, 1, 1}, {100, 10000}, 0);
    expect_near(product({rows, each, less}), {3, 1}, {100, 200, 0}, 0);
    // What other groups make of a row does not matter.
    const Array wild = array(t, {2, 1, 1}, {10, INFINITY});
    expect_near(product({array(t, {2, 1}, {1, 0}), wild, integers(DType::i32, {2, 2})}), {2, 1},
                {10, 0}, 0);
  }
}

TEST(Int8Matmul, AddsUpIn32Bits) {
  Array a = integers(DType::i8, {127, -128}), b = integers(DType::i8, {127, -128});
  a.shape = {1, 2};
  b.shape = {2, 1};
  expect_near(derived(Prim::int8_matmul, {a, b}), {1, 1}, {32513}, 0);
}

}  // namespace
}  // namespace primset::decomps
