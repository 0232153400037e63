// What PyTorch 2.13.0 gives, by operator.
#include <gtest/gtest.h>

#include "decomps/operator_cases.h"

namespace primset::decomps {
namespace {

TEST(Rearrange, joining) {
  expect_operators({
      "cat tensors=(f32[2,1]{1 2} f32[2,2]{3 4 5 6}) dim=1 -> f32[2,3]{1 3 4 2 5 6}",
      "cat tensors=(f32[2,1]{1 2} i64[2,2]{3 4 5 6}) dim=-1 -> f32[2,3]{1 3 4 2 5 6}",
      "cat tensors=(f32[0]{} f32[2,2]{3 4 5 6}) dim=1 -> f32[2,2]{3 4 5 6}",
      "cat tensors=(f32[1,2,1,2]@(4,1,4,2){1 2 3 4} f32[1,2,1,2]@(4,1,4,2){5 6 7 8}) dim=1 -> f32[1,4,1,2]@(8,1,8,4){1 2 3 4 5 6 7 8}",
      "cat tensors=(bool[1]{true} u8[1]{3}) dim=0 -> u8[2]{1 3}",
      "cat tensors=(f16[1]{1.5} bf16[1]{2.5}) -> f32[2]{1.5 2.5}",
      "cat tensors=() dim=0 -> !value \"torch.cat(): expected a non-empty list of Tensors\"",
      "cat tensors=(f32[2]{1 2} f32[]{3}) dim=0 -> !runtime \"zero-dimensional tensor (at position 1) cannot be concatenated\"",
      "cat tensors=(f32[2]{1 2} f32[1,2]{3 4}) dim=0 -> !runtime \"Tensors must have same number of dimensions: got 1 and 2\"",
      "cat tensors=(f32[2,2]{1 2 3 4} f32[1,3]{3 4 5}) dim=0 -> !runtime \"Sizes of tensors must match except in dimension 0. Expected size 2 but got size 3 for tensor number 1 in the list.\"",
      "cat tensors=(f32[2]{1 2}) dim=1 -> !index \"Dimension out of range (expected to be in range of [-1, 0], but got 1)\"",
      "cat.out tensors=(f32[1]{1} f32[1]{2}) dim=0 out=f64[2]{0 0} -> f64[2]{1 2}",
      "concat tensors=(f32[1]{1} f32[1]{2}) dim=0 -> f32[2]{1 2}",
      "concatenate tensors=(f32[1]{1} f32[1]{2}) dim=0 -> f32[2]{1 2}",
      "stack tensors=(f32[2]{1 2} f32[2]{3 4}) dim=-1 -> f32[2,2]{1 3 2 4}",
      "stack tensors=(f32[]{1} i64[]{3}) -> f32[2]{1 3}",
      "stack tensors=(f32[2]{1 2} f32[3]{3 4 5}) -> !runtime \"stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1\"",
      "stack tensors=() -> !runtime \"stack expects a non-empty TensorList\"",
      "stack tensors=(f32[2]{1 2} f32[2]{3 4}) dim=2 -> !index \"Dimension out of range (expected to be in range of [-2, 1], but got 2)\"",
      "hstack tensors=(f32[2]{1 2} f32[1]{3}) -> f32[3]{1 2 3}",
      "hstack tensors=(f32[]{1} f32[]{3}) -> f32[2]{1 3}",
      "hstack tensors=(f32[2,1]{1 2} f32[2,2]{3 4 5 6}) -> f32[2,3]{1 3 4 2 5 6}",
      "vstack tensors=(f32[2]{1 2} f32[1,2]{3 4}) -> f32[2,2]{1 2 3 4}",
      "row_stack tensors=(f32[]{1} f32[1]{3}) -> f32[2,1]{1 3}",
      "dstack tensors=(f32[2]{1 2} f32[2]{3 4}) -> f32[1,2,2]{1 3 2 4}",
      "column_stack tensors=(f32[2]{1 2} f32[2,1]{3 4} f32[2]{5 6}) -> f32[2,3]{1 3 5 2 4 6}",
      "hstack tensors=() -> !runtime \"hstack expects a non-empty TensorList\"",
  });
}

TEST(Rearrange, order) {
  expect_operators({
      "flip self=f32[2,3]{0 1 2 3 4 5} dims=(0 -1) -> f32[2,3]{5 4 3 2 1 0}",
      "flip self=f32[3,2]@(1,3){0 3 1 4 2 5} dims=(0) -> f32[3,2]@(1,3){2 5 1 4 0 3}",
      "flip self=f32[]{1} dims=() -> f32[]{1}",
      "flip self=f32[2,3]{0 1 2 3 4 5} dims=(0 0) -> !runtime \"dim 0 appears multiple times in the list of dims\"",
      "flip self=f32[2,3]{0 1 2 3 4 5} dims=(2) -> !index \"Dimension out of range (expected to be in range of [-2, 1], but got 2)\"",
      "fliplr self=f32[2,3]{0 1 2 3 4 5} -> f32[2,3]{2 1 0 5 4 3}",
      "fliplr self=f32[3]{0 1 2} -> !runtime \"Input must be >= 2-d.\"",
      "flipud self=f32[2,3]{0 1 2 3 4 5} -> f32[2,3]{3 4 5 0 1 2}",
      "flipud self=f32[]{0} -> !runtime \"Input must be >= 1-d.\"",
      "roll self=f32[2,3]{0 1 2 3 4 5} shifts=(1 -4) dims=(0 1) -> f32[2,3]{4 5 3 1 2 0}",
      "roll self=f32[2,3]{0 1 2 3 4 5} shifts=(2) -> f32[2,3]{4 5 0 1 2 3}",
      "roll self=f32[2,3]{0 1 2 3 4 5} shifts=(2) dims=(0 1) -> !runtime \"shifts and dimensions must align. shifts: 1, dims:2\"",
      "roll self=f32[2,3]{0 1 2 3 4 5} shifts=() dims=(0) -> !runtime \"`shifts` required\"",
      "roll self=f32[0,3]{} shifts=(1) dims=(0) -> f32[0,3]{}",
      "roll self=f32[3,2]@(1,3){0 3 1 4 2 5} shifts=(1) dims=(0) -> f32[3,2]{2 5 0 3 1 4}",
      "rot90 self=f32[2,3]{0 1 2 3 4 5} -> f32[3,2]@(1,3){2 5 1 4 0 3}",
      "rot90 self=f32[2,3]{0 1 2 3 4 5} k=-1 -> f32[3,2]@(1,3){3 0 4 1 5 2}",
      "rot90 self=f32[2,3]{0 1 2 3 4 5} k=2 -> f32[2,3]{5 4 3 2 1 0}",
      "rot90 self=f32[2,3]{0 1 2 3 4 5} k=7 dims=(1 0) -> f32[3,2]@(1,3){2 5 1 4 0 3}",
      "rot90 self=f32[2,3]{0 1 2 3 4 5} dims=(0) -> !runtime \"expected total rotation dims == 2, but got dims = 1\"",
      "rot90 self=f32[2]{0 1} -> !runtime \"expected total dims >= 2, but got total dims = 1\"",
      "rot90 self=f32[2,3]{0 1 2 3 4 5} dims=(0 0) -> !runtime \"expected rotation dims to be different, but got dim0 = 0 and dim1 = 0\"",
      "channel_shuffle self=f32[1,4,1,2]{0 1 2 3 4 5 6 7} groups=2 -> f32[1,4,1,2]{0 1 4 5 2 3 6 7}",
      "channel_shuffle self=f32[4]{0 1 2 3} groups=2 -> !runtime \"channel_shuffle expects input with > 2 dims, but got input with sizes [4]\"",
      "channel_shuffle self=f32[1,4,1]{0 1 2 3} groups=3 -> !runtime \"Number of channels must be divisible by groups. Got 4 channels and 3 groups.\"",
      "pixel_shuffle self=f32[4,1,2]{0 1 2 3 4 5 6 7} upscale_factor=2 -> f32[1,2,4]{0 2 1 3 4 6 5 7}",
      "pixel_shuffle self=f32[1,4,1,1]{0 1 2 3} upscale_factor=2 -> f32[1,1,2,2]{0 1 2 3}",
      "pixel_shuffle self=f32[3,1,2]{0 1 2 3 4 5} upscale_factor=2 -> !runtime \"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=3 is not divisible by 4\"",
      "pixel_shuffle self=f32[3,1]{0 1 2} upscale_factor=2 -> !runtime \"pixel_shuffle expects input to have at least 3 dimensions, but got input with 2 dimension(s)\"",
      "pixel_shuffle self=f32[4,1,1]{0 1 2 3} upscale_factor=0 -> !runtime \"pixel_shuffle expects a positive upscale_factor, but got 0\"",
      "pixel_unshuffle self=f32[1,2,4]{0 1 2 3 4 5 6 7} downscale_factor=2 -> f32[4,1,2]{0 2 1 3 4 6 5 7}",
      "pixel_unshuffle self=f32[1,3,4]{0 1 2 3 4 5 6 7 8 9 10 11} downscale_factor=2 -> !runtime \"pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=3 is not divisible by 2\"",
      "pixel_unshuffle self=f32[1,2,3]{0 1 2 3 4 5} downscale_factor=2 -> !runtime \"pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=3 is not divisible by 2\"",
  });
}

TEST(Rearrange, triangles) {
  expect_operators({
      "tril self=f32[2,3]{0 1 2 3 4 5} -> f32[2,3]{0 0 0 3 4 0}",
      "tril self=f32[2,3]{0 1 2 3 4 5} diagonal=1 -> f32[2,3]{0 1 0 3 4 5}",
      "triu self=f32[2,3]{nan 1 2 3 4 5} diagonal=1 -> f32[2,3]{0 1 2 0 0 5}",
      "triu self=i64[1,2,2]{1 2 3 4} diagonal=-5 -> i64[1,2,2]{1 2 3 4}",
      "tril self=f32[3,2]@(1,3){0 3 1 4 2 5} -> f32[3,2]{0 0 1 4 2 5}",
      "tril self=f32[3]{0 1 2} -> !runtime \"tril: input tensor must have at least 2 dimensions\"",
      "triu_ self=bool[2,2]{true true true true} -> bool[2,2]{true true false true}",
      "tril.out self=f32[2,2]{1 2 3 4} out=f32[2,2]{0 0 0 0} -> f32[2,2]{1 0 3 4}",
      "diag_embed self=f32[2,2]{1 2 3 4} -> f32[2,2,2]{1 0 0 2 3 0 0 4}",
      "diag_embed self=f32[2]{1 2} offset=1 dim1=1 dim2=0 -> f32[3,3]{0 0 0 1 0 0 0 2 0}",
      "diag_embed self=f32[2]{1 2} offset=-1 -> f32[3,3]{0 0 0 1 0 0 0 2 0}",
      "diag_embed self=f32[2]{1 2} dim1=0 dim2=0 -> !runtime \"diagonal dimensions cannot be identical 0, 0\"",
  });
}

TEST(Rearrange, padding) {
  expect_operators({
      "constant_pad_nd self=f32[2,2]{1 2 3 4} pad=(1 0) -> f32[2,3]{0 1 2 0 3 4}",
      "constant_pad_nd self=f32[2,2]{1 2 3 4} pad=(1 -1 0 1) value=9 -> f32[3,2]{9 1 9 3 9 9}",
      "constant_pad_nd self=f32[2,2]@(1,2){1 2 3 4} pad=(1 0) -> f32[2,3]{0 1 2 0 3 4}",
      "constant_pad_nd self=i64[2]{1 2} pad=(0 2) value=2.5 -> i64[4]{1 2 2 2}",
      "constant_pad_nd self=f32[2,2]{1 2 3 4} pad=(1) -> !runtime \"Length of pad must be even but instead it equals 1\"",
      "constant_pad_nd self=f32[2]{1 2} pad=(1 1 1 1) -> !runtime \"Length of pad should be no more than twice the number of dimensions of the input. Pad length is 4while the input has 1dimensions.\"",
      "constant_pad_nd self=f32[2]{1 2} pad=(-2 -1) -> !runtime \"narrow(): length must be non-negative.\"",
      "constant_pad_nd self=f32[2]{1 2} pad=() -> f32[2]{1 2}",
  });
}

TEST(Rearrange, repeating) {
  expect_operators({
      "repeat self=f32[2]{1 2} repeats=(2 3) -> f32[2,6]{1 2 1 2 1 2 1 2 1 2 1 2}",
      "repeat self=f32[2,2]@(1,2){1 2 3 4} repeats=(1 2) -> f32[2,4]{1 2 1 2 3 4 3 4}",
      "repeat self=f32[]{1} repeats=(2) -> f32[2]{1 1}",
      "repeat self=f32[2]{1 2} repeats=(0) -> f32[0]{}",
      "repeat self=f32[2,1]{1 2} repeats=(2) -> !runtime \"Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor\"",
      "repeat self=f32[2]{1 2} repeats=(-1) -> !runtime \"Trying to create tensor with negative dimension -2: [-2]\"",
      "tile self=f32[2]{1 2} dims=(2 2) -> f32[2,4]{1 2 1 2 1 2 1 2}",
      "tile self=f32[2,1]{1 2} dims=(2) -> f32[2,2]{1 1 2 2}",
      "tile self=f32[2]{1 2} dims=() -> f32[2]{1 2}",
      "repeat_interleave.self_int self=f32[2,2]{1 2 3 4} repeats=2 dim=1 -> f32[2,4]{1 1 2 2 3 3 4 4}",
      "repeat_interleave.self_int self=f32[2,2]{1 2 3 4} repeats=2 -> f32[8]{1 1 2 2 3 3 4 4}",
      "repeat_interleave.self_int self=f32[]{1} repeats=2 -> f32[2]{1 1}",
      "repeat_interleave.self_int self=f32[2]{1 2} repeats=0 dim=0 -> f32[0]{}",
      "repeat_interleave.self_int self=f32[2]{1 2} repeats=-1 dim=0 -> !runtime \"Repeats must be non-negative\"",
      "repeat_interleave.self_int self=f32[2]{1 2} repeats=2 dim=0 output_size=4 -> f32[4]{1 1 2 2}",
  });
}

TEST(Rearrange, scattering) {
  expect_operators({
      "select_scatter self=f32[2,3]{0 1 2 3 4 5} src=f32[2]{8 9} dim=1 index=-1 -> f32[2,3]{0 1 8 3 4 9}",
      "select_scatter self=f32[2,3]{0 1 2 3 4 5} src=f32[3]{8 9 7} dim=1 index=0 -> !runtime \"expected src to have a size equal to the slice of self. src size = [3], slice size = [2]\"",
      "select_scatter self=f32[2,3]{0 1 2 3 4 5} src=f32[2]{8 9} dim=1 index=3 -> !index \"select(): index 3 out of range for tensor of size [2, 3] at dimension 1\"",
      "select_scatter self=f32[3,2]@(1,3){0 3 1 4 2 5} src=f32[2]{8 9} dim=0 index=1 -> f32[3,2]@(1,3){0 3 8 9 2 5}",
      "slice_scatter self=f32[2,3]{0 1 2 3 4 5} src=f32[2,1]{8 9} dim=1 start=-1 -> f32[2,3]{0 1 8 3 4 9}",
      "slice_scatter self=f32[5]{0 1 2 3 4} src=f32[2]{8 9} start=0 end=4 step=2 -> f32[5]{8 1 9 3 4}",
      "slice_scatter self=f32[5]{0 1 2 3 4} src=f32[3]{8 9 7} start=0 end=4 step=2 -> !runtime \"expected src to have a size equal to the slice of self. src size = [3], slice size = [2]\"",
      "slice_scatter self=f32[5]{0 1 2 3 4} src=i64[5]{8 9 7 6 5} -> f32[5]{8 9 7 6 5}",
      "diagonal_scatter self=f32[2,3]{0 1 2 3 4 5} src=f32[2]{8 9} offset=1 -> f32[2,3]{0 8 2 3 4 9}",
      "diagonal_scatter self=f32[2,3]{0 1 2 3 4 5} src=f32[3]{8 9 7} offset=1 -> !runtime \"expected src to have a size equal to the slice of self. src size = [3], slice size = [2]\"",
  });
}

}  // namespace
}  // namespace primset::decomps
