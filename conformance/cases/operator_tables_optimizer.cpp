#include "conformance/cases/generators.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

// Three lists in the layouts, sizes and values that a case is about; skipped steps leave them as
// they are.
#define LISTS(a, b, c, shapes) a "=" shapes " " b "=" shapes " " c "=" shapes

#define SGD_LISTS(shapes) LISTS("self", "grads", "momentum_buffer_list", shapes)
#define SGD_NUMBERS " weight_decay=0.01 momentum=0.9 dampening=0.25 "
#define PLAIN_SGD SGD_NUMBERS "nesterov=false maximize=false is_first_step=false"

#define ADAM_LISTS(shapes, squares) \
  LISTS("self", "grads", "exp_avgs", shapes) " exp_avg_sqs=" squares
#define ADAM_NUMBERS " beta1=0.9 beta2=0.99 weight_decay=0.1 eps=1e-8 "
#define PLAIN_ADAM ADAM_NUMBERS "amsgrad=false maximize=false max_exp_avg_sqs=()"

#define ADAGRAD_LISTS(shapes, sums) "self=" shapes " grads=" shapes " state_sums=" sums
#define ADAGRAD_NUMBERS " lr_decay=0.05 eps=1e-10 "

#define TAKEN " grad_scale=f32[]{2..4} found_inf=f32[]{zeros}"
#define SKIPPED " grad_scale=f32[]{2..4} found_inf=f32[1]{ones}"
#define RATE " lr=0.1"
#define TENSOR_RATE " lr=f32[]{unit}"
#define STEPS " state_steps=(f32[]{1..2},f32[1]{5..9})"

// One set of rows a way of giving the learning rate.
#define SGD_ROWS(op, lr)                                                                          \
  {op, "taken", kSmoke, SGD_LISTS("(T[5],T[3,4])") PLAIN_SGD lr TAKEN},                           \
      {op, "skipped", kSmoke, SGD_LISTS("(T[5],T[3,4])") PLAIN_SGD lr SKIPPED},                   \
      {op, "plain", kStandard, SGD_LISTS("(T[1031],T[3,4])") PLAIN_SGD lr},                       \
      {op, "transposed", kStandard,                                                               \
       SGD_LISTS("(T[5,7]@transposed,T[4]@strided)") PLAIN_SGD lr TAKEN},                         \
      {op, "skipped_strided", kStandard,                                                          \
       SGD_LISTS("(T[5,7]@strided,T[4]@offset)") PLAIN_SGD lr SKIPPED},                           \
      {op, "nesterov", kStandard,                                                                 \
       SGD_LISTS("(T[5],T[])") SGD_NUMBERS "nesterov=true maximize=true is_first_step=false" lr}, \
      {op, "first_step", kStandard,                                                               \
       SGD_LISTS("(T[5],T[3,4])") SGD_NUMBERS                                                     \
       "nesterov=true maximize=false is_first_step=true" lr TAKEN},                               \
      {op, "no_momentum", kStandard,                                                              \
       "self=(T[5],T[3,4]) grads=(T[5],T[3,4]) momentum_buffer_list=() weight_decay=0 "           \
       "momentum=0 dampening=0 nesterov=false maximize=true is_first_step=false" lr TAKEN},       \
      {op, "with_empty", kStandard, SGD_LISTS("(T[0],T[3,4])") PLAIN_SGD lr TAKEN},               \
      {op, "missing_buffers", kStandard,                                                          \
       "self=(T[5]) grads=(T[5]) momentum_buffer_list=()" PLAIN_SGD lr " !runtime"},              \
      {op, "other_sizes", kStandard,                                                              \
       "self=(T[5]) grads=(T[6]) momentum_buffer_list=(T[5])" PLAIN_SGD lr " !runtime"}

#define ADAM_ROWS(op, lr) \
  {op, "taken", kSmoke,                                                                         \
   ADAM_LISTS("(T[5],T[3,4])", "(T[5]{positive},T[3,4]{positive})")                             \
       PLAIN_ADAM STEPS lr TAKEN},                                                              \
      {op, "skipped", kSmoke,                                                                   \
       ADAM_LISTS("(T[5],T[3,4])", "(T[5]{positive},T[3,4]{positive})")                         \
           PLAIN_ADAM STEPS lr SKIPPED},                                                        \
      {op, "plain", kStandard,                                                                  \
       ADAM_LISTS("(T[1031],T[])", "(T[1031]{positive},T[]{positive})") PLAIN_ADAM STEPS lr},   \
      {op, "transposed", kStandard,                                                             \
       ADAM_LISTS("(T[5,7]@transposed,T[4]@strided)",                                           \
                  "(T[5,7]@transposed{positive},T[4]{positive})") PLAIN_ADAM STEPS lr TAKEN},   \
      {op, "skipped_strided", kStandard,                                                        \
       ADAM_LISTS("(T[5,7]@strided,T[4]@offset)", "(T[5,7]@strided{positive},T[4]{positive})")  \
           PLAIN_ADAM STEPS lr SKIPPED},                                                        \
      {op, "amsgrad", kStandard,                                                                \
       ADAM_LISTS("(T[5],T[3,4])", "(T[5]{positive},T[3,4]{positive})")                         \
           ADAM_NUMBERS "amsgrad=true maximize=true "                                           \
                        "max_exp_avg_sqs=(T[5]{positive},T[3,4]{positive})" STEPS lr TAKEN},    \
      {op, "no_decay", kStandard,                                                               \
       ADAM_LISTS("(T[5],T[0])", "(T[5]{positive},T[0])")                                       \
           " beta1=0.25 beta2=0.5 weight_decay=0 eps=0.001 amsgrad=false maximize=false "       \
           "max_exp_avg_sqs=()" STEPS lr " found_inf=f32[]{zeros}"},                            \
      {op, "missing_maxima", kStandard,                                                         \
       ADAM_LISTS("(T[5],T[3,4])", "(T[5]{positive},T[3,4]{positive})")                         \
           ADAM_NUMBERS "amsgrad=true maximize=false max_exp_avg_sqs=()" STEPS lr " !runtime"}

#define ADAGRAD_ROWS(op, lr)                                                                      \
  {op, "taken", kSmoke,                                                                           \
   ADAGRAD_LISTS("(T[5],T[3,4])", "(T[5]{positive},T[3,4]{positive})") ADAGRAD_NUMBERS            \
   "weight_decay=0.1 maximize=false" STEPS lr TAKEN},                                             \
      {op, "skipped", kSmoke,                                                                     \
       ADAGRAD_LISTS("(T[5],T[3,4])", "(T[5]{positive},T[3,4]{positive})") ADAGRAD_NUMBERS        \
       "weight_decay=0.1 maximize=false" STEPS lr SKIPPED},                                       \
      {op, "plain", kStandard,                                                                    \
       ADAGRAD_LISTS("(T[1031],T[])", "(T[1031]{positive},T[]{positive})") ADAGRAD_NUMBERS        \
       "weight_decay=0.1 maximize=true" STEPS lr},                                                \
      {op, "transposed", kStandard,                                                               \
       ADAGRAD_LISTS("(T[5,7]@transposed,T[4]@strided)",                                          \
                     "(T[5,7]@transposed{positive},T[4]{positive})") ADAGRAD_NUMBERS              \
       "weight_decay=0.1 maximize=false" STEPS lr TAKEN},                                         \
      {op, "no_decay", kStandard,                                                                 \
       ADAGRAD_LISTS("(T[5],T[0])", "(T[5]{positive},T[0])") ADAGRAD_NUMBERS                      \
       "weight_decay=0 maximize=false" STEPS lr " found_inf=f32[]{zeros}"},                       \
      {op, "skipped_strided", kStandard,                                                          \
       ADAGRAD_LISTS("(T[5,7]@strided,T[4]@offset)", "(T[5,7]@strided{positive},T[4]{positive})") \
           ADAGRAD_NUMBERS "weight_decay=0.1 maximize=false" STEPS lr SKIPPED},                   \
      {op, "missing_steps", kStandard,                                                            \
       ADAGRAD_LISTS("(T[5],T[3,4])", "(T[5]{positive},T[3,4]{positive})") ADAGRAD_NUMBERS        \
       "weight_decay=0 maximize=false state_steps=(f32[]{ones})" lr " !runtime"}

constexpr OperatorRow kRows[] = {
    SGD_ROWS("_fused_sgd", RATE),
    SGD_ROWS("_fused_sgd.tensor_lr", TENSOR_RATE),
    ADAM_ROWS("_fused_adam _fused_adamw", RATE),
    ADAM_ROWS("_fused_adam.tensor_lr _fused_adamw.tensor_lr", TENSOR_RATE),
    ADAGRAD_ROWS("_fused_adagrad", RATE),
    ADAGRAD_ROWS("_fused_adagrad.tensor_lr", TENSOR_RATE),
    {"_amp_update_scale", "counts", kSmoke,
     "self=f32[]{2..9} growth_tracker=i32[]{zeros} found_inf=f32[]{zeros} scale_growth_factor=2 "
     "scale_backoff_factor=0.5 growth_interval=2"},
    {"_amp_update_scale", "grows", kStandard,
     "self=f32[]{2..9} growth_tracker=i32[]{ones} found_inf=f32[]{zeros} scale_growth_factor=1.7 "
     "scale_backoff_factor=0.3 growth_interval=2"},
    {"_amp_update_scale", "backs_off", kStandard,
     "self=f32[]{2..9} growth_tracker=i32[]{ones} found_inf=f32[]{ones} scale_growth_factor=1.7 "
     "scale_backoff_factor=0.3 growth_interval=2"},
    {"_amp_update_scale", "stays_finite", kStandard,
     "self=f32[]{2..9} growth_tracker=i32[]{ones} found_inf=f32[]{zeros} scale_growth_factor=1e39 "
     "scale_backoff_factor=0.3 growth_interval=2"},
    {"_amp_update_scale", "vectors", kStandard,
     "self=f32[1]{2..9} growth_tracker=i32[1]{ones} found_inf=f32[1,1]{zeros} "
     "scale_growth_factor=2 scale_backoff_factor=0.5 growth_interval=3"},
    {"_amp_update_scale", "special", kStandard,
     "self=f32[]{ones} growth_tracker=i32[]{3..8} found_inf=f32[]{nan} scale_growth_factor=2 "
     "scale_backoff_factor=0.5 growth_interval=2"},
    {"_amp_update_scale", "two_scales", kStandard,
     "self=f32[2] growth_tracker=i32[]{ones} found_inf=f32[]{zeros} scale_growth_factor=2 "
     "scale_backoff_factor=0.5 growth_interval=2 !runtime"},
    {"_amp_foreach_non_finite_check_and_unscale", "finite", kSmoke,
     "self=(T[5],T[3,4]) found_inf=f32[]{zeros} inv_scale=f32[]{unit}"},
    {"_amp_foreach_non_finite_check_and_unscale", "nan", kSmoke,
     "self=(T[5],T[3,4]{nan}) found_inf=f32[]{zeros} inv_scale=f32[]{unit}"},
    {"_amp_foreach_non_finite_check_and_unscale", "special", kStandard,
     "self=(T[40]{special},T[]) found_inf=f32[1]{zeros} inv_scale=f32[1]{ones}"},
    {"_amp_foreach_non_finite_check_and_unscale", "transposed", kStandard,
     "self=(T[5,7]@transposed,T[4]@strided) found_inf=f32[]{zeros} inv_scale=f32[]{2..3}"},
    {"_amp_foreach_non_finite_check_and_unscale", "with_empty", kStandard,
     "self=(T[0],T[3,4]) found_inf=f32[]{ones} inv_scale=f32[]{unit}"},
    {"_amp_foreach_non_finite_check_and_unscale", "long", kStandard,
     "self=(T[4099],T[3]) found_inf=f32[]{zeros} inv_scale=f32[]{unit}"},
    {"_amp_foreach_non_finite_check_and_unscale", "two_scales", kStandard,
     "self=(T[5]) found_inf=f32[]{zeros} inv_scale=f32[2] !runtime"},
};

}  // namespace

std::span<const OperatorRow> optimizer_rows() {
  return kRows;
}

}  // namespace primset::conformance
