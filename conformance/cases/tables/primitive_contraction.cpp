// Products, convolutions, attention and linear algebra.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr PrimitiveRow kContraction[] = {
    {"contraction/dot_general", "matrix", kSmoke,
     "a=T[7,13] b=T[13,5] a_contract=[1] b_contract=[0] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "transposed", kStandard,
     "a=T[13,7] b=T[5,13] a_contract=[0] b_contract=[1] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "batch", kStandard,
     "a=T[3,7,13] b=T[3,13,5] a_contract=[2] b_contract=[1] a_batch=[0] b_batch=[0] accumulate=A"},
    {"contraction/dot_general", "inner", kStandard,
     "a=T[37] b=T[37] a_contract=[0] b_contract=[0] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "outer", kStandard,
     "a=T[7] b=T[5] a_contract=[] b_contract=[] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "two_dims", kStandard,
     "a=T[3,4,5] b=T[5,4,2] a_contract=[1,2] b_contract=[1,0] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "of_nothing", kStandard,
     "a=T[3,0] b=T[0,4] a_contract=[1] b_contract=[0] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "no_rows", kStandard,
     "a=T[0,3] b=T[3,4] a_contract=[1] b_contract=[0] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "large", kStandard,
     "a=T[67,129] b=T[129,71] a_contract=[1] b_contract=[0] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/dot_general", "nan", kStandard,
     "a=T[4,9]{nan} b=T[9,3] a_contract=[1] b_contract=[0] a_batch=[] b_batch=[] accumulate=A"},
    {"contraction/matmul", "plain", kSmoke, "a=T[7,13] b=T[13,5] bias=none"},
    {"contraction/matmul", "bias", kStandard, "a=T[7,13] b=T[13,5] bias=T[5] scale=2"},
    {"contraction/matmul", "batch", kStandard, "a=T[3,7,13] b=T[3,13,5] bias=none"},
    {"contraction/matmul", "of_nothing", kStandard, "a=T[3,0] b=T[0,4] bias=none"},
    {"contraction/convolution", "one_dim", kSmoke,
     "x=T[2,3,11] w=T[4,3,3] bias=T[4] stride=[1] padding=[1] dilation=[1] output_padding=[0]"},
    {"contraction/convolution", "two_dims", kStandard,
     "x=T[2,3,7,9] w=T[4,3,3,2] bias=none stride=[2,1] padding=[1,0] dilation=[1,2] "
     "output_padding=[0,0]"},
    {"contraction/convolution", "grouped", kStandard,
     "x=T[2,4,9] w=T[6,2,3] bias=none stride=[1] padding=[0] dilation=[1] output_padding=[0] "
     "groups=2"},
    {"contraction/convolution", "transposed", kStandard,
     "x=T[2,4,7] w=T[4,3,3] bias=T[3] stride=[2] padding=[1] dilation=[1] transposed=true "
     "output_padding=[1]"},
    {"contraction/attention", "plain", kSmoke,
     "q=T[2,5,8] k=T[2,7,8] v=T[2,7,8] mask=none scale=0.35"},
    {"contraction/attention", "causal", kStandard,
     "q=T[2,7,8] k=T[2,7,8] v=T[2,7,8] mask=none causal=true scale=0.35"},
    {"contraction/attention_backward", "plain", kSmoke,
     "grad=T[2,5,8] q=T[2,5,8]{0..1} k=T[2,7,8]{0..1} v=T[2,7,8] y=T[2,5,8] "
     "logsumexp=f32[2,5]{3..5} "
     "mask=none scale=0.35"},
    {"contraction/attention_backward", "causal", kStandard,
     "grad=T[2,7,8] q=T[2,7,8]{0..1} k=T[2,7,8]{0..1} v=T[2,7,8] y=T[2,7,8] "
     "logsumexp=f32[2,7]{3..5} "
     "mask=none causal=true scale=0.35"},
    {"contraction/int8_matmul", "plain", kSmoke, "a=T[7,13] b=T[13,5]"},
    {"contraction/int8_matmul", "of_nothing", kStandard, "a=T[3,0] b=T[0,4]"},
    {"contraction/scaled_matmul", "plain", kSmoke,
     "a=T[16,32] b=T[32,16] scale_a=f32[]{1..2} scale_b=f32[]{1..2} to=f32"},
    {"contraction/scaled_matmul", "rows", kStandard,
     "a=T[16,32] b=T[32,16] scale_a=f32[16,1] scale_b=f32[1,16] bias=bf16[16] to=bf16"},
    {"contraction/scaled_matmul", "blocks", kStandard,
     "a=T[8,32] b=T[32,16] scale_a=f32[8,4] scale_b=f32[4,2] to=f32"},
    {"contraction/grouped_matmul", "rows", kSmoke, "a=T[40,8] b=T[3,8,5] ends=i32[3]{ordered}"},
    {"contraction/grouped_matmul", "plain", kStandard, "a=T[3,7,8] b=T[3,8,5] ends=none"},
    {"contraction/grouped_matmul", "columns", kStandard,
     "a=T[2,5,8] b=T[8,40] ends=i32[2]{20..21}"},
    {"contraction/grouped_matmul", "terms", kStandard, "a=T[5,40] b=T[40,6] ends=i64[2]{17..18}"},
    {"contraction/convolution_backward_input", "plain", kSmoke,
     "grad=T[2,4,9] w=T[4,3,3] sizes=[2,3,11] stride=[1] padding=[0] dilation=[1]"},
    {"contraction/convolution_backward_input", "grouped", kStandard,
     "grad=T[2,6,4,5] w=T[6,2,3,2] sizes=[2,4,8,5] stride=[2,1] padding=[1,0] dilation=[1,1] "
     "groups=2"},
    {"contraction/convolution_backward_weight", "plain", kSmoke,
     "grad=T[2,4,9] x=T[2,3,11] sizes=[4,3,3] stride=[1] padding=[0] dilation=[1]"},
    {"contraction/convolution_backward_weight", "grouped", kStandard,
     "grad=T[2,6,4,4] x=T[2,4,8,5] sizes=[6,2,3,2] stride=[2,1] padding=[1,0] dilation=[1,1] "
     "groups=2"},
    {"linalg/cholesky", "plain", kSmoke, "a=T[5,5]{spd}"},
    {"linalg/cholesky", "upper", kStandard, "a=T[4,4]{spd} upper=true"},
    {"linalg/cholesky", "batch", kStandard, "a=T[3,4,4]{spd}"},
    {"linalg/cholesky", "large", kStandard, "a=T[33,33]{spd}"},
    {"linalg/cholesky", "blocks", kStandard, "a=T[66,66]{spd}"},
    {"linalg/lu", "square", kSmoke, "a=T[5,5]"},
    {"linalg/lu", "tall", kStandard, "a=T[3,7,4]"},
    {"linalg/lu", "wide", kStandard, "a=T[4,7]"},
    {"linalg/lu", "unpivoted", kStandard, "a=T[5,5]{spd} pivot=false"},
    {"linalg/lu", "singular", kStandard, "a=T[2,4,4]{zeros}"},
    {"linalg/lu", "blocks", kStandard, "a=T[66,66]{spd}"},
    {"linalg/lu", "tall_blocks", kStandard, "a=T[80,66]"},
    {"linalg/triangular_solve", "lower", kSmoke, "a=T[5,5]{triangular} b=T[5,3]"},
    {"linalg/triangular_solve", "upper", kStandard, "a=T[2,5,5]{spd} b=T[2,5,3] upper=true"},
    {"linalg/triangular_solve", "unit", kStandard, "a=T[5,5]{-1..1} b=T[5,1] unit_diagonal=true"},
    {"linalg/triangular_solve", "blocks", kStandard, "a=T[66,66]{spd} b=T[66,3] upper=true"},
    {"linalg/ldl_factor", "plain", kSmoke, "a=T[5,5]{spd}"},
    {"linalg/ldl_factor", "pairs", kStandard, "a=T[2,7,7]"},
    {"linalg/ldl_factor", "hermitian", kStandard, "a=T[6,6] hermitian=true"},
    {"linalg/ldl_solve", "plain", kSmoke, "factors=T[4,4]{spd} pivots=i32[4]{4..5} b=T[4,3]"},
    {"linalg/ldl_solve", "pairs", kStandard, "factors=T[4,4]{spd} pivots=i32[4]{-4..-3} b=T[4,3]"},
    {"linalg/matrix_exp", "plain", kSmoke, "a=T[5,5]{-1..1}"},
    {"linalg/matrix_exp", "batch", kStandard, "a=T[3,4,4]{-3..3}"},
};

}  // namespace

std::span<const PrimitiveRow> contraction_rows() {
  return kContraction;
}

}  // namespace primset::conformance
