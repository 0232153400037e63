#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

// Convolutions, their gradients, and attention.
constexpr OperatorRow kRows[] = {
    {"convolution", "one_dim", kSmoke,
     "input=T[2,3,11] weight=T[4,3,3] bias=T[4] stride=[1] padding=[1] dilation=[1] "
     "transposed=false output_padding=[0] groups=1"},
    {"convolution", "two_dims", kStandard,
     "input=T[2,3,7,9] weight=T[4,3,3,2] bias=none stride=[2,1] padding=[1,0] dilation=[1,2] "
     "transposed=false output_padding=[0,0] groups=1"},
    {"convolution", "three_dims", kStandard,
     "input=T[1,2,4,5,3] weight=T[3,2,2,3,2] bias=T[3] stride=[1,1,1] padding=[0,1,0] "
     "dilation=[1,1,1] transposed=false output_padding=[0,0,0] groups=1"},
    {"convolution", "grouped", kStandard,
     "input=T[2,4,9] weight=T[6,2,3] bias=none stride=[1] padding=[0] dilation=[1] "
     "transposed=false output_padding=[0] groups=2"},
    {"convolution", "transposed", kStandard,
     "input=T[2,4,7] weight=T[4,3,3] bias=T[3] stride=[2] padding=[1] dilation=[1] transposed=true "
     "output_padding=[1] groups=1"},
    {"convolution", "channels_last", kStandard,
     "input=T[2,3,7,9]@channels_last weight=T[4,3,3,3] bias=T[4] stride=[1,1] padding=[1,1] "
     "dilation=[1,1] transposed=false output_padding=[0,0] groups=1"},
    {"conv1d", "plain", kSmoke, "input=T[2,3,11] weight=T[4,3,3] bias=T[4]"},
    {"conv1d", "strided", kStandard, "input=T[2,3,11] weight=T[4,3,3] stride=[2] padding=[1]"},
    {"conv1d", "dilated", kStandard, "input=T[2,3,11] weight=T[4,3,3] dilation=[2]"},
    {"conv1d", "grouped", kStandard, "input=T[2,4,11] weight=T[6,2,3] bias=T[6] groups=2"},
    {"conv1d", "unbatched", kStandard, "input=T[3,11] weight=T[4,3,3] bias=T[4]"},
    {"conv1d", "transposed", kStandard, "input=T[2,3,11]@transposed weight=T[4,3,3]@strided"},
    {"conv1d", "no_batch", kStandard, "input=T[0,3,11] weight=T[4,3,3]"},
    {"conv1d", "mismatch", kStandard, "input=T[2,4,11] weight=T[4,3,3] !runtime"},
    {"conv1d.padding", "same", kSmoke, "input=T[2,3,11] weight=T[4,3,3] padding=\"same\""},
    {"conv1d.padding", "valid", kStandard, "input=T[2,3,11] weight=T[4,3,3] padding=\"valid\""},
    {"conv1d.padding", "even_kernel", kStandard,
     "input=T[2,3,11] weight=T[4,3,4] padding=\"same\" dilation=[2]"},
    {"conv1d.padding", "strided", kStandard,
     "input=T[2,3,11] weight=T[4,3,3] bias=T[4] padding=\"valid\" stride=[2]"},
    {"conv1d.padding", "strided_same", kStandard,
     "input=T[2,3,11] weight=T[4,3,3] padding=\"same\" stride=[2] !runtime"},
    {"conv1d.padding", "unknown", kStandard,
     "input=T[2,3,11] weight=T[4,3,3] padding=\"full\" !runtime"},
    {"conv2d.padding", "same", kSmoke, "input=T[2,3,7,9] weight=T[4,3,3,2] padding=\"same\""},
    {"conv2d.padding", "valid", kStandard,
     "input=T[2,3,7,9] weight=T[4,3,3,2] bias=T[4] padding=\"valid\""},
    {"conv2d.padding", "even_kernel", kStandard,
     "input=T[2,3,7,9] weight=T[4,3,2,4] padding=\"same\""},
    {"conv2d.padding", "channels_last", kStandard,
     "input=T[2,3,7,9]@channels_last weight=T[4,3,3,3] padding=\"same\""},
    {"conv2d.padding", "grouped", kStandard,
     "input=T[2,4,7,9] weight=T[4,2,3,3] padding=\"same\" groups=2"},
    {"conv2d.padding", "strided_same", kStandard,
     "input=T[2,3,7,9] weight=T[4,3,3,3] padding=\"same\" stride=[2,2] !runtime"},
    {"conv3d.padding", "same", kSmoke, "input=T[1,2,4,5,6] weight=T[3,2,2,2,3] padding=\"same\""},
    {"conv3d.padding", "valid", kStandard,
     "input=T[1,2,4,5,6] weight=T[3,2,2,2,3] bias=T[3] padding=\"valid\""},
    {"conv3d.padding", "strided", kStandard,
     "input=T[1,2,4,5,6] weight=T[3,2,2,2,3] padding=\"valid\" stride=[2,1,2]"},
    {"conv3d.padding", "grouped", kStandard,
     "input=T[1,2,4,5,6] weight=T[2,1,3,1,3] padding=\"same\" groups=2"},
    {"conv3d.padding", "transposed", kStandard,
     "input=T[1,2,4,5,6]@transposed weight=T[3,2,2,2,3]@strided padding=\"same\""},
    {"conv3d.padding", "strided_same", kStandard,
     "input=T[1,2,4,5,6] weight=T[3,2,2,2,3] padding=\"same\" stride=[2,2,2] !runtime"},
    {"conv2d", "plain", kSmoke, "input=T[2,3,7,9] weight=T[4,3,3,2] bias=T[4]"},
    {"conv2d", "padded", kStandard, "input=T[2,3,7,9] weight=T[4,3,3,3] padding=[1,2]"},
    {"conv2d", "depthwise", kStandard, "input=T[2,4,7,9] weight=T[4,1,3,3] groups=4"},
    {"conv2d", "unbatched", kStandard, "input=T[3,7,9] weight=T[4,3,3,2] bias=T[4]"},
    {"conv2d", "strided", kStandard,
     "input=T[2,3,7,9]@strided weight=T[4,3,3,2]@transposed bias=T[4] stride=[2,3] dilation=[2,1]"},
    {"conv2d", "no_batch", kStandard, "input=T[0,3,7,9] weight=T[4,3,3,2] bias=T[4]"},
    {"conv2d", "too_small", kStandard, "input=T[2,3,2,2] weight=T[4,3,3,3] !runtime"},
    {"conv3d", "plain", kSmoke, "input=T[1,2,4,5,6] weight=T[3,2,2,2,3]"},
    {"conv3d", "padded", kStandard,
     "input=T[1,2,4,5,6] weight=T[3,2,2,2,3] bias=T[3] padding=[1,0,2]"},
    {"conv3d", "strided", kStandard,
     "input=T[1,2,4,5,6] weight=T[3,2,2,2,3] stride=[2,1,2] dilation=[1,2,1]"},
    {"conv3d", "grouped", kStandard, "input=T[2,2,4,5,6] weight=T[2,1,3,3,3] groups=2"},
    {"conv3d", "unbatched", kStandard, "input=T[2,4,5,6] weight=T[3,2,2,2,3] bias=T[3]"},
    {"conv3d", "mismatch", kStandard, "input=T[1,3,4,5,6] weight=T[3,2,2,2,3] !runtime"},
    {"conv_transpose1d", "plain", kSmoke, "input=T[2,4,7] weight=T[4,3,3] stride=[2]"},
    {"conv_transpose1d", "padded", kStandard,
     "input=T[2,4,7] weight=T[4,3,3] bias=T[3] stride=[2] padding=[1] output_padding=[1]"},
    {"conv_transpose1d", "dilated", kStandard, "input=T[2,4,7] weight=T[4,3,3] dilation=[2]"},
    {"conv_transpose1d", "grouped", kStandard, "input=T[2,4,7] weight=T[4,3,3] bias=T[6] groups=2"},
    {"conv_transpose1d", "unbatched", kStandard, "input=T[4,7]@transposed weight=T[4,3,3]"},
    {"conv_transpose1d", "mismatch", kStandard, "input=T[2,5,7] weight=T[4,3,3] !runtime"},
    {"conv_transpose2d.input", "plain", kSmoke, "input=T[2,4,5,6] weight=T[4,3,3,2] stride=[2]"},
    {"conv_transpose2d.input", "padded", kStandard,
     "input=T[2,4,5,6] weight=T[4,3,3,2] bias=T[3] stride=[2,1] padding=[1,0] "
     "output_padding=[1,0]"},
    {"conv_transpose2d.input", "grouped", kStandard, "input=T[2,4,5,6] weight=T[4,1,3,2] groups=2"},
    {"conv_transpose2d.input", "channels_last", kStandard,
     "input=T[2,4,5,6]@channels_last weight=T[4,3,3,3] dilation=[2,1]"},
    {"conv_transpose2d.input", "unbatched", kStandard, "input=T[4,5,6] weight=T[4,3,1,1]"},
    {"conv_transpose2d.input", "mismatch", kStandard,
     "input=T[2,3,5,6] weight=T[4,3,3,2] !runtime"},
    {"conv_transpose3d.input", "plain", kSmoke, "input=T[1,2,3,4,3] weight=T[2,3,2,2,3]"},
    {"conv_transpose3d.input", "padded", kStandard,
     "input=T[1,2,3,4,3] weight=T[2,3,3,2,3] bias=T[3] stride=[2,1,2] padding=[1,0,1] "
     "output_padding=[1,0,0]"},
    {"conv_transpose3d.input", "grouped", kStandard,
     "input=T[1,2,3,4,3] weight=T[2,2,2,2,2] groups=2"},
    {"conv_transpose3d.input", "dilated", kStandard,
     "input=T[1,2,3,4,3]@transposed weight=T[2,3,2,2,2] dilation=[2,1,2]"},
    {"conv_transpose3d.input", "unbatched", kStandard,
     "input=T[2,3,4,3] weight=T[2,3,1,2,1] bias=T[3]"},
    {"conv_transpose3d.input", "mismatch", kStandard,
     "input=T[1,3,3,4,3] weight=T[2,3,2,2,2] !runtime"},
    {"scaled_dot_product_attention", "plain", kSmoke,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,8]"},
    {"scaled_dot_product_attention", "causal", kStandard,
     "query=T[2,3,7,8] key=T[2,3,7,8] value=T[2,3,7,8] is_causal=true"},
    {"scaled_dot_product_attention", "scaled", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,8] scale=0.5"},
    {"scaled_dot_product_attention", "mask", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,8] attn_mask=bool[5,7]"},
    {"scaled_dot_product_attention", "bias", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,4] attn_mask=T[2,1,5,7]"},
    {"scaled_dot_product_attention", "strided", kStandard,
     "query=T[2,3,5,8]@transposed key=T[2,3,7,8]@strided value=T[2,3,7,8]@padded"},
    {"scaled_dot_product_attention", "one_head", kStandard,
     "query=T[1,33,8] key=T[1,65,8] value=T[1,65,8]"},
    {"scaled_dot_product_attention", "no_values", kStandard,
     "query=T[2,3,5,8] key=T[2,4,7,8] value=T[2,3,0,4] is_causal=true"},
    {"scaled_dot_product_attention", "no_queries", kStandard,
     "query=T[2,3,0,8] key=T[2,3,7,6] value=T[2,3,5,4] attn_mask=bool[9]"},
    {"scaled_dot_product_attention", "mismatch", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,9] value=T[2,3,7,8] !runtime"},
    {"_convolution", "one_dim", kSmoke,
     "input=T[2,3,11] weight=T[4,3,3] bias=T[4] stride=[1] padding=[1] dilation=[1] "
     "transposed=false output_padding=[0] groups=1 benchmark=false deterministic=false "
     "cudnn_enabled=false allow_tf32=false"},
    {"_convolution", "two_dims", kStandard,
     "input=T[2,3,7,9] weight=T[4,3,3,2] bias=none stride=[2,1] padding=[1,0] dilation=[1,2] "
     "transposed=false output_padding=[0,0] groups=1 benchmark=false deterministic=false "
     "cudnn_enabled=false allow_tf32=false"},
    {"_convolution", "transposed", kStandard,
     "input=T[2,4,7] weight=T[4,3,3] bias=T[3] stride=[2] padding=[1] dilation=[1] "
     "transposed=true output_padding=[1] groups=1 benchmark=false deterministic=false "
     "cudnn_enabled=false allow_tf32=false"},
    {"_convolution.deprecated", "one_dim", kSmoke,
     "input=T[2,3,11] weight=T[4,3,3] bias=T[4] stride=[1] padding=[1] dilation=[1] "
     "transposed=false output_padding=[0] groups=1 benchmark=false deterministic=false "
     "cudnn_enabled=false"},
    {"_convolution.deprecated", "grouped", kStandard,
     "input=T[2,4,9] weight=T[6,2,3] bias=none stride=[1] padding=[0] dilation=[1] "
     "transposed=false output_padding=[0] groups=2 benchmark=false deterministic=false "
     "cudnn_enabled=false"},
    {"_convolution_mode", "same", kSmoke,
     "input=T[2,3,7,9] weight=T[4,3,3,2] bias=T[4] stride=[1,1] padding=\"same\" dilation=[1,1] "
     "groups=1"},
    {"_convolution_mode", "valid", kStandard,
     "input=T[2,3,11] weight=T[4,3,3] bias=none stride=[2] padding=\"valid\" dilation=[1] "
     "groups=1"},
    {"_convolution_mode", "unknown", kStandard,
     "input=T[2,3,11] weight=T[4,3,3] bias=none stride=[1] padding=\"full\" dilation=[1] "
     "groups=1 !runtime"},
    {"_slow_conv2d_forward", "plain", kSmoke,
     "self=T[2,3,7,9] weight=T[4,3,3,2] kernel_size=[3,2] bias=T[4] stride=[1,1] padding=[0,0]"},
    {"_slow_conv2d_forward", "padded", kStandard,
     "self=T[2,3,7,9] weight=T[4,3,3,3] kernel_size=[3,3] bias=none stride=[2,1] padding=[1,2]"},
    {"slow_conv3d_forward", "plain", kSmoke,
     "self=T[1,2,4,5,6] weight=T[3,2,2,2,3] kernel_size=[2,2,3] bias=T[3] stride=[1,1,1] "
     "padding=[0,0,0]"},
    {"slow_conv3d_forward", "padded", kStandard,
     "self=T[1,2,4,5,6] weight=T[3,2,2,2,3] kernel_size=[2,2,3] bias=none stride=[2,1,1] "
     "padding=[1,0,1]"},
    {"thnn_conv2d slow_conv_dilated2d", "plain", kSmoke,
     "self=T[2,3,7,9] weight=T[4,3,3,2] kernel_size=[3,2] bias=T[4]"},
    {"thnn_conv2d slow_conv_dilated2d", "padded", kStandard,
     "self=T[2,3,7,9] weight=T[4,3,3,3] kernel_size=[3,3] stride=[2,1] padding=[1,2]"},
    {"thnn_conv2d slow_conv_dilated2d", "unbatched", kStandard,
     "self=T[3,7,9] weight=T[4,3,3,2] kernel_size=[3,2]"},
    {"slow_conv_dilated2d", "dilated", kStandard,
     "self=T[2,3,7,9] weight=T[4,3,3,2] kernel_size=[3,2] dilation=[2,3]"},
    {"slow_conv3d slow_conv_dilated3d", "plain", kSmoke,
     "self=T[1,2,4,5,6] weight=T[3,2,2,2,3] kernel_size=[2,2,3] bias=T[3]"},
    {"slow_conv3d slow_conv_dilated3d", "padded", kStandard,
     "self=T[1,2,4,5,6] weight=T[3,2,2,2,3] kernel_size=[2,2,3] stride=[2,1,2] padding=[1,0,1]"},
    {"slow_conv_dilated3d", "dilated", kStandard,
     "self=T[1,2,4,5,6] weight=T[3,2,2,2,2] kernel_size=[2,2,2] dilation=[2,1,3]"},
    {"_conv_depthwise2d", "plain", kSmoke,
     "self=T[2,4,7,9] weight=T[4,1,3,2] kernel_size=[3,2] bias=T[4] stride=[1,1] padding=[0,0] "
     "dilation=[1,1]"},
    {"_conv_depthwise2d", "padded", kStandard,
     "self=T[2,4,7,9] weight=T[8,1,3,3] kernel_size=[3,3] bias=none stride=[2,1] padding=[1,1] "
     "dilation=[1,2]"},
    {"_conv_depthwise2d", "rank", kStandard,
     "self=T[7,9] weight=T[4,1,3,3] kernel_size=[3,3] bias=none stride=[1,1] padding=[0,0] "
     "dilation=[1,1] !runtime"},
    {"conv_depthwise3d", "plain", kSmoke,
     "self=T[1,2,4,5,6] weight=T[2,1,2,2,3] kernel_size=[2,2,3] bias=T[2] stride=[1,1,1] "
     "padding=[0,0,0] dilation=[1,1,1]"},
    {"conv_depthwise3d", "padded", kStandard,
     "self=T[1,2,4,5,6] weight=T[4,1,2,2,3] kernel_size=[2,2,3] bias=none stride=[2,1,1] "
     "padding=[1,0,1] dilation=[1,2,1]"},
    {"conv_depthwise3d", "rank", kStandard,
     "self=T[4,5,6] weight=T[2,1,2,2,3] kernel_size=[2,2,3] bias=none stride=[1,1,1] "
     "padding=[0,0,0] dilation=[1,1,1] !runtime"},
    {"slow_conv_transpose2d", "plain", kSmoke,
     "self=T[2,4,5,6] weight=T[4,3,3,2] kernel_size=[3,2] bias=T[3]"},
    {"slow_conv_transpose2d", "padded", kStandard,
     "self=T[2,4,5,6] weight=T[4,3,3,2] kernel_size=[3,2] stride=[2,1] padding=[1,0] "
     "output_padding=[1,0]"},
    {"slow_conv_transpose2d", "dilated", kStandard,
     "self=T[2,4,5,6] weight=T[4,3,3,2] kernel_size=[3,2] dilation=[2,1]"},
    {"slow_conv_transpose3d", "plain", kSmoke,
     "self=T[1,2,3,4,3] weight=T[2,3,2,2,3] kernel_size=[2,2,3] bias=T[3]"},
    {"slow_conv_transpose3d", "padded", kStandard,
     "self=T[1,2,3,4,3] weight=T[2,3,3,2,3] kernel_size=[3,2,3] stride=[2,1,2] padding=[1,0,1] "
     "output_padding=[1,0,0]"},
    {"conv_tbc", "plain", kSmoke, "self=T[9,2,3] weight=T[3,3,4] bias=T[4]"},
    {"conv_tbc", "padded", kStandard,
     "self=T[9,2,3]@transposed weight=T[3,3,4]@strided bias=T[4] pad=2"},
    {"conv_tbc", "mismatch", kStandard, "self=T[9,2,3] weight=T[3,4,4] bias=T[4] !runtime"},
    {"conv_tbc_backward", "plain", kSmoke,
     "self=T[7,2,4] input=T[9,2,3] weight=T[3,3,4] bias=T[4] pad=0"},
    {"conv_tbc_backward", "padded", kStandard,
     "self=T[9,2,4]@transposed input=T[9,2,3] weight=T[3,3,4]@strided bias=T[4] pad=1"},
    {"convolution_backward", "one_dim", kSmoke,
     "grad_output=T[2,4,11] input=T[2,3,11] weight=T[4,3,3] bias_sizes=[4] stride=[1] padding=[1] "
     "dilation=[1] transposed=false output_padding=[0] groups=1 output_mask=[true,true,true]"},
    {"convolution_backward", "two_dims", kStandard,
     "grad_output=T[2,4,3,8] input=T[2,3,7,9] weight=T[4,3,3,2] bias_sizes=none stride=[2,1] "
     "padding=[0,0] dilation=[1,1] transposed=false output_padding=[0,0] groups=1 "
     "output_mask=[true,true,false]"},
    {"convolution_backward", "grouped", kStandard,
     "grad_output=T[2,6,7] input=T[2,4,9] weight=T[6,2,3] bias_sizes=[6] stride=[1] padding=[0] "
     "dilation=[1] transposed=false output_padding=[0] groups=2 output_mask=[true,true,true]"},
    {"convolution_backward", "transposed", kStandard,
     "grad_output=T[2,3,14] input=T[2,4,7] weight=T[4,3,3] bias_sizes=[3] stride=[2] padding=[1] "
     "dilation=[1] transposed=true output_padding=[1] groups=1 output_mask=[true,true,true]"},
    {"convolution_backward", "input_alone", kStandard,
     "grad_output=T[2,4,5]@strided input=T[2,3,11] weight=T[4,3,3] bias_sizes=[4] stride=[2] "
     "padding=[0] dilation=[1] transposed=false output_padding=[0] groups=1 "
     "output_mask=[true,false,false]"},
    {"convolution_backward", "weight_alone", kStandard,
     "grad_output=T[2,4,7]@transposed input=T[2,3,11] weight=T[4,3,3] bias_sizes=[4] stride=[1] "
     "padding=[0] dilation=[2] transposed=false output_padding=[0] groups=1 "
     "output_mask=[false,true,false]"},
    {"_slow_conv2d_backward.output_mask", "plain", kSmoke,
     "grad_output=T[2,4,5,8] self=T[2,3,7,9] weight=T[4,3,3,2] kernel_size=[3,2] stride=[1,1] "
     "padding=[0,0] output_mask=[true,true,true]"},
    {"_slow_conv2d_backward.output_mask", "padded", kStandard,
     "grad_output=T[2,4,4,11] self=T[2,3,7,9] weight=T[4,3,3,3] kernel_size=[3,3] stride=[2,1] "
     "padding=[1,2] output_mask=[true,false,true]"},
    {"_slow_conv2d_backward.output_mask", "weight_alone", kStandard,
     "grad_output=T[2,4,5,8]@strided self=T[2,3,7,9] weight=T[4,3,3,2] kernel_size=[3,2] "
     "stride=[1,1] padding=[0,0] output_mask=[false,true,false]"},
    {"_slow_conv2d_backward.grad_input", "plain", kSmoke,
     "grad_output=T[2,4,5,8] self=T[2,3,7,9] weight=T[4,3,3,2] kernel_size=[3,2] stride=[1,1] "
     "padding=[0,0] grad_input=T[2,3,7,9] grad_weight=T[4,3,3,2] grad_bias=T[4]"},
    {"_slow_conv2d_backward.grad_input", "padded", kStandard,
     "grad_output=T[2,4,4,11] self=T[2,3,7,9] weight=T[4,3,3,3] kernel_size=[3,3] stride=[2,1] "
     "padding=[1,2] grad_input=T[2,3,7,9]@strided grad_weight=T[4,3,3,3] grad_bias=T[4]@strided"},
    {"_scaled_dot_product_attention_math", "plain", kSmoke,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,8]"},
    {"_scaled_dot_product_attention_math", "causal", kStandard,
     "query=T[2,3,7,8] key=T[2,3,7,8] value=T[2,3,7,8] is_causal=true"},
    {"_scaled_dot_product_attention_math", "scaled", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,4] scale=0.5"},
    {"_scaled_dot_product_attention_math", "bias", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,8] attn_mask=T[5,7]"},
    {"_scaled_dot_product_attention_math", "strided", kStandard,
     "query=T[2,3,5,8]@transposed key=T[2,3,7,8]@strided value=T[2,3,7,8]"},
    {"_scaled_dot_product_attention_math", "small", kStandard,
     "query=T[2,3,5,8]{-1..1} key=T[2,3,7,8]{-1..1} value=T[2,3,7,8]{-1..1}"},
    // Scores whose exponentials are beyond the range of f32.
    {"_scaled_dot_product_attention_math", "far", kStandard,
     "query=T[2,3,5,8]{-20..20} key=T[2,3,7,8]{-20..20} value=T[2,3,7,8]"},
    {"_scaled_dot_product_attention_math", "hidden", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,8] value=T[2,3,7,8] attn_mask=bool[5,7]{zeros}"},
    {"_scaled_dot_product_attention_math", "mismatch", kStandard,
     "query=T[2,3,5,8] key=T[2,3,7,9] value=T[2,3,7,8] !runtime"},
};

}  // namespace

std::span<const OperatorRow> convolution_rows() {
  return kRows;
}

}  // namespace primset::conformance
