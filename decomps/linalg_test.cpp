// What PyTorch 2.13.0 gives, by operator.
#include <gtest/gtest.h>

#include "decomps/operator_cases.h"

namespace primset::decomps {
namespace {

TEST(Linalg, factorizations) {
  expect_operators({
      "linalg_cholesky_ex self=c128[1,1]{4,0} -> c128[1,1]{2,0} i32[]{0}",
      "linalg_cholesky_ex self=f64[2,3]{4 2 2 5 1 1} -> !runtime \"linalg.cholesky: A must be batches of square matrices, but they are 2 by 3 matrices\"",
      "linalg_cholesky_ex self=f64[2]{4 2} -> !runtime \"linalg.cholesky: The input tensor A must have at least 2 dimensions.\"",
      "linalg_vector_norm self=f32[2,2]{3 4 0 -2} -> f32[]{5.3851647}",
      "linalg_vector_norm self=f32[2,2]{3 4 0 -2} ord=1 dim=(1) keepdim=true -> f32[2,1]{7 2}",
      "linalg_vector_norm self=f32[2,2]{3 4 0 -2} ord=inf dim=(0) -> f32[2]{3 4}",
      "linalg_vector_norm self=f32[2]{3 4} ord=0 -> f32[]{2}",
      "linalg_vector_norm self=c64[1]{3,4} -> f32[]{5}",
      "linalg_vector_norm self=i64[2]{3 4} -> !runtime \"linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long\"",
  });
}

}  // namespace
}  // namespace primset::decomps
