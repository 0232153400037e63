// What PyTorch 2.13.0 gives, by operator.
#include <gtest/gtest.h>

#include "decomps/operator_cases.h"

namespace primset::decomps {
namespace {

TEST(SortAndSearch, sorting) {
  expect_operators({
      "sort self=f32[2,3]{3 nan 1 2 2 -inf} -> f32[2,3]{1 3 nan -inf 2 2} i64[2,3]{2 0 1 2 0 1}",
      "sort self=f32[2,3]{3 nan 1 2 2 -inf} dim=0 descending=true -> f32[2,3]{3 nan 1 2 2 -inf} i64[2,3]{0 0 0 1 1 1}",
      "sort self=f32[]{3} -> f32[]{3} i64[]{0}",
      "sort self=f32[2,0]{} -> f32[2,0]{} i64[2,0]{}",
      "sort self=bool[3]{true false true} -> bool[3]{false true true} i64[3]{1 0 2}",
      "sort self=f32[2]{1 2} dim=1 -> !index \"Dimension out of range (expected to be in range of [-1, 0], but got 1)\"",
      "sort self=c64[2]{1,0 2,0} -> !runtime \" Sort does not support complex dtypes on CPU\"",
      "sort.stable self=i64[5]{1 0 1 0 1} stable=true descending=true -> i64[5]{1 1 1 0 0} i64[5]{0 2 4 1 3}",
      "sort.stable self=i64[5]{1 0 1 0 1} stable=none -> i64[5]{0 0 1 1 1} i64[5]{1 3 0 2 4}",
      "sort.values self=f32[3]{3 1 2} values=f32[3]{0 0 0} indices=i64[3]{0 0 0} -> f32[3]{1 2 3} i64[3]{1 2 0}",
      "argsort self=f32[3]{3 1 2} -> i64[3]{1 2 0}",
      "argsort.stable self=i64[3]{1 0 1} stable=true descending=true -> i64[3]{0 2 1}",
      "msort self=f32[2,2]{3 1 2 4} -> f32[2,2]{2 1 3 4}",
      "topk self=f32[2,3]{3 5 1 2 7 nan} k=2 -> f32[2,2]{5 3 nan 7} i64[2,2]{1 0 2 1}",
      "topk self=f32[2,3]{3 5 1 2 7 9} k=1 dim=0 largest=false -> f32[1,3]{2 5 1} i64[1,3]{1 0 0}",
      "topk self=f32[]{3} k=1 -> f32[]{3} i64[]{0}",
      "topk self=f32[]{3} k=0 -> f32[]{3} i64[]{0}",
      "topk self=f32[3]{3 1 2} k=0 -> f32[0]{} i64[0]{}",
      "topk self=f32[3]{3 1 2} k=4 -> !runtime \"selected index k out of range\"",
      "topk self=bool[3]{true false true} k=1 -> !runtime \"topk does not support bool dtypes on CPU\"",
      "topk self=c64[2]{1,0 2,0} k=1 -> !runtime \" topk does not support complex dtypes on CPU\"",
      "kthvalue self=f32[2,3]{3 5 1 2 nan 7} k=2 -> f32[2]{3 7} i64[2]{0 2}",
      "kthvalue self=f32[2,3]{3 5 1 2 9 7} k=1 dim=0 keepdim=true -> f32[1,3]{2 5 1} i64[1,3]{1 0 0}",
      "kthvalue self=f32[3]{3 5 1} k=4 -> !runtime \"kthvalue(): selected number k out of range for dimension 0\"",
      "kthvalue self=f32[3]{3 5 1} k=0 -> !runtime \"kthvalue(): selected number k out of range for dimension 0\"",
      "kthvalue self=f32[]{3} k=1 -> f32[]{3} i64[]{0}",
      "kthvalue self=i64[3]{3 5 1} k=3 -> i64[]{5} i64[]{1}",
      "kthvalue self=bool[3]{true true false} k=1 -> !not_implemented \"\"kthvalue_cpu\" not implemented for 'Bool'\"",
  });
}

TEST(SortAndSearch, searching) {
  expect_operators({
  });
}

}  // namespace
}  // namespace primset::decomps
