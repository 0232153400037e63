#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

// Gradients of normalisations, batch norm over several devices, normalised weights.
constexpr OperatorRow kNormalization[] = {
    {"native_layer_norm_backward", "plain", kSmoke,
     "grad_out=T[6,37] input=T[6,37] normalized_shape=[37] mean=T[6,1] rstd=T[6,1]{unit} "
     "weight=T[37] bias=T[37] output_mask=[true,true,true]"},
    {"native_layer_norm_backward", "two_dims", kStandard,
     "grad_out=T[3,4,5]@transposed input=T[3,4,5] normalized_shape=[4,5] mean=T[3,1,1] "
     "rstd=T[3,1,1]{unit} weight=none bias=none output_mask=[true,false,false]"},
    {"native_layer_norm_backward", "long", kStandard,
     "grad_out=T[2,2053] input=T[2,2053] normalized_shape=[2053] mean=T[2,1] rstd=T[2,1]{unit} "
     "weight=T[2053] bias=none output_mask=[true,true,false]"},
    {"native_layer_norm_backward", "empty", kStandard,
     "grad_out=T[0,5] input=T[0,5] normalized_shape=[5] mean=T[0,1] rstd=T[0,1] weight=T[5] "
     "bias=T[5] output_mask=[true,true,true]"},
    {"native_layer_norm_backward", "mismatch", kStandard,
     "grad_out=T[6,36] input=T[6,37] normalized_shape=[37] mean=T[6,1] rstd=T[6,1] weight=none "
     "bias=none output_mask=[true,false,false] !runtime"},
    {"_fused_rms_norm", "plain", kSmoke, "input=T[6,37] normalized_shape=[37] weight=T[37]"},
    {"_fused_rms_norm", "two_dims", kStandard,
     "input=T[3,4,5]@transposed normalized_shape=[4,5] weight=none eps=0.01"},
    {"_fused_rms_norm", "mismatch", kStandard,
     "input=T[6,37] normalized_shape=[36] weight=none !runtime"},
    {"_fused_rms_norm_backward", "plain", kSmoke,
     "grad_out=T[6,37] input=T[6,37] normalized_shape=[37] rstd=A[6,1]{unit} weight=T[37] "
     "output_mask=[true,true]"},
    {"_fused_rms_norm_backward", "two_dims", kStandard,
     "grad_out=T[3,4,5] input=T[3,4,5]@transposed normalized_shape=[4,5] rstd=A[3,1,1]{unit} "
     "weight=none output_mask=[true,false]"},
    {"native_group_norm_backward", "plain", kSmoke,
     "grad_out=T[2,6,5] input=T[2,6,5] mean=T[2,3] rstd=T[2,3]{unit} weight=T[6] N=2 C=6 HxW=5 "
     "group=3 output_mask=[true,true,true]"},
    {"native_group_norm_backward", "bare", kStandard,
     "grad_out=T[2,6,3,4]@transposed input=T[2,6,3,4] mean=T[2,1] rstd=T[2,1]{unit} weight=none "
     "N=2 C=6 HxW=12 group=1 output_mask=[true,true,true]"},
    {"native_group_norm_backward", "empty", kStandard,
     "grad_out=T[0,6,5] input=T[0,6,5] mean=T[0,3] rstd=T[0,3] weight=T[6] N=0 C=6 HxW=5 group=3 "
     "output_mask=[true,true,true]"},
    {"native_group_norm_backward", "not_divisible", kStandard,
     "grad_out=T[2,6,5] input=T[2,6,5] mean=T[2,4] rstd=T[2,4] weight=none N=2 C=6 HxW=5 group=4 "
     "output_mask=[true,true,true] !runtime"},
    {"native_batch_norm_backward", "training", kSmoke,
     "grad_out=T[4,3,5] input=T[4,3,5] weight=T[3] running_mean=none running_var=none "
     "save_mean=T[3] save_invstd=T[3]{unit} train=true eps=1e-5 output_mask=[true,true,true]"},
    {"native_batch_norm_backward", "running", kStandard,
     "grad_out=T[4,3,5,2]@channels_last input=T[4,3,5,2]@channels_last weight=none "
     "running_mean=T[3] running_var=T[3]{unit} save_mean=none save_invstd=none train=false "
     "eps=1e-3 output_mask=[true,true,true]"},
    {"native_batch_norm_backward", "long", kStandard,
     "grad_out=T[2,2,1031] input=T[2,2,1031] weight=T[2] running_mean=none running_var=none "
     "save_mean=T[2] save_invstd=T[2]{unit} train=true eps=1e-5 output_mask=[true,false,true]"},
    {"native_batch_norm_backward", "no_statistics", kStandard,
     "grad_out=T[4,3] input=T[4,3] weight=none running_mean=none running_var=none save_mean=none "
     "save_invstd=none train=true eps=1e-5 output_mask=[true,true,true] !runtime"},
    {"batch_norm_backward", "training", kSmoke,
     "grad_out=T[4,3,5] input=T[4,3,5] weight=T[3] running_mean=none running_var=none "
     "save_mean=T[3] save_var=T[3]{unit} update=true eps=1e-5 output_mask=[true,true,true] "
     "reserve=u8[0]"},
    {"_native_batch_norm_legit.no_stats", "training", kSmoke,
     "input=T[4,3,5] weight=T[3] bias=T[3] training=true momentum=0.1 eps=1e-5"},
    {"_native_batch_norm_legit.no_stats", "large_eps", kStandard,
     "input=T[4,3,5] weight=T[3] bias=T[3] training=true momentum=0.1 eps=2"},
    {"_native_batch_norm_legit.no_stats", "inference", kStandard,
     "input=T[4,3,5] weight=T[3] bias=T[3] training=false momentum=0.1 eps=1e-5 !runtime"},
    {"_batch_norm_with_update*", "bare", kStandard,
     "input=T[4,3,5,2]@channels_last weight=none bias=none running_mean=T[3] "
     "running_var=T[3]{unit} momentum=0.25 eps=1e-3"},
    {"instance_norm", "plain", kSmoke,
     "input=T[2,3,5] weight=T[3] bias=T[3] running_mean=none running_var=none "
     "use_input_stats=true momentum=0.1 eps=1e-5 cudnn_enabled=false"},
    {"instance_norm", "running", kStandard,
     "input=T[2,3,5]@transposed weight=none bias=none running_mean=T[3] running_var=T[3]{unit} "
     "use_input_stats=false momentum=0.1 eps=1e-5 cudnn_enabled=false"},
    {"instance_norm", "no_statistics", kStandard,
     "input=T[2,3,5] weight=none bias=none running_mean=none running_var=none "
     "use_input_stats=false momentum=0.1 eps=1e-5 cudnn_enabled=false !runtime"},
    {"batch_norm_stats", "plain", kSmoke, "input=T[4,3,5] eps=1e-5"},
    {"batch_norm_stats", "channels_last", kStandard, "input=T[4,3,5,2]@channels_last eps=1e-3"},
    {"batch_norm_update_stats", "plain", kSmoke,
     "input=T[4,3,5] running_mean=none running_var=none momentum=0.1"},
    {"batch_norm_update_stats", "empty", kStandard,
     "input=T[0,3,5] running_mean=none running_var=none momentum=0.1 !runtime"},
    {"batch_norm_elemt", "plain", kSmoke,
     "input=T[4,3,5] weight=T[3] bias=T[3] mean=A[3] invstd=A[3]{unit} eps=1e-5"},
    {"batch_norm_gather_stats", "plain", kSmoke,
     "input=T[4,3,5] mean=A[2,3] invstd=A[2,3]{unit} running_mean=none running_var=none "
     "momentum=0.1 eps=1e-5 count=20"},
    {"batch_norm_gather_stats_with_counts", "plain", kSmoke,
     "input=T[4,3,5] mean=A[2,3] invstd=A[2,3]{unit} running_mean=none running_var=none "
     "momentum=0.1 eps=1e-5 counts=A[2]{1..9}"},
    {"batch_norm_backward_reduce", "plain", kSmoke,
     "grad_out=T[4,3,5] input=T[4,3,5] mean=A[3] invstd=A[3]{unit} weight=T[3] input_g=true "
     "weight_g=true bias_g=true"},
    {"batch_norm_backward_elemt", "plain", kSmoke,
     "grad_out=T[4,3,5] input=T[4,3,5] mean=A[3] invstd=A[3]{unit} weight=T[3] sum_dy=A[3] "
     "sum_dy_xmu=A[3] count=i32[2]{1..9}"},
    {"_weight_norm _weight_norm_interface", "first", kSmoke, "v=T[5,3,7] g=T[5,1,1]"},
    {"_weight_norm _weight_norm_interface", "last", kStandard,
     "v=T[5,3,7]@transposed g=T[1,1,7] dim=2"},
    {"_weight_norm", "middle", kStandard, "v=T[5,3,7] g=T[1,3,1] dim=1"},
    {"_weight_norm_interface", "middle", kStandard, "v=T[5,3,7] g=T[1,3,1] dim=1 !runtime"},
    {"_weight_norm_interface_backward", "first", kSmoke,
     "grad_w=T[5,3,7] saved_v=T[5,3,7] saved_g=T[5,1,1] saved_norms=A[5,1,1]{positive} dim=0"},
    {"_weight_norm_interface_backward", "last", kStandard,
     "grad_w=T[5,7] saved_v=T[5,7]@transposed saved_g=T[1,7] saved_norms=A[1,7]{positive} dim=1"},
    {"_weight_norm_differentiable_backward", "first", kSmoke,
     "grad_w=T[5,3,7] saved_v=T[5,3,7] saved_g=T[5,1,1] saved_norms=T[5,1,1]{positive} dim=0"},
    {"_masked_softmax", "rows", kSmoke, "self=T[6,37] mask=bool[6,37] dim=1"},
    {"_masked_softmax", "padding", kStandard, "self=T[2,3,5,5] mask=bool[2,5] dim=3 mask_type=1"},
    {"_masked_softmax", "attention", kStandard,
     "self=T[2,3,5,5]@transposed mask=bool[5,5] dim=1 mask_type=0"},
    {"_masked_softmax", "mismatch", kStandard, "self=T[6,37] mask=bool[6,36] dim=1 !runtime"},
    {"_masked_softmax_backward", "rows", kSmoke,
     "grad_output=T[6,37] output=T[6,37]{unit} mask=bool[6,37] dim=1"},
    {"_masked_softmax_backward", "mismatch", kStandard,
     "grad_output=T[6,37] output=T[6,37] mask=bool[6,36] dim=1 !runtime"},
    {"_fused_dropout", "plain", kSmoke, "self=T[5,7] p=0.75 generator=rng(7,3)"},
    {"_fused_dropout", "transposed", kStandard, "self=T[5,7]@transposed p=0.5 generator=rng(7,3)"},
    {"_masked_scale", "plain", kSmoke, "self=T[5,7] mask=u8[5,7]{0..2} scale=2"},
    {"_masked_scale", "float_mask", kStandard, "self=T[5,7] mask=f32[5,7] scale=2 !runtime"},
    {"alpha_dropout feature_alpha_dropout feature_dropout", "training", kSmoke,
     "input=T[4,3,5] p=0.5 train=true"},
    {"alpha_dropout feature_alpha_dropout feature_dropout", "inference", kStandard,
     "input=T[4,3,5]@transposed p=0.5 train=false"},
    {"alpha_dropout feature_alpha_dropout feature_dropout", "all", kStandard,
     "input=T[40]{special} p=1 train=true"},
    {"alpha_dropout feature_alpha_dropout feature_dropout", "out_of_range", kStandard,
     "input=T[4,3,5] p=1.5 train=true !runtime"},
    {"feature_alpha_dropout feature_dropout", "vector", kStandard,
     "input=T[4] p=0.5 train=true !runtime"},
    {"glu_backward", "plain", kSmoke, "grad_output=T[6,4] self=T[6,8] dim=-1"},
    {"glu_backward", "first_dim", kStandard, "grad_output=T[4,6] self=T[8,6]@transposed dim=0"},
    {"glu_backward", "mismatch", kStandard, "grad_output=T[6,5] self=T[6,8] dim=1 !runtime"},
    {"glu_jvp", "plain", kSmoke, "glu=T[6,4] x=T[6,8] dx=T[6,8]@transposed dim=1"},
    {"glu_backward_jvp", "plain", kSmoke,
     "grad_x=T[6,8] grad_glu=T[6,4] x=T[6,8] dgrad_glu=T[6,4] dx=T[6,8] dim=1"},
    {"rrelu", "inference", kSmoke, "self=T[5,7]"},
    {"rrelu", "training", kStandard,
     "self=T[5,7]@transposed lower=0.1 upper=0.5 training=true generator=rng(7,3)"},
    {"rrelu", "crossed", kStandard, "self=T[5,7] lower=0.5 upper=0.1 !runtime"},
    {"rrelu_with_noise_functional", "training", kSmoke,
     "self=T[5,7] noise=T[5,7] lower=0.1 upper=0.5 training=true generator=rng(7,3)"},
    {"rrelu_with_noise_functional", "inference", kStandard, "self=T[40]{special} noise=T[40]"},
    {"rrelu_with_noise_functional", "mismatch", kStandard, "self=T[5,7] noise=T[7] !runtime"},
    {"rrelu_with_noise_backward", "training", kSmoke,
     "grad_output=T[5,7] self=T[5,7] noise=T[5,7] lower=0.1 upper=0.5 training=true "
     "self_is_result=false"},
    {"rrelu_with_noise_backward", "inference", kStandard,
     "grad_output=T[5,7] self=T[5,7] noise=T[5,7] lower=0.1 upper=0.5 training=false "
     "self_is_result=true"},
    {"_prelu_kernel_backward", "plain", kSmoke,
     "grad_output=T[2,3,5] self=T[2,3,5] weight=T[1,3,1]"},
    {"_prelu_kernel_backward", "special", kStandard,
     "grad_output=T[40] self=T[40]{special} weight=T[40]"},
    {"fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask", "plain", kSmoke,
     "self=T[5,7] scale=0.25 zero_point=3 quant_min=-8 quant_max=7"},
    {"fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask", "special",
     kStandard, "self=T[40]{special} scale=0.1 zero_point=0 quant_min=-128 quant_max=127"},
    {"fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask", "range",
     kStandard, "self=T[5] scale=0.1 zero_point=9 quant_min=-8 quant_max=7 !runtime"},
    {"fake_quantize_per_tensor_affine.tensor_qparams", "plain", kSmoke,
     "self=T[5,7] scale=f32[1]{positive} zero_point=i32[1]{0..9} quant_min=0 quant_max=255"},
    {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "plain", kSmoke,
     "self=T[5,7]@transposed scale=f32[1]{positive} zero_point=i32[1]{0..9} "
     "fake_quant_enabled=i64[1]{ones} quant_min=0 quant_max=255"},
    {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask", "plain", kSmoke,
     "self=T[5,7] scale=f32[7]{positive} zero_point=i32[7]{0..9} axis=1 quant_min=0 "
     "quant_max=255"},
    {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask", "float_zero",
     kStandard,
     "self=T[5,7]@transposed scale=f32[5]{positive} zero_point=f32[5] axis=0 quant_min=-8 "
     "quant_max=7"},
    {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask", "channels",
     kStandard,
     "self=T[5,7] scale=f32[5]{positive} zero_point=i32[5]{0..9} axis=1 quant_min=0 quant_max=255 "
     "!runtime"},
    {"fake_quantize_*_affine_cachemask_backward", "plain", kSmoke,
     "grad=T[5,7]@transposed mask=bool[5,7]"},
    {"fake_quantize_*_affine_cachemask_backward", "mismatch", kStandard,
     "grad=T[5,7] mask=bool[7] !runtime"},
    {"_fake_quantize_learnable_per_tensor_affine", "plain", kSmoke,
     "self=T[5,7] scale=f32[1]{positive} zero_point=f32[1] quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_channel_affine", "plain", kSmoke,
     "self=T[5,7] scale=f32[7]{positive} zero_point=f32[7] axis=1 quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_tensor_affine_backward", "plain", kSmoke,
     "grad=T[5,7] self=T[5,7] scale=f32[1]{positive} zero_point=f32[1] quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_channel_affine_backward", "plain", kSmoke,
     "grad=T[5,7] self=T[5,7]@transposed scale=f32[7]{positive} zero_point=f32[7] axis=1 "
     "quant_min=-8 quant_max=7 grad_factor=0.5"},
    // Of halves a rounded sum differs from the sum with what is rounded.
    {"fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask", "halves",
     kStandard,
     "self=T[5,7]{-2.5,-1.5,-0.5,0.5,1.5,2.5,9.5} scale=1 zero_point=1 quant_min=-8 quant_max=7"},
    {"fake_quantize_per_tensor_affine.tensor_qparams", "halves", kStandard,
     "self=T[5,7]{-2.5,-1.5,-0.5,0.5,1.5,2.5,9.5} scale=f32[1]{ones} zero_point=i32[1]{ones} "
     "quant_min=-8 quant_max=7"},
    {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "halves", kStandard,
     "self=T[5,7]{-2.5,-1.5,-0.5,0.5,1.5,2.5,9.5} scale=f32[1]{ones} zero_point=i32[1]{ones} "
     "fake_quant_enabled=i64[1]{ones} quant_min=-8 quant_max=7"},
    {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "disabled", kStandard,
     "self=T[5,7]{-2.5,-1.5,-0.5,0.5,1.5,2.5,9.5} scale=f32[1]{ones} zero_point=i32[1]{ones} "
     "fake_quant_enabled=i64[1]{zeros} quant_min=-8 quant_max=7"},
    {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask", "halves",
     kStandard,
     "self=T[7,5]{-2.5,-1.5,-0.5,0.5,1.5,2.5,9.5} scale=f32[5]{ones} zero_point=i32[5]{1,0,-3} "
     "axis=1 quant_min=-8 quant_max=7"},
    {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask", "ends",
     kStandard,
     "self=T[5,7]{-9..9} scale=f32[5]{positive} zero_point=i32[5]{-8,7} axis=0 quant_min=-8 "
     "quant_max=7"},
    {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask", "below",
     kStandard,
     "self=T[5,7] scale=f32[5]{positive} zero_point=i32[5]{0,-9} axis=0 quant_min=-8 quant_max=7 "
     "!runtime"},
    {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask", "above",
     kStandard,
     "self=T[5,7] scale=f32[5]{positive} zero_point=i32[5]{0,8} axis=0 quant_min=-8 quant_max=7 "
     "!runtime"},
    // Zero points between numbers and beyond the range, of which nothing but the nearest in it is
    // used.
    {"_fake_quantize_learnable_per_tensor_affine", "below", kStandard,
     "self=T[5,7]{-9..9} scale=f32[1]{unit} zero_point=f32[1]{-11.5,0} quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_tensor_affine", "above", kStandard,
     "self=T[5,7]{-9..9} scale=f32[1]{unit} zero_point=f32[1]{9.5,0} quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_tensor_affine", "halves", kStandard,
     "self=T[5,7]{-2.5,-1.5,-0.5,0.5,1.5,2.5,9.5} scale=f32[1]{ones} zero_point=f32[1]{1.5,0} "
     "quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_channel_affine", "beyond", kStandard,
     "self=T[5,7]{-9..9} scale=f32[7]{unit} zero_point=f32[7]{-11.5,9.5,2.5,3.5} axis=1 "
     "quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_channel_affine", "halves", kStandard,
     "self=T[5,7]{-2.5,-1.5,-0.5,0.5,1.5,2.5,9.5} scale=f32[5]{ones} zero_point=f32[5]{1,0.5,-3} "
     "axis=0 quant_min=-8 quant_max=7"},
    {"_fake_quantize_learnable_per_channel_affine", "nan", kStandard,
     "self=T[5,7] scale=f32[7]{unit} zero_point=f32[7]{1,nan} axis=1 quant_min=-8 quant_max=7 "
     "!runtime"},
    {"_fake_quantize_learnable_per_tensor_affine_backward", "below", kStandard,
     "grad=T[5,7] self=T[5,7]{-9..9} scale=f32[1]{0.4,1} zero_point=f32[1]{-11.5,0} "
     "quant_min=-8 quant_max=7 grad_factor=0.5"},
    {"_fake_quantize_learnable_per_tensor_affine_backward", "above", kStandard,
     "grad=T[5,7] self=T[5,7]{-9..9} scale=f32[1]{0.4,1} zero_point=f32[1]{9.5,0} "
     "quant_min=-8 quant_max=7 grad_factor=0.5"},
    {"_fake_quantize_learnable_per_channel_affine_backward", "beyond", kStandard,
     "grad=T[5,7] self=T[5,7]{-9..9} scale=f32[7]{0.4,0.7,1.5} zero_point=f32[7]{-11.5,2.5,9.5,0} "
     "axis=1 quant_min=-8 quant_max=7 grad_factor=0.5"},
};

}  // namespace

std::span<const OperatorRow> normalization_rows() {
  return kNormalization;
}

}  // namespace primset::conformance
