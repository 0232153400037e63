// Operators that compute with sparse tensors: each is held to its dense twin
// (conformance/reference/dense_twin.h). Rows of operators that are declared only are not used.
#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr std::string_view kSoftmax = "_sparse_softmax _sparse_log_softmax";
constexpr std::string_view kSoftmaxGradient =
    "_sparse_softmax_backward_data _sparse_log_softmax_backward_data";
constexpr std::string_view kReducedProducts = "_sparse_mm_reduce_impl";
constexpr std::string_view kSoftmaxOfDType = "_sparse_softmax.int _sparse_log_softmax.int";

constexpr OperatorRow kRows[] = {
    // --- products --------------------------------------------------------------------------------
    {"_sparse_mm", "coo", kSmoke, "sparse=coo(T[3,4]) dense=T[4,2] ->strided"},
    {"_sparse_mm", "csr", kStandard, "sparse=csr(T[3,4]) dense=T[4,2] ->strided"},
    {"_sparse_mm", "without_entries", kStandard,
     "sparse=coo(T[3,4], entries=0) dense=T[4,2] ->strided"},
    {"_sparse_mm", "repeated", kStandard, "sparse=coo(T[5,7], repeated) dense=T[7,3] ->strided"},
    {"_sparse_addmm", "coo", kSmoke, "self=T[3,2] mat1=coo(T[3,4]) mat2=T[4,2] ->strided"},
    {"_sparse_addmm", "factors", kStandard,
     "self=T[3,2] mat1=coo(T[3,4]) mat2=T[4,2] beta=2 alpha=3 ->strided"},
    {"hspmm", "plain", kSmoke, "mat1=coo(T[3,4]) mat2=T[4,2]"},
    {"hspmm", "without_entries", kStandard, "mat1=coo(T[3,4], entries=0) mat2=T[4,2]"},
    {"smm", "plain", kSmoke, "self=coo(T[3,4]) mat2=T[4,2]"},
    {"sspaddmm", "plain", kSmoke, "self=coo(T[3,2]) mat1=coo(T[3,4]) mat2=T[4,2]"},
    {"sspaddmm", "factors", kStandard,
     "self=coo(T[3,2]) mat1=coo(T[3,4]) mat2=T[4,2] beta=2 alpha=3"},
    {"_sparse_sparse_matmul", "coo", kSmoke, "self=coo(T[3,4]) other=coo(T[4,2])"},
    {"_sparse_sparse_matmul", "without_entries", kStandard,
     "self=coo(T[3,4]) other=coo(T[4,2], entries=0)"},
    {"sparse_sampled_addmm", "csr", kSmoke, "self=csr(T[3,4]) mat1=T[3,2] mat2=T[2,4]"},
    {"sparse_sampled_addmm", "factors", kStandard,
     "self=csr(T[5,7]) mat1=T[5,3] mat2=T[3,7] beta=2 alpha=3"},
    {"_sparse_mm.reduce", "sum", kSmoke,
     "sparse=csr(T[3,4]{1..3}) dense=T[4,2]{1..3} reduce=\"sum\" ->strided"},
    {"_sparse_mm.reduce", "mean", kStandard,
     "sparse=csr(T[3,2]{2,2,2,2,2,2}, entries=6) dense=T[2,2]{1,3,5,7} reduce=\"mean\" ->strided"},
    {"_sparse_mm.reduce", "amax", kStandard,
     "sparse=csr(T[3,4]{1..3}) dense=T[4,2]{1..3} reduce=\"amax\" ->strided"},
    {"_sparse_mm.reduce", "amin", kStandard,
     "sparse=csr(T[5,7]{1..3}) dense=T[7,3]{1..3} reduce=\"amin\" ->strided"},
    {kReducedProducts, "sum", kSmoke,
     "self=csr(T[3,4]{1..3}) other=T[4,2]{1..3} reduce=\"sum\" ->strided ->strided"},
    {kReducedProducts, "long", kStandard,
     "self=csr(T[5,7]{1..3}) other=T[7,3]{1..3} reduce=\"sum\" ->strided ->strided"},
    {kReducedProducts, "without_entries", kStandard,
     "self=csr(T[5,7], entries=0) other=T[7,3]{1..3} reduce=\"sum\" ->strided ->strided"},
    {"_sparse_mm_reduce_impl_backward", "sum", kSmoke,
     "self=csr(T[3,4]{1..3}) grad_out=T[3,2]{1..3} weight=T[4,2]{1..3} reduce=\"sum\" "
     "arg_out=i64[0] output_mask=[true,true]"},
    {"_sparse_mm_reduce_impl_backward", "long", kStandard,
     "self=csr(T[5,7]{1..3}) grad_out=T[5,3]{1..3} weight=T[7,3]{1..3} reduce=\"sum\" "
     "arg_out=i64[0] output_mask=[true,true]"},
    {"_spsolve", "lower", kSmoke, "A=csr(T[3,3]{2,0,0,1,3,0,0,1,4}, entries=9) B=T[3] ->strided"},
    {"_spsolve", "upper", kStandard, "A=csr(T[2,2]{2,1,0,4}, entries=4) B=T[2] ->strided"},
    {"_csr_matmul", "plain", kSmoke,
     "values=T[4] pointers=i64[4]{0,2,2,4} columns=i64[4]{0,2,2,1} dense=T[3,5] size=3"},
    {"_csr_matmul", "transposed", kStandard,
     "values=T[4] pointers=i64[4]{0,2,2,4} columns=i64[4]{0,2,2,1} dense=T[3,5] size=3 "
     "transpose=true"},
    {"_csr_matmul", "vector", kStandard,
     "values=T[4] pointers=i64[4]{0,2,2,4} columns=i64[4]{0,2,2,1} dense=T[3] size=3"},
    {"_csr_sampled_matmul", "plain", kSmoke,
     "a=T[3,4] b=T[4,3] pointers=i64[4]{0,2,2,4} columns=i64[4]{0,2,2,1}"},
    {"_csr_sampled_matmul", "narrow", kStandard,
     "a=T[3,1] b=T[1,3] pointers=i64[4]{0,2,2,4} columns=i64[4]{0,2,2,1}"},
    {"_csr_csr_matmul", "plain", kSmoke,
     "a=T[4] a_pointers=i64[4]{0,2,2,4} a_columns=i64[4]{0,2,2,1} b=T[4] "
     "b_pointers=i64[4]{0,1,2,4} b_columns=i64[4]{2,0,2,1} size=3 products=6 entries=6"},
    // --- sums and softmax ------------------------------------------------------------------------
    {"_sparse_sum", "plain", kSmoke, "self=coo(T[3,4]) ->strided"},
    {"_sparse_sum", "repeated", kStandard, "self=coo(T[3,4], repeated) ->strided"},
    {"_sparse_sum.dim", "first", kSmoke, "self=coo(T[3,4]) dim=[0]"},
    {"_sparse_sum.dim", "last", kStandard, "self=coo(T[3,4,2]) dim=[-1]"},
    {"_sparse_sum.dim", "all", kStandard, "self=coo(T[3,4]) dim=[0,1] ->strided"},
    {"_sparse_sum.dim", "sparse_ones", kStandard,
     "self=coo(T[3,4,2], dense=1) dim=[0,1] ->strided"},
    {"_sparse_csr_sum.dim_dtype", "rows", kSmoke, "self=csr(T[3,4]) dim=[1] keepdim=true"},
    {"_sparse_csr_sum.dim_dtype", "columns", kStandard, "self=csr(T[3,4]) dim=[0] keepdim=true"},
    {kSoftmax, "rows", kSmoke, "self=coo(T[3,4]) dim=1 half_to_float=false"},
    {kSoftmax, "columns", kStandard, "self=coo(T[5,7]) dim=0 half_to_float=false"},
    {kSoftmax, "dense_dims", kStandard, "self=coo(T[3,4,2], dense=1) dim=1 half_to_float=false"},
    {kSoftmaxOfDType, "rows", kSmoke, "self=coo(T[3,4]) dim=1"},
    {kSoftmaxOfDType, "columns", kStandard, "self=coo(T[5,7]) dim=0"},
    {kSoftmaxGradient, "rows", kSmoke,
     "grad_output=coo(T[3,4]{1..3}, entries=12) output=coo(T[3,4]{0,0,0,0,0,0,0,0,0,0,0,0}, "
     "entries=12) dim=1 "
     "self=coo(T[3,4], entries=12)"},
    {kSoftmaxGradient, "columns", kStandard,
     "grad_output=coo(T[2,3]{1..3}, entries=6) output=coo(T[2,3]{0,0,0,0,0,0}, entries=6) dim=0 "
     "self=coo(T[2,3], entries=6)"},
    {"_sparse_softmax_backward_data", "numbers", kStandard,
     "grad_output=coo(T[3,4]{1..3}, entries=12) output=coo(T[3,4]{1..3}, entries=12) dim=1 "
     "self=coo(T[3,4], entries=12)"},
    {"_sparse_sum.dtype", "wider", kSmoke, "self=coo(T[3,4]{1..3}) dtype=f64 ->strided"},
    {"_sparse_sum.dim_dtype", "wider", kSmoke, "self=coo(T[3,4]{1..3}) dim=[0] dtype=f64"},
    {"_sparse_csr_prod.dim_dtype", "rows", kSmoke, "self=csr(T[3,4]{1..3}) dim=[1] keepdim=true"},
    {"_sparse_csr_prod.dim_dtype", "columns", kStandard,
     "self=csr(T[3,4]{1..2}) dim=[0] keepdim=true"},
    {"_sparse_sum_backward", "rows", kSmoke,
     "grad=coo(T[4]{1..3}, entries=4) self=coo(T[3,4]{1..3}) dim=[0]"},
    {"_sparse_sum_backward", "dense_dims", kStandard,
     "grad=coo(T[4]{1..3}, entries=4) self=coo(T[4,2]{1..3}, dense=1) dim=[1]"},
    {"_coo_softmax", "rows", kSmoke,
     "indices=i64[2,4]{0,0,1,2,0,2,1,1} values=T[4] sizes=[3,3] dim=1 log=false"},
    {"_coo_softmax", "columns", kStandard,
     "indices=i64[2,4]{0,0,1,2,0,2,1,1} values=T[4] sizes=[3,3] dim=0 log=true"},
    // --- rows that were looked up ----------------------------------------------------------------
    {"embedding_sparse_backward", "plain", kSmoke,
     "grad=T[4,3]{1..3} indices=i64[4]{2,0,2,4} num_weights=5 padding_idx=-1 "
     "scale_grad_by_freq=false ->sparse_coo"},
    {"embedding_sparse_backward", "padded", kStandard,
     "grad=T[4,3]{1..3} indices=i64[4]{2,0,2,4} num_weights=5 padding_idx=0 "
     "scale_grad_by_freq=false ->sparse_coo"},
    {"_embedding_bag_sparse_backward", "sum", kSmoke,
     "grad=T[2,3]{1..3} indices=i64[4]{2,0,2,4} offsets=i64[2]{0,3} offset2bag=i64[4]{0,0,0,1} "
     "bag_size=i64[2]{3,1} num_weights=5 scale_grad_by_freq=false mode=0 per_sample_weights=none "
     "->sparse_coo"},
    {"_gather_sparse_backward", "rows", kSmoke,
     "self=T[3,4] dim=1 index=i64[3,2]{0,1,3,2,1,0} grad=T[3,2]{1..3}"},
    {"_gather_sparse_backward", "first_dim", kStandard,
     "self=T[3,4] dim=0 index=i64[2,4]{0,1,2,2,1,0,0,1} grad=T[2,4]{1..3}"},
    // --- other sizes -----------------------------------------------------------------------------
    {"sparse_resize", "larger", kSmoke, "self=coo(T[3,4]) size=[5,6] sparse_dim=2 dense_dim=0"},
    {"sparse_resize", "dense_dims", kStandard,
     "self=coo(T[3,4,2], dense=1) size=[5,6,2] sparse_dim=2 dense_dim=1"},
    {"sparse_resize_and_clear", "plain", kSmoke,
     "self=coo(T[3,4]) size=[2,3] sparse_dim=2 dense_dim=0"},
    {"sparse_resize_and_clear", "other_dims", kStandard,
     "self=coo(T[3,4]) size=[2,3,2] sparse_dim=2 dense_dim=1"},
    {"resize_as_sparse", "coo", kSmoke, "self=coo(T[3,4]) the_template=coo(T[5,6])"},
    {"_spdiags", "plain", kSmoke,
     "diagonals=T[3,4] offsets=i64[3]{0,1,-1} shape=[4,4] ->sparse_coo"},
    {"_spdiags", "wide", kStandard,
     "diagonals=T[2,5] offsets=i64[2]{0,2} shape=[3,5] ->sparse_coo"},
    {"to_dense_backward", "coo", kSmoke, "grad=T[3,4] input=coo(T[3,4])"},
    {"to_dense_backward", "strided", kStandard, "grad=T[3,4] input=T[3,4] ->strided"},
    // --- elements of one in the places of another ------------------------------------------------
    {"sparse_mask", "coo", kSmoke, "self=T[3,4] mask=coo(T[3,4])"},
    {"sparse_mask", "without_entries", kStandard, "self=T[3,4] mask=coo(T[3,4], entries=0)"},
    {"_sparse_mask_projection", "coo", kSmoke, "self=coo(T[3,4]) mask=coo(T[3,4])"},
    {"_sparse_broadcast_to", "rows", kSmoke, "self=coo(T[1,4]) size=[3,4]"},
    {"_sparse_broadcast_to", "leading", kStandard, "self=coo(T[3,4]) size=[2,3,4]"},
    {"copy_sparse_to_sparse", "plain", kSmoke, "self=coo(T[3,4]) src=coo(T[3,4])"},
    {"copy_sparse_to_sparse", "repeated", kStandard,
     "self=coo(T[3,4], entries=0) src=coo(T[3,4], repeated)"},
};

}  // namespace

std::span<const OperatorRow> sparse_twin_rows() {
  return kRows;
}

}  // namespace primset::conformance
