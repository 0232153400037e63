// Operators of strided tensors that take sparse ones as well: each is held to the same call of
// tensors made dense (conformance/reference/dense_twin.h). What an operator does with strided
// tensors its own rows and its generator say.
#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

constexpr RowDTypes kReal = RowDTypes::real, kNumbers = RowDTypes::numbers,
                    kRealNumbers = RowDTypes::real_numbers;
constexpr CaseTier kStandard = CaseTier::standard;

// Of one tensor: they keep zeros, so that elements which are not stored remain so. The second are
// for COO alone in ATen.
constexpr std::string_view kMaps =
    "relu asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf "
    "isposinf log1p rad2deg round sgn sign signbit sin sinh sqrt tan tanh trunc conj_physical neg "
    "positive";
constexpr std::string_view kMapsOfCoo = "nan_to_num square";
// Those that a sum of entries at one place may be taken before or after.
constexpr std::string_view kLinear = "conj_physical neg positive";
constexpr std::string_view kCasts =
    "_cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short";
constexpr std::string_view kSums = "add.Tensor sub.Tensor";
constexpr std::string_view kProducts = "mul.Tensor";
constexpr std::string_view kByNumbers = "mul.Scalar div.Scalar";
constexpr std::string_view kSameOfParts = "clone alias detach conj";
constexpr std::string_view kTransposes = "t numpy_T";
constexpr std::string_view kStacks = "stack vstack hstack dstack column_stack";
constexpr std::string_view kListMaps =
    "_foreach_abs _foreach_asin _foreach_atan _foreach_ceil _foreach_erf _foreach_expm1 "
    "_foreach_floor _foreach_frac _foreach_log1p _foreach_neg _foreach_round _foreach_sign "
    "_foreach_sin _foreach_sinh _foreach_sqrt _foreach_tan _foreach_tanh _foreach_trunc "
    "_foreach_clone";
constexpr std::string_view kListSums = "_foreach_add.List _foreach_sub.List";

constexpr OperatorRow kRows[] = {
    // --- element by element ----------------------------------------------------------------------
    {kMaps, "of_coo", kStandard, "self=coo(T[3,4])"},
    {kMaps, "of_coo_dense_dims", kStandard, "self=coo(T[3,4,2]@strided, dense=1)"},
    {kMapsOfCoo, "of_coo", kStandard, "self=coo(T[3,4])"},
    {kMapsOfCoo, "of_coo_dense_dims", kStandard, "self=coo(T[3,4,2]@strided, dense=1)"},
    {kLinear, "of_repeated", kStandard, "self=coo(T[3,4], repeated)"},
    {kMaps, "of_csr", kStandard, "self=csr(T[3,4], index=i32)"},
    {kMaps, "of_bsc", kStandard, "self=bsc(T[4,6], block=[2,3])"},
    {kMaps, "of_no_entries", kStandard, "self=coo(T[3,4], entries=0)"},
    {"abs", "of_coo", kStandard, "self=coo(T[3,4])", kReal},
    {"abs", "of_csr", kStandard, "self=csr(T[3,4])", kReal},
    {kSums, "of_coo", kStandard, "self=coo(T[3,4]) other=coo(T[3,4])"},
    {kSums, "of_coo_scaled", kStandard, "self=coo(T[3,4]) other=coo(T[3,4]) alpha=2"},
    {"add.Tensor", "of_csr", kStandard, "self=csr(T[3,4]) other=csr(T[3,4])"},
    {kSums, "of_strided_and_coo", kStandard, "self=T[3,4] other=coo(T[3,4]) ->strided"},
    {kProducts, "of_coo", kStandard, "self=coo(T[3,4]) other=coo(T[3,4])"},
    {kProducts, "of_csr", kStandard, "self=csr(T[3,4]) other=csr(T[3,4])"},
    {kProducts, "of_coo_and_strided", kStandard, "self=coo(T[3,4]) other=T[3,4]"},
    {kByNumbers, "of_coo", kStandard, "self=coo(T[3,4]) other=3", kNumbers},
    {"mul.Scalar", "of_csr", kStandard, "self=csr(T[3,4]) other=3", kNumbers},
    {"div.Tensor", "of_coo", kStandard, "self=coo(T[3,4]) other=T[]{positive}"},
    {"pow.Tensor_Scalar", "of_coo", kStandard, "self=coo(T[3,4]) exponent=2"},
    {"div.Tensor_mode", "of_coo", kStandard,
     "self=coo(T[3,4]) other=T[]{positive} rounding_mode=\"floor\"", kRealNumbers},
    {"floor_divide", "of_coo", kStandard, "self=coo(T[3,4]) other=T[]{positive}", kRealNumbers},
    // --- the same elements -----------------------------------------------------------------------
    {kCasts, "of_coo", kStandard, "self=coo(T[3,4]{1..9})"},
    {kCasts, "of_csr", kStandard, "self=csr(T[3,4]{1..9})"},
    {"_to_copy to.dtype", "of_coo", kStandard, "self=coo(T[3,4]{1..9}) dtype=f64"},
    {kSameOfParts, "of_coo", kStandard, "self=coo(T[3,4])"},
    {kSameOfParts, "of_repeated", kStandard, "self=coo(T[3,4], repeated)"},
    {kSameOfParts, "of_csr", kStandard, "self=csr(T[3,4])"},
    {"copy", "of_coo", kStandard, "self=coo(T[3,4]) src=coo(T[3,4])"},
    {"to.other", "of_coo", kStandard, "self=coo(T[3,4]{1..9}) other=coo(f64[2])"},
    {"type_as", "of_coo", kStandard, "self=coo(T[3,4]{1..9}) other=coo(f64[2])"},
    {"new_zeros", "of_coo", kStandard, "self=coo(T[3,4]) size=[2,3]"},
    {"zeros", "coo", kStandard, "size=[2,3] dtype=T layout=coo"},
    {"resolve_conj resolve_neg", "of_coo", kStandard, "self=coo(T[3,4])"},
    {"zeros_like zero", "of_coo", kStandard, "self=coo(T[3,4])"},
    // --- other places ----------------------------------------------------------------------------
    {kTransposes, "of_coo", kStandard, "self=coo(T[3,4])"},
    {"transpose.int", "of_coo", kStandard, "self=coo(T[3,4,2]) dim0=0 dim1=-1"},
    {"permute", "of_coo", kStandard, "self=coo(T[3,4,2]) dims=[2,0,1]"},
    {"select.int", "of_coo", kStandard, "self=coo(T[3,4]) dim=0 index=1"},
    {"select.int", "of_dense_dims", kStandard, "self=coo(T[3,4], dense=1) dim=1 index=-1"},
    {"squeeze", "of_coo", kStandard, "self=coo(T[3,1,4])"},
    {"squeeze.dim", "of_coo", kStandard, "self=coo(T[3,1,4]) dim=1"},
    {"squeeze.dims", "of_coo", kStandard, "self=coo(T[3,1,4]) dim=[1]"},
    {"movedim.int moveaxis.int", "of_coo", kStandard, "self=coo(T[3,4,2]) source=0 destination=2"},
    {"movedim.intlist moveaxis.intlist", "of_coo", kStandard,
     "self=coo(T[3,4,2]) source=[0,1] destination=[2,0]"},
    {"swapaxes", "of_coo", kStandard, "self=coo(T[3,4]) axis0=0 axis1=1"},
    {"swapdims", "of_coo", kStandard, "self=coo(T[3,4]) dim0=0 dim1=1"},
    {"mT mH adjoint matrix_H", "of_coo", kStandard, "self=coo(T[3,4])"},
    {"atleast_1d atleast_2d atleast_3d", "of_coo", kStandard, "self=coo(T[3,4])"},
    {"select_copy.int", "of_coo", kStandard, "self=coo(T[3,4]) dim=0 index=1"},
    {"unsqueeze", "of_coo", kStandard, "self=coo(T[3,4]) dim=1"},
    {"index_select", "of_coo", kStandard, "self=coo(T[3,4]) dim=0 index=i64[3]{2,0,2}"},
    {"unbind.int", "of_coo", kStandard, "self=coo(T[2,4]) ->coo,coo"},
    {"narrow_copy", "of_coo", kStandard, "self=coo(T[5,4]) dim=0 start=1 length=3"},
    {"cat", "of_coo", kStandard, "tensors=(coo(T[3,4]),coo(T[2,4])) dim=0"},
    {"cat", "of_coo_columns", kStandard, "tensors=(coo(T[3,4], repeated),coo(T[3,2])) dim=1"},
    {kStacks, "of_coo", kStandard, "tensors=(coo(T[3,4]),coo(T[3,4]))"},
    // --- sums, norms, products -------------------------------------------------------------------
    {"sum", "of_coo", kStandard, "self=coo(T[3,4]) ->strided"},
    {"sum", "of_csr", kStandard, "self=csr(T[3,4]) ->strided"},
    {"sum.dim_IntList", "of_coo", kStandard, "self=coo(T[3,4]) dim=[0]"},
    {"norm.Scalar", "of_coo", kStandard, "self=coo(T[3,4]) ->strided"},
    {"norm.ScalarOpt_dtype", "of_coo", kStandard, "self=coo(T[3,4]) p=2 dtype=T ->strided"},
    {"native_norm", "of_coo", kStandard, "self=coo(T[3,4]) ->strided"},
    {"any", "of_coo", kStandard, "self=coo(T[3,4]) ->strided"},
    {"mm", "of_coo", kStandard, "self=coo(T[3,4]) mat2=T[4,2] ->strided"},
    {"mm", "of_csr", kStandard, "self=csr(T[3,4]) mat2=T[4,2] ->strided"},
    {"mm", "of_coo_both", kStandard, "self=coo(T[3,4]) mat2=coo(T[4,2])"},
    {"addmm", "of_coo", kStandard, "self=T[3,2] mat1=coo(T[3,4]) mat2=T[4,2] ->strided"},
    {"addmm", "of_csr", kStandard, "self=T[3,2] mat1=csr(T[3,4]) mat2=T[4,2] beta=2 ->strided"},
    {"mv", "of_coo", kStandard, "self=coo(T[3,4]) vec=T[4] ->strided"},
    {"addmv", "of_csr", kStandard, "self=T[3] mat=csr(T[3,4]) vec=T[4] ->strided"},
    {"bmm", "of_coo", kStandard, "self=coo(T[2,3,4]) mat2=T[2,4,2] ->strided"},
    {"baddbmm", "of_coo", kStandard,
     "self=T[2,3,2] batch1=coo(T[2,3,4]) batch2=T[2,4,2] ->strided"},
    {"linalg_matrix_power", "of_coo", kStandard, "self=coo(T[3,3]) n=2"},
    {"matmul", "of_coo", kStandard, "self=coo(T[3,4]) other=T[4,2] ->strided"},
    {"linear", "of_csr", kStandard, "input=T[2,4] weight=csr(T[3,4]) ->strided"},
    // --- lists -----------------------------------------------------------------------------------
    {kListMaps, "of_coo", kStandard, "self=(coo(T[3,4]),coo(T[2]))"},
    {kListSums, "of_coo", kStandard, "self=(coo(T[3,4]),coo(T[2])) other=(coo(T[3,4]),coo(T[2]))"},
    {"_foreach_mul.List", "of_coo", kStandard,
     "self=(coo(T[3,4]),coo(T[2])) other=(coo(T[3,4]),coo(T[2]))"},
    {"_foreach_mul.Scalar", "of_coo", kStandard, "self=(coo(T[3,4]),coo(T[2])) scalar=3"},
};

}  // namespace

std::span<const OperatorRow> sparse_layout_rows() {
  return kRows;
}

}  // namespace primset::conformance
