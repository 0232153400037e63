// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

Array shaped(DType t, std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  Array a = integers(t, values);
  a.shape = std::move(shape);
  return a;
}

TEST(CtcLoss, AndItsGradient) {
  const DType t = DType::f64;
  const Array log_probs = array(t, {3, 1, 3}, {-1, -0.5, -2, -0.25, -1.5, -1, -0.75, -1, -1.25});
  const Array targets = shaped(DType::i64, {1, 2}, {1, 2});
  const Array heard = integers(DType::i64, {3}), labels = integers(DType::i64, {2});
  const Result r = run_derived(Prim::ctc_loss, {log_probs, targets, heard, labels},
                               {{"blank", prims::SymInt(0)}});
  expect_near(r.outputs[0], {1}, {1.0025179000007256}, 1e-15);
  expect_near(r.outputs[1], {1, 3, 5},
              {-1, -0.5, -kInf, -kInf, -kInf, -1.25, -1.5259230158198933, -0.75, -1.5, -kInf, -2,
               -1.6853276752927113, -1.121372664481298, -1.3411103173614043, -2.25},
              1e-15);
  const Array grad = vector(t, {2});
  const Result back =
      run_derived(Prim::ctc_loss_backward,
                  {grad, log_probs, targets, heard, labels, r.outputs[0], r.outputs[1]},
                  {{"blank", prims::SymInt(0)}, {"zero_infinity", false}});
  expect_near(back.outputs[0], {3, 1, 3},
              {0.6075808263743774, -0.6587606246062256, 0.2706705664732254, 0.8199877822612257,
               0.10675237701608309, -0.18711939049475446, 0.37027891299078974, 0.7357588823428847,
               -0.8525362137883802},
              1e-14);
}

// PyTorch leaves what is behind a shorter target's last state as it found its memory.
TEST(CtcLoss, WhatIsBehindATargetsEndIsNotRead) {
  const DType t = DType::f64;
  const Array log_probs = array(t, {1, 1, 3}, {-1, -0.5, -2});
  const Array targets = shaped(DType::i64, {1, 2}, {1, 2});
  const Array log_alpha = array(t, {1, 1, 5}, {-1, -0.5, -kInf, kNan, kInf});
  const Result back = run_derived(Prim::ctc_loss_backward,
                                  {vector(t, {1}), log_probs, targets, integers(DType::i64, {1}),
                                   integers(DType::i64, {1}), vector(t, {0.5}), log_alpha},
                                  {{"blank", prims::SymInt(0)}, {"zero_infinity", false}});
  expect_near(back.outputs[0], {1, 1, 3},
              {0.36787944117144233, -0.3934693402873666, 0.1353352832366127}, 1e-15);
}

TEST(CtcLoss, TooShortForItsLabels) {
  const Array log_probs = array(DType::f32, {1, 1, 3}, {-1, -1, -1});
  const Array targets = shaped(DType::i64, {1, 2}, {1, 2});
  const Result r = run_derived(
      Prim::ctc_loss, {log_probs, targets, integers(DType::i64, {1}), integers(DType::i64, {2})},
      {{"blank", prims::SymInt(0)}});
  expect_near(r.outputs[0], {1}, {kInf}, 0);
}

}  // namespace
}  // namespace primset::decomps
