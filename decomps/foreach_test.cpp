// What PyTorch 2.13.0 gives, by operator.
#include <gtest/gtest.h>

#include "decomps/operator_cases.h"

namespace primset::decomps {
namespace {

TEST(Foreach, unary) {
  expect_operators({
      "_foreach_abs self=(f32[2]{-1 2} i64[1]{-3}) -> f32[2]{1 2} i64[1]{3}",
      "_foreach_neg self=(f32[2]{-1 2} i64[1]{-3}) -> f32[2]{1 -2} i64[1]{3}",
      "_foreach_exp self=(f32[1]{1} i64[1]{2}) -> f32[1]{2.7182817} f32[1]{7.3890562}",
      "_foreach_sqrt self=(f32[2]{4 2} f16[1]{9}) -> f32[2]{2 1.4142135} f16[1]{3}",
      "_foreach_reciprocal self=(f32[1]{4} f64[1]{8}) -> f32[1]{0.25} f64[1]{0.125}",
      "_foreach_round self=(f32[2]{0.5 1.5}) -> f32[2]{0 2}",
      "_foreach_sigmoid self=(f32[1]{0.5}) -> f32[1]{0.62245935}",
      "_foreach_abs self=(f32[2,2]@(1,2){-1 2 3 4}) -> f32[2,2]@(1,2){1 2 3 4}",
      "_foreach_abs self=() -> !runtime \"Tensor list must have at least one tensor.\"",
  });
}

TEST(Foreach, binary) {
  expect_operators({
      "_foreach_add.Scalar self=(f32[2]{1 2} i64[1]{3}) scalar=2.5 -> f32[2]{3.5 4.5} f32[1]{5.5}",
      "_foreach_add.List self=(f32[2]{1 2} i64[1]{3}) other=(f32[2]{3 4} i64[1]{5}) alpha=2 -> f32[2]{7 10} i64[1]{13}",
      "_foreach_add.ScalarList self=(f32[2]{1 2} f32[1]{3}) scalars=(1 2.5) -> f32[2]{2 3} f32[1]{5.5}",
      "_foreach_add.Tensor self=(f32[2]{1 2} f32[1]{3}) other=f32[]{10} alpha=2 -> f32[2]{21 22} f32[1]{23}",
      "_foreach_sub.Scalar self=(f32[2]{1 2}) scalar=1 -> f32[2]{0 1}",
      "_foreach_sub.List self=(f32[2]{1 2}) other=(f32[2]{3 4}) alpha=2 -> f32[2]{-5 -6}",
      "_foreach_mul.Scalar self=(f32[2]{1 2} i64[1]{3}) scalar=2.5 -> f32[2]{2.5 5} f32[1]{7.5}",
      "_foreach_mul.List self=(f32[2]{1 2}) other=(f32[2]{3 4}) -> f32[2]{3 8}",
      "_foreach_mul.Tensor self=(f32[2]{1 2} f16[1]{3}) other=f32[]{3} -> f32[2]{3 6} f16[1]{9}",
      "_foreach_div.Scalar self=(i64[2]{1 2}) scalar=2 -> f32[2]{0.5 1}",
      "_foreach_div.List self=(f32[2]{1 2}) other=(f32[2]{4 8}) -> f32[2]{0.25 0.25}",
      "_foreach_pow.Scalar self=(f32[2]{3 2}) exponent=2 -> f32[2]{9 4}",
      "_foreach_pow.ScalarAndTensor self=2 exponent=(f32[2]{3 2} f32[1]{4}) -> f32[2]{8 4} f32[1]{16}",
      "_foreach_maximum.List self=(f32[2]{1 2}) other=(f32[2]{3 1}) -> f32[2]{3 2}",
      "_foreach_clamp_max.Scalar self=(f32[2]{1 5}) scalar=3 -> f32[2]{1 3}",
      "_foreach_lerp.Scalar self=(f32[2]{1 2}) tensors1=(f32[2]{3 4}) weight=0.25 -> f32[2]{1.5 2.5}",
      "_foreach_addcmul.Scalar self=(f32[1]{1}) tensor1=(f32[1]{2}) tensor2=(f32[1]{3}) value=2 -> f32[1]{13}",
      "_foreach_addcdiv.ScalarList self=(f32[1]{1}) tensor1=(f32[1]{2}) tensor2=(f32[1]{4}) scalars=(3) -> f32[1]{2.5}",
      "_foreach_add.List self=(f32[2]{1 2}) other=(f32[2]{3 4} f32[1]{5}) -> !runtime \"Tensor lists must have the same number of tensors, got 1 and 2\"",
  });
}

}  // namespace
}  // namespace primset::decomps
