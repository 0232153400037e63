// Expected values: PyTorch 2.13.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

Result quantized(const Array& x, const std::vector<double>& scale, const std::vector<double>& zero,
                 bool round_sum) {
  return run_derived(Prim::fake_quantize, {x, vector(DType::f32, scale), vector(x.dtype, zero)},
                     {{"low", int64_t{-5}}, {"high", int64_t{10}}, {"round_sum", round_sum}});
}

TEST(FakeQuantize, RoundsTheQuotientToEven) {
  for (DType t : {DType::f16, DType::f32, DType::f64}) {
    const Result r = quantized(vector(t, {0.5, 1.5, -0.5, 2.5, 300, -300, kNan, kInf, -kInf}),
                               std::vector<double>(9, 1), std::vector<double>(9, 1), false);
    expect_near(r.outputs[0], {9}, {0, 2, 0, 2, 9, -6, -6, 9, -6}, 0);
    expect_near(r.outputs[1], {9}, {1, 1, 1, 1, 0, 0, 0, 0, 0}, 0);
  }
}

TEST(FakeQuantize, RoundsTheSum) {
  const Result r = quantized(vector(DType::f32, {0.5, 1.5, -0.5, 30}), {1, 0.7, 1, 0.7},
                             {1, 0.25, 1, 0.25}, true);
  expect_near(r.outputs[0], {4}, {1, 1.225, -1, 6.8249998}, 1e-6);
  expect_near(r.outputs[1], {4}, {1, 1, 1, 0}, 0);
}

// The reciprocal of 0.1f is 10 in f32, so that 0.25 lies between two numbers in f64 too.
TEST(FakeQuantize, TakesTheReciprocalInTheScalesDtype) {
  const Result r = quantized(vector(DType::f64, {0.25, 0.35}), {0.1, 0.1}, {0, 0}, false);
  expect_near(r.outputs[0], {2}, {0.2000000029802322, 0.4000000059604645}, 1e-15);
}

}  // namespace
}  // namespace primset::decomps
