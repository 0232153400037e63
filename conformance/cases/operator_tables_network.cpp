#include "conformance/cases/generators.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

// Normalisation, pooling, upsampling, losses.
constexpr OperatorRow kNetwork[] = {
    {"native_layer_norm", "plain", kSmoke,
     "input=T[6,37] normalized_shape=[37] weight=T[37] bias=T[37] eps=1e-5"},
    {"native_layer_norm", "bare", kStandard,
     "input=T[6,37] normalized_shape=[37] weight=none bias=none eps=1e-5"},
    {"native_layer_norm", "two_dims", kStandard,
     "input=T[3,4,5] normalized_shape=[4,5] weight=T[4,5] bias=none eps=1e-3"},
    {"native_layer_norm", "empty", kStandard,
     "input=T[0,5] normalized_shape=[5] weight=T[5] bias=T[5] eps=1e-5"},
    {"native_layer_norm", "transposed", kStandard,
     "input=T[6,37]@transposed normalized_shape=[37] weight=T[37] bias=T[37] eps=1e-5"},
    {"native_layer_norm", "mismatch", kSmoke,
     "input=T[6,37] normalized_shape=[36] weight=none bias=none eps=1e-5 !runtime"},
    {"layer_norm", "plain", kSmoke, "input=T[6,37] normalized_shape=[37] weight=T[37] bias=T[37]"},
    {"layer_norm", "two_dims", kStandard, "input=T[3,4,5] normalized_shape=[4,5]"},
    {"rms_norm", "plain", kSmoke, "input=T[6,37] normalized_shape=[37] weight=T[37]"},
    {"native_group_norm", "plain", kSmoke,
     "input=T[2,6,5] weight=T[6] bias=T[6] N=2 C=6 HxW=5 group=3 eps=1e-5"},
    {"group_norm", "plain", kSmoke, "input=T[2,6,5] num_groups=3 weight=T[6] bias=T[6]"},
    {"native_batch_norm", "training", kSmoke,
     "input=T[4,3,5] weight=T[3] bias=T[3] running_mean=none running_var=none training=true "
     "momentum=0.1 eps=1e-5"},
    {"native_batch_norm", "running", kStandard,
     "input=T[4,3,5] weight=T[3] bias=T[3] running_mean=T[3] running_var=T[3]{unit} training=false "
     "momentum=0.1 eps=1e-5"},
    {"batch_norm", "training", kSmoke,
     "input=T[4,3,5] weight=T[3] bias=T[3] running_mean=none running_var=none training=true "
     "momentum=0.1 eps=1e-5 cudnn_enabled=false"},
    {"_softmax", "last_dim", kSmoke, "self=T[6,37] dim=-1 half_to_float=false"},
    {"_softmax", "first_dim", kStandard, "self=T[37,6] dim=0 half_to_float=false"},
    {"_softmax", "nan", kStandard, "self=T[4,9]{nan} dim=1 half_to_float=false"},
    {"_softmax", "empty", kStandard, "self=T[4,0] dim=1 half_to_float=false"},
    {"_softmax", "transposed", kStandard, "self=T[6,37]@transposed dim=1 half_to_float=false"},
    {"_softmax", "long", kStandard, "self=T[2,2053] dim=1 half_to_float=false"},
    {"_log_softmax", "last_dim", kSmoke, "self=T[6,37] dim=-1 half_to_float=false"},
    {"_log_softmax", "first_dim", kStandard, "self=T[37,6] dim=0 half_to_float=false"},
    {"_log_softmax", "long", kStandard, "self=T[2,2053] dim=1 half_to_float=false"},
    {"softmax.int", "last_dim", kSmoke, "self=T[6,37] dim=-1"},
    {"softmax.int", "to_f64", kStandard, "self=T[6,37] dim=0 dtype=f64"},
    {"log_softmax.int", "last_dim", kSmoke, "self=T[6,37] dim=-1"},
    {"glu", "plain", kSmoke, "self=T[6,8]"},
    {"glu", "odd", kStandard, "self=T[6,7] !runtime"},
    {"_prelu_kernel", "plain", kSmoke, "self=T[2,3,5] weight=T[1,3,1]"},
    {"max_pool2d_with_indices", "plain", kSmoke, "self=T[2,3,7,9]{distinct} kernel_size=[3,2]"},
    {"max_pool2d_with_indices", "padded", kStandard,
     "self=T[2,3,7,9]{distinct} kernel_size=[3,3] stride=[2,1] padding=[1,1]"},
    {"max_pool2d_with_indices", "ceil", kStandard,
     "self=T[2,3,7,9]{distinct} kernel_size=[2,2] stride=[2,2] ceil_mode=true"},
    {"max_pool2d", "plain", kSmoke, "self=T[2,3,7,9] kernel_size=[3,2]"},
    {"max_pool1d", "plain", kSmoke, "self=T[2,3,11] kernel_size=[3]"},
    {"avg_pool1d", "plain", kSmoke, "self=T[2,3,11] kernel_size=[3]"},
    {"avg_pool2d", "plain", kSmoke, "self=T[2,3,7,9] kernel_size=[3,2]"},
    {"avg_pool2d", "padded", kStandard,
     "self=T[2,3,7,9] kernel_size=[3,3] stride=[2,1] padding=[1,1] count_include_pad=false"},
    {"avg_pool3d", "plain", kSmoke, "self=T[1,2,4,5,6] kernel_size=[2,2,3]"},
    {"_adaptive_avg_pool2d", "plain", kSmoke, "self=T[2,3,7,9] output_size=[3,4]"},
    {"adaptive_avg_pool1d", "plain", kSmoke, "self=T[2,3,11] output_size=[4]"},
    {"adaptive_max_pool2d", "plain", kSmoke, "self=T[2,3,7,9]{distinct} output_size=[3,4]"},
    {"upsample_nearest1d", "plain", kSmoke, "self=T[2,3,5] output_size=[9]"},
    {"upsample_nearest2d", "plain", kSmoke, "self=T[2,3,5,4] output_size=[9,7]"},
    {"upsample_bilinear2d", "plain", kSmoke,
     "self=T[2,3,5,4] output_size=[9,7] align_corners=false"},
    {"upsample_bilinear2d", "corners", kStandard,
     "self=T[2,3,5,4] output_size=[9,7] align_corners=true"},
    {"upsample_linear1d", "plain", kSmoke, "self=T[2,3,5] output_size=[9] align_corners=false"},
    {"upsample_bicubic2d", "plain", kSmoke,
     "self=T[2,3,5,4] output_size=[9,7] align_corners=false"},
    {"pixel_shuffle", "plain", kSmoke, "self=T[2,8,3,4] upscale_factor=2"},
    {"pixel_unshuffle", "plain", kSmoke, "self=T[2,2,6,8] downscale_factor=2"},
    {"im2col", "plain", kSmoke,
     "self=T[2,3,7,9] kernel_size=[3,2] dilation=[1,1] padding=[1,0] stride=[1,2]"},
    {"col2im", "plain", kSmoke,
     "self=T[2,18,40] output_size=[7,9] kernel_size=[3,2] dilation=[1,1] padding=[0,0] "
     "stride=[1,1]"},
    {"nll_loss_forward", "mean", kSmoke,
     "self=T[5,7] target=i64[5]{0..7} weight=none reduction=1 ignore_index=-100"},
    {"nll_loss_forward", "weighted_sum", kStandard,
     "self=T[5,7] target=i64[5]{0..7} weight=T[7]{unit} reduction=2 ignore_index=3"},
    {"nll_loss", "mean", kSmoke, "self=T[5,7] target=i64[5]{0..7}"},
    {"cross_entropy_loss", "mean", kSmoke, "self=T[5,7] target=i64[5]{0..7}"},
    {"cross_entropy_loss", "smooth", kStandard,
     "self=T[5,7] target=i64[5]{0..7} label_smoothing=0.1"},
    {"mse_loss", "mean", kSmoke, "self=T[5,7] target=T[5,7]"},
    {"mse_loss", "sum", kStandard, "self=T[5,7] target=T[5,7] reduction=2"},
    {"mse_loss", "none", kStandard, "self=T[5,7] target=T[5,7] reduction=0"},
    {"l1_loss", "mean", kSmoke, "self=T[5,7] target=T[5,7]"},
    {"huber_loss", "mean", kSmoke, "self=T[5,7] target=T[5,7]"},
    {"smooth_l1_loss", "mean", kSmoke, "self=T[5,7] target=T[5,7]"},
    {"binary_cross_entropy", "mean", kSmoke, "self=T[5,7]{unit} target=T[5,7]{unit}"},
    {"binary_cross_entropy_with_logits", "mean", kSmoke, "self=T[5,7] target=T[5,7]{unit}"},
    {"kl_div", "mean", kSmoke, "self=T[5,7] target=T[5,7]{unit}"},
    {"soft_margin_loss", "mean", kSmoke, "self=T[5,7] target=T[5,7]"},
};

// Draws from a stated generator; long results are held against the distribution, too.
constexpr OperatorRow kRandom[] = {
    {"uniform", "unit", kSmoke, "self=T[5,7] generator=rng(7,3)"},
    {"uniform", "large", kStandard, "self=T[4099] from=-2 to=3 generator=rng(11,0)"},
    {"uniform", "transposed", kStandard, "self=T[5,7]@transposed generator=rng(7,3)"},
    {"uniform", "empty", kStandard, "self=T[0] generator=rng(7,3)"},
    {"normal_functional", "unit", kSmoke, "self=T[5,7] generator=rng(7,3)"},
    {"normal_functional", "large", kStandard, "self=T[4099] mean=1 std=2 generator=rng(11,0)"},
    {"rand", "unit", kSmoke, "size=[5,7] dtype=T device=here"},
    {"rand", "large", kStandard, "size=[4099] dtype=T device=here"},
    {"rand.generator", "unit", kSmoke, "size=[5,7] generator=rng(7,3) dtype=T device=here"},
    {"randn", "unit", kSmoke, "size=[5,7] dtype=T device=here"},
    {"randn", "large", kStandard, "size=[4099] dtype=T device=here"},
    {"rand_like", "unit", kSmoke, "self=T[5,7]"},
    {"randn_like", "unit", kSmoke, "self=T[5,7]"},
    {"randint", "small", kSmoke, "high=10 size=[5,7] dtype=T device=here"},
    {"randint.low", "large", kStandard, "low=-3 high=100 size=[4099] dtype=i64 device=here"},
    {"randperm", "plain", kSmoke, "n=37 device=here"},
    {"bernoulli", "plain", kSmoke, "self=T[5,7]{unit} generator=rng(7,3)"},
    {"bernoulli.p", "large", kStandard, "self=T[4099] p=0.3 generator=rng(11,0)"},
    {"exponential", "large", kSmoke, "self=T[4099] lambd=1.5 generator=rng(11,0)"},
    {"geometric", "large", kSmoke, "self=T[4099] p=0.3 generator=rng(11,0)"},
    {"cauchy", "large", kSmoke, "self=T[4099] generator=rng(11,0)"},
    {"log_normal", "large", kSmoke, "self=T[4099] mean=0.5 std=0.25 generator=rng(11,0)"},
    {"poisson", "plain", kSmoke, "self=T[5,7]{0..9} generator=rng(7,3)"},
    {"multinomial", "plain", kSmoke,
     "self=T[3,8]{unit} num_samples=5 replacement=true generator=rng(7,3)"},
    {"native_dropout", "half", kSmoke, "input=T[5,7] p=0.5 train=true"},
    {"native_dropout", "eval", kStandard, "input=T[5,7] p=0.5 train=false"},
    {"dropout", "half", kSmoke, "input=T[5,7] p=0.5 train=true"},
};

}  // namespace

std::span<const OperatorRow> network_rows() {
  return kNetwork;
}

std::span<const OperatorRow> random_op_rows() {
  return kRandom;
}

}  // namespace primset::conformance
