// What PyTorch 2.13.0 gives, by operator.
#include <gtest/gtest.h>

#include "decomps/operator_cases.h"

namespace primset::decomps {
namespace {

TEST(Attention, scaled_dot_product) {
  expect_operators({
      "scaled_dot_product_attention query=f32[1,2,2]{1 2 3 4} key=f32[1,3,2]{1 0 0 1 1 1} value=f32[1,3,2]{1 2 3 4 5 6} -> f32[1,2,2]{3.8718922 4.871892 4.596117 5.596117}",
      "scaled_dot_product_attention query=f32[2,2]{1 2 3 4} key=f32[3,2]{1 0 0 1 1 1} value=f32[3,1]{1 2 3} scale=0.5 -> f32[2,1]{2.3201566 2.6365013}",
      "scaled_dot_product_attention query=f32[1,1,2,1]{1 2} key=f32[1,1,2,1]{1 3} value=f32[1,1,2,1]{1 2} is_causal=true -> f32[1,1,2,1]{1 1.9820137}",
      "scaled_dot_product_attention query=f32[1,2,1]{1 2} key=f32[1,2,1]{1 3} value=f32[1,2,1]{1 2} attn_mask=bool[2,2]{true false true true} -> f32[1,2,1]{1 1.9820137}",
      "scaled_dot_product_attention query=f32[1,2,1]{1 2} key=f32[1,2,1]{1 3} value=f32[1,2,1]{1 2} attn_mask=f32[2,2]{0 -inf 1 2} -> f32[1,2,1]{1 1.9933072}",
      "scaled_dot_product_attention query=f32[1,2,1]{1 2} key=f32[1,2,1]{1 3} value=f32[1,2,1]{1 2} attn_mask=bool[2,2]{false false true true} -> f32[1,2,1]{0 1.9820137}",
      "scaled_dot_product_attention query=f32[1,2,1,1]{1 2} key=f32[1,1,2,1]{1 3} value=f32[1,1,2,1]{1 2} enable_gqa=true -> f32[1,2,1,1]{1.8807969 1.9820137}",
      "scaled_dot_product_attention query=f32[1,2,1,1]{1 2} key=f32[1,2,2,1]{1 3 2 4} value=f32[1,2,2,1]{1 2 3 4} -> f32[1,2,1,1]{1.8807969 3.9820137}",
      "scaled_dot_product_attention query=f64[1,1,1]{1} key=f64[1,1,1]{1} value=f64[1,1,1]{7} -> f64[1,1,1]{7}",
      "scaled_dot_product_attention query=bf16[1,1,1]{1} key=bf16[1,1,1]{1} value=bf16[1,1,1]{7} -> bf16[1,1,1]{7}",
      "scaled_dot_product_attention query=f32[1,2,1]{1 2} key=f32[1,2,1]{1 3} value=f32[1,2,1]{1 2} attn_mask=bool[2,2]{true false true true} is_causal=true -> !runtime \"_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True\"",
  });
}

}  // namespace
}  // namespace primset::decomps
