// Operators that compute with sparse tensors: each is held to its dense twin
// (conformance/reference/dense_twin.h). Rows of operators that are declared only are not used.
#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr std::string_view kSoftmax = "_sparse_softmax _sparse_log_softmax";
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
