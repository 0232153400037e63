// What PyTorch 2.13.0 gives, by operator.
#include <gtest/gtest.h>

#include "decomps/operator_cases.h"

namespace primset::decomps {
namespace {

TEST(Convolution, forward) {
  expect_operators({
      "convolution input=f32[1,1,4]{1 2 3 4} weight=f32[1,1,2]{1 -1} bias=none stride=(1) padding=(0) dilation=(1) transposed=false output_padding=(0) groups=1 -> f32[1,1,3]{-1 -1 -1}",
      "convolution input=f32[1,2,4]{1 2 3 4 5 6 7 8} weight=f32[2,1,2]{1 -1 2 1} bias=f32[2]{10 20} stride=(2) padding=(1) dilation=(2) transposed=false output_padding=(0) groups=2 -> f32[1,2,2]{8 8 26 40}",
      "convolution input=f32[1,1,3]{1 2 3} weight=f32[1,2,2]{1 2 3 4} bias=none stride=(2) padding=(1) dilation=(1) transposed=true output_padding=(1) groups=1 -> f32[1,2,5]{2 2 4 3 6 4 6 8 9 12}",
      "convolution input=f32[1,1,2,2]{1 2 3 4} weight=f32[1,1,1,1]{2} bias=none stride=(1 1) padding=(0 0) dilation=(1 1) transposed=false output_padding=(0 0) groups=1 -> f32[1,1,2,2]{2 4 6 8}",
      "convolution input=f32[1,3,2]{1 2 3 4 5 6} weight=f32[1,1,1]{1} bias=none stride=(1) padding=(0) dilation=(1) transposed=false output_padding=(0) groups=1 -> !runtime \"Given groups=1, weight of size [1, 1, 1], expected input[1, 3, 2] to have 1 channels, but got 3 channels instead\"",
      "convolution input=f32[1,1,2]{1 2} weight=f32[1,1,3]{1 2 3} bias=none stride=(1) padding=(0) dilation=(1) transposed=false output_padding=(0) groups=1 -> !runtime \"Calculated padded input size per channel: (2). Kernel size: (3). Kernel size can't be greater than actual input size\"",
      "convolution input=f32[0,1,2]{} weight=f32[1,1,1]{1} bias=none stride=(1) padding=(0) dilation=(1) transposed=false output_padding=(0) groups=1 -> f32[0,1,2]{}",
      "conv1d input=f32[1,1,4]{1 2 3 4} weight=f32[1,1,2]{1 -1} -> f32[1,1,3]{-1 -1 -1}",
      "conv1d input=f32[1,4]{1 2 3 4} weight=f32[1,1,2]{1 -1} bias=f32[1]{5} stride=(2) -> f32[1,2]{4 4}",
      "conv1d input=f32[4]{1 2 3 4} weight=f32[1,1,2]{1 -1} -> !runtime \"Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [4]\"",
      "conv1d.padding input=f32[1,1,4]{1 2 3 4} weight=f32[1,1,2]{1 -1} padding='same' -> f32[1,1,4]{-1 -1 -1 4}",
      "conv1d.padding input=f32[1,1,4]{1 2 3 4} weight=f32[1,1,3]{1 0 -1} padding='valid' -> f32[1,1,2]{-2 -2}",
      "conv1d.padding input=f32[1,1,4]{1 2 3 4} weight=f32[1,1,3]{1 0 -1} padding='same' stride=(2) -> !runtime \"padding='same' is not supported for strided convolutions\"",
      "conv1d.padding input=f32[1,1,4]{1 2 3 4} weight=f32[1,1,3]{1 0 -1} padding='foo' -> !runtime \"Invalid padding string: 'foo'\"",
      "conv2d input=f32[1,1,3,3]{1 2 3 4 5 6 7 8 9} weight=f32[1,1,2,2]{1 0 0 1} bias=f32[1]{1} stride=(1 1) padding=(1 0) -> f32[1,1,4,2]{3 4 7 9 13 15 8 9}",
      "conv2d input=f32[1,2,3]{1 2 3 4 5 6} weight=f32[1,1,2,2]{1 0 0 1} -> f32[1,1,2]{6 8}",
      "conv2d.padding input=f32[1,1,2,2]{1 2 3 4} weight=f32[1,1,2,3]{1 2 3 4 5 6} padding='same' -> f32[1,1,2,2]{47 37 18 11}",
      "conv3d input=f32[1,1,2,2,2]{1 2 3 4 5 6 7 8} weight=f32[1,1,2,1,2]{1 2 3 4} -> f32[1,1,1,2,1]{44 64}",
      "conv_transpose1d input=f32[1,1,3]{1 2 3} weight=f32[1,1,2]{1 2} stride=(2) -> f32[1,1,6]{1 2 2 4 3 6}",
      "conv_transpose2d.input input=f32[1,2,1,2]{1 2 3 4} weight=f32[2,1,2,1]{1 2 3 4} bias=f32[2]{1 2} groups=2 stride=(1 2) -> f32[1,2,2,3]{2 1 3 3 1 5 11 2 14 14 2 18}",
      "conv_transpose2d.input input=f32[1,1,2,2]{1 2 3 4} weight=f32[1,1,2,2]{1 2 3 4} padding=(1 0) dilation=(2 1) -> f32[1,1,2,3]{3 10 8 3 10 8}",
      "conv_transpose3d.input input=f32[1,1,1,1,2]{1 2} weight=f32[1,1,1,1,2]{1 2} -> f32[1,1,1,1,3]{1 4 4}",
  });
}

}  // namespace
}  // namespace primset::decomps
