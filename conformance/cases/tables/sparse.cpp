// Operators of sparse tensors that make them, look at their parts or change their layout.
#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

// What takes any COO tensor, and what wants a coalesced one as well.
constexpr std::string_view kOfCoo =
    "_indices _values _nnz _dimI _dimV sparse_dim dense_dim is_coalesced coalesce _coalesce "
    "to_dense _to_dense indices values";
constexpr std::string_view kOfAnyCoo =
    "_indices _values _nnz _dimI _dimV sparse_dim dense_dim is_coalesced coalesce _coalesce "
    "to_dense _to_dense";
constexpr std::string_view kOfRows =
    "crow_indices col_indices values _nnz sparse_dim dense_dim to_dense _to_dense";
constexpr std::string_view kOfColumns =
    "ccol_indices row_indices values _nnz sparse_dim dense_dim to_dense _to_dense";
constexpr std::string_view kToCoo = "to_sparse _to_sparse";
constexpr std::string_view kToRows = "to_sparse_csr _to_sparse_csr";
constexpr std::string_view kToColumns = "to_sparse_csc _to_sparse_csc";
constexpr std::string_view kToPlain = "to_sparse_csr _to_sparse_csr to_sparse_csc _to_sparse_csc";
constexpr std::string_view kToBlocks = "to_sparse_bsr _to_sparse_bsr to_sparse_bsc _to_sparse_bsc";
constexpr std::string_view kCooOfParts =
    "sparse_coo_tensor.indices_size _sparse_coo_tensor_unsafe _validate_sparse_coo_tensor_args";
constexpr std::string_view kOfRowParts =
    "sparse_csr_tensor.crow_col_value_size _sparse_csr_tensor_unsafe "
    "_validate_sparse_csr_tensor_args";
constexpr std::string_view kOfColumnParts =
    "sparse_csc_tensor.ccol_row_value_size _sparse_csc_tensor_unsafe "
    "_validate_sparse_csc_tensor_args";
constexpr std::string_view kOfRowBlocks =
    "sparse_bsr_tensor.crow_col_value_size _sparse_bsr_tensor_unsafe "
    "_validate_sparse_bsr_tensor_args";
constexpr std::string_view kOfColumnBlocks =
    "sparse_bsc_tensor.ccol_row_value_size _sparse_bsc_tensor_unsafe "
    "_validate_sparse_bsc_tensor_args";
constexpr std::string_view kOfCompressedParts =
    "sparse_compressed_tensor.comp_plain_value_size _sparse_compressed_tensor_unsafe "
    "_validate_sparse_compressed_tensor_args";

constexpr OperatorRow kRows[] = {
    // --- parts, numbers, dense tensors -----------------------------------------------------------
    {kOfCoo, "coo", kSmoke, "self=coo(T[3,4])"},
    {kOfCoo, "coo_dense_dims", kStandard, "self=coo(T[3,4,2], dense=1)"},
    {kOfCoo, "coo_without_entries", kStandard, "self=coo(T[3,4], entries=0)"},
    {kOfCoo, "coo_empty", kStandard, "self=coo(T[0,4])"},
    {kOfCoo, "coo_vector", kStandard, "self=coo(T[7], entries=7)"},
    {kOfCoo, "coo_scalar", kStandard, "self=coo(T[], entries=1)"},
    {kOfCoo, "coo_all_dense", kStandard, "self=coo(T[3], dense=1, entries=1)"},
    {kOfCoo, "coo_special", kStandard, "self=coo(T[7,5]{special})"},
    {kOfCoo, "coo_strided", kStandard, "self=coo(T[5,3,2]@strided, dense=1)"},
    {kOfCoo, "coo_offset", kStandard, "self=coo(T[5,3]@offset)"},
    {kOfCoo, "coo_transposed", kStandard, "self=coo(T[5,3,4]@transposed, dense=1)"},
    {kOfAnyCoo, "coo_repeated", kStandard, "self=coo(T[3,4], entries=9, repeated)"},
    {kOfAnyCoo, "coo_repeated_dense_dims", kStandard,
     "self=coo(T[4,3,2], dense=1, entries=5, repeated)"},
    {kOfAnyCoo, "coo_repeated_empty_dense", kStandard,
     "self=coo(T[4,0], dense=1, entries=5, repeated)"},
    {kOfAnyCoo, "coo_repeated_deep", kStandard, "self=coo(T[3,2,4,2], entries=30, repeated)"},
    {"indices values", "coo_repeated", kStandard, "self=coo(T[3,4], repeated) !runtime"},
    {"_indices _values _dimI _dimV is_coalesced", "csr", kStandard, "self=csr(T[3,4]) !runtime"},
    {"crow_indices col_indices ccol_indices row_indices", "coo", kStandard,
     "self=coo(T[3,4]) !runtime"},
    {kOfRows, "csr", kSmoke, "self=csr(T[3,4])"},
    {kOfRows, "csr_batch", kStandard, "self=csr(T[2,3,4], entries=5)"},
    {kOfRows, "csr_dense_dims", kStandard, "self=csr(T[3,4,2], dense=1, index=i32)"},
    {kOfRows, "csr_without_entries", kStandard, "self=csr(T[3,4], entries=0)"},
    {kOfRows, "csr_empty", kStandard, "self=csr(T[0,4])"},
    {kOfRows, "csr_strided", kStandard, "self=csr(T[5,7]@strided)"},
    {kOfRows, "bsr", kStandard, "self=bsr(T[4,6], block=[2,3])"},
    {kOfRows, "bsr_batch", kStandard, "self=bsr(T[2,4,6,2], block=[2,3], dense=1, entries=3)"},
    {kOfColumns, "csc", kSmoke, "self=csc(T[3,4])"},
    {kOfColumns, "csc_batch", kStandard, "self=csc(T[2,3,4], entries=5)"},
    {kOfColumns, "csc_dense_dims", kStandard, "self=csc(T[3,4,2], dense=1, index=i32)"},
    {kOfColumns, "csc_without_entries", kStandard, "self=csc(T[3,4], entries=0)"},
    {kOfColumns, "csc_empty", kStandard, "self=csc(T[4,0])"},
    {kOfColumns, "csc_transposed", kStandard, "self=csc(T[5,7,2]@transposed, dense=1)"},
    {kOfColumns, "bsc", kStandard, "self=bsc(T[4,6], block=[2,3])"},
    {kOfColumns, "bsc_batch", kStandard, "self=bsc(T[2,4,6,2], block=[2,3], dense=1, entries=3)"},
    {"sparse_dim dense_dim to_dense _to_dense", "strided", kStandard, "self=T[3,4]@transposed"},
    {"_coalesced", "told", kSmoke, "self=coo(T[3,4]) coalesced=true"},
    {"_coalesced", "denied", kStandard, "self=coo(T[3,4]) coalesced=false"},
    {"_coalesced", "repeated", kStandard, "self=coo(T[3,4], repeated) coalesced=false"},
    {"_coalesced", "dense_dims", kStandard, "self=coo(T[5,2,3], dense=2) coalesced=true"},
    {"_coalesced", "strided", kStandard, "self=coo(T[3,4]@strided) coalesced=false"},
    {"_coalesced", "vector", kStandard, "self=coo(T[9]) coalesced=true"},
    {"_coalesced", "offset", kStandard, "self=coo(T[9]@offset) coalesced=false"},
    {"dim numel is_complex is_floating_point is_signed is_conj is_neg", "coo", kStandard,
     "self=coo(T[3,4,2], dense=1)"},
    {"dim numel is_complex is_floating_point is_signed is_conj is_neg", "bsr", kStandard,
     "self=bsr(T[2,4,6], block=[2,3])"},
    {"size.int", "csc", kStandard, "self=csc(T[3,4]) dim=-1"},
    // --- other layouts ---------------------------------------------------------------------------
    {kToCoo, "of_strided", kSmoke, "self=T[3,4]{ties}"},
    {kToCoo, "of_zeros", kStandard, "self=T[3,4]{zeros}"},
    {kToCoo, "of_special", kStandard, "self=T[40]@strided{special}"},
    {kToCoo, "of_scalar", kStandard, "self=T[]"},
    {kToCoo, "of_empty", kStandard, "self=T[0,3]"},
    {kToCoo, "dense_dim", kStandard, "self=T[3,4,2]@transposed{0,0,1,2,0} dense_dim=1"},
    {kToCoo, "of_coo", kStandard, "self=coo(T[3,4], repeated) ->coo"},
    {kToCoo, "of_csr", kStandard, "self=csr(T[3,4])"},
    {kToCoo, "of_csc", kStandard, "self=csc(T[2,3,4], entries=5)"},
    {kToCoo, "of_bsr", kStandard, "self=bsr(T[4,6], block=[2,3])"},
    {kToCoo, "to_csr", kStandard, "self=T[5,4]{0,1,0,2,0,0,1} layout=csr"},
    {kToCoo, "to_bsc", kStandard, "self=T[4,6]{0,0,0,0,0,0,1} layout=bsc blocksize=[2,3]"},
    {kToCoo, "without_blocksize", kStandard, "self=T[4,6] layout=bsc !runtime"},
    {"to_sparse.sparse_dim _to_sparse.sparse_dim", "all", kSmoke,
     "self=T[3,4]{0,2,1} sparse_dim=2"},
    {"to_sparse.sparse_dim _to_sparse.sparse_dim", "rows", kStandard,
     "self=T[5,4]{0,0,0,0,1,0,2,0} sparse_dim=1"},
    {"to_sparse.sparse_dim _to_sparse.sparse_dim", "deep", kStandard,
     "self=T[2,3,4]{0,0,0,0,0,1,2} sparse_dim=2"},
    {"to_sparse.sparse_dim _to_sparse.sparse_dim", "scalar", kStandard, "self=T[] sparse_dim=0"},
    {"to_sparse.sparse_dim _to_sparse.sparse_dim", "of_coo", kStandard,
     "self=coo(T[3,4,2], dense=1) sparse_dim=2"},
    {"to_sparse.sparse_dim _to_sparse.sparse_dim", "none", kStandard,
     "self=T[3,4] sparse_dim=0 !runtime"},
    {"to_sparse.sparse_dim _to_sparse.sparse_dim", "too_many", kStandard,
     "self=T[3,4] sparse_dim=3 !runtime"},
    {kToPlain, "of_strided", kSmoke, "self=T[5,4]{0,1,0,2,0,0,1}"},
    {kToPlain, "of_zeros", kStandard, "self=T[3,4]{zeros}"},
    {kToPlain, "of_empty", kStandard, "self=T[0,3]"},
    {kToPlain, "batch", kStandard, "self=T[2,3,4]{0,1,0,2,0,0}"},
    {kToPlain, "uneven_batch", kStandard, "self=T[2,2,2]{1,1,1,1,0,1,1,1} !runtime"},
    {kToPlain, "dense_dim", kStandard, "self=T[3,4,2]{0,0,0,1,2} dense_dim=1"},
    {kToPlain, "of_coo", kStandard, "self=coo(T[3,4,2], dense=1)"},
    {kToPlain, "of_repeated", kStandard, "self=coo(T[3,4], entries=9, repeated)"},
    {kToPlain, "of_vector", kStandard, "self=T[3] !runtime"},
    {kToRows, "of_columns", kStandard, "self=csc(T[3,4])"},
    {kToRows, "of_itself", kStandard, "self=csr(T[3,4])"},
    {kToColumns, "of_rows", kStandard, "self=csr(T[2,3,4], entries=5)"},
    {kToColumns, "of_itself", kStandard, "self=csc(T[3,4])"},
    {kToBlocks, "of_strided", kSmoke, "self=T[4,6]{0,0,0,0,0,0,0,1} blocksize=[2,3]"},
    {kToBlocks, "of_ones", kStandard, "self=T[4,6]{ones} blocksize=[2,1]"},
    {kToBlocks, "of_zeros", kStandard, "self=T[4,6]{zeros} blocksize=[2,3]"},
    {kToBlocks, "whole", kStandard, "self=T[4,6] blocksize=[4,6]"},
    {kToBlocks, "batch", kStandard, "self=T[2,2,4]{0,1,0,2,0,0,0,0} blocksize=[2,2]"},
    {kToBlocks, "dense_dim", kStandard, "self=T[4,4,2]{0,0,0,1,2} blocksize=[2,2] dense_dim=1"},
    {kToBlocks, "of_coo", kStandard, "self=coo(T[4,6]) blocksize=[2,2]"},
    {kToBlocks, "uneven", kStandard, "self=T[3,4] blocksize=[2,2] !runtime"},
    // --- tensors of parts ------------------------------------------------------------------------
    {kCooOfParts, "plain", kSmoke, "indices=i64[2,3]{0,1,1,2,0,1} values=T[3] size=[2,3]"},
    {kCooOfParts, "repeated", kStandard, "indices=i64[2,4]{1,0,1,0} values=T[4] size=[2,2]"},
    {kCooOfParts, "dense_dims", kStandard, "indices=i64[1,3]{2,0,1} values=T[3,4] size=[5,4]"},
    {kCooOfParts, "strided", kStandard,
     "indices=i64[2,3]@strided{0,1,1,2,0,1} values=T[3]@strided size=[2,3]"},
    {kCooOfParts, "without_entries", kStandard, "indices=i64[2,0] values=T[0] size=[2,3]"},
    {kCooOfParts, "scalar", kStandard, "indices=i64[0,1] values=T[1] size=[]"},
    {kCooOfParts, "told_coalesced", kStandard,
     "indices=i64[2,3]{0,0,1,0,1,1} values=T[3] size=[2,3] is_coalesced=true"},
    {kCooOfParts, "more_values", kStandard,
     "indices=i64[2,3]{0,1,1,2,0,1} values=T[4] size=[2,3] !runtime"},
    {kCooOfParts, "other_dense_dim", kStandard,
     "indices=i64[1,3]{0,1,2} values=T[3,4] size=[5,3] !runtime"},
    {"_validate_sparse_coo_tensor_args", "outside", kStandard,
     "indices=i64[2,3]{0,1,1,3,0,1} values=T[3] size=[2,3] !runtime"},
    {"sparse_coo_tensor.indices", "plain", kSmoke, "indices=i64[2,3]{0,1,1,2,0,1} values=T[3]"},
    {"sparse_coo_tensor.indices", "dense_dims", kStandard, "indices=i64[1,3]{2,0,1} values=T[3,4]"},
    {"sparse_coo_tensor.indices", "without_entries", kStandard, "indices=i64[2,0] values=T[0,3]"},
    {"sparse_coo_tensor.indices", "repeated", kStandard, "indices=i64[2,4]{1,0,1,0} values=T[4]"},
    {"sparse_coo_tensor.size", "plain", kSmoke, "size=[2,3] dtype=T"},
    {"sparse_coo_tensor.size", "scalar", kStandard, "size=[] dtype=T"},
    {"sparse_coo_tensor.size", "vector", kStandard, "size=[5] dtype=T"},
    {"sparse_coo_tensor.size", "deep", kStandard, "size=[5,1,2,3] dtype=T"},
    {"sparse_coo_tensor.size", "one", kStandard, "size=[1,1] dtype=T"},
    {"sparse_coo_tensor.size", "cube", kStandard, "size=[2,2,2] dtype=T"},
    {"_sparse_coo_tensor_with_dims", "plain", kSmoke,
     "sparse_dim=2 dense_dim=0 size=[2,3] dtype=T layout=coo"},
    {"_sparse_coo_tensor_with_dims", "dense_dims", kStandard,
     "sparse_dim=1 dense_dim=2 size=[4,2,3] dtype=T layout=coo"},
    {"_sparse_coo_tensor_with_dims", "all_dense", kStandard,
     "sparse_dim=0 dense_dim=1 size=[4] dtype=T layout=coo"},
    {"_sparse_coo_tensor_with_dims", "vector", kStandard,
     "sparse_dim=1 dense_dim=0 size=[4] dtype=T layout=coo"},
    {"_sparse_coo_tensor_with_dims", "cube", kStandard,
     "sparse_dim=3 dense_dim=0 size=[2,2,2] dtype=T layout=coo"},
    {"_sparse_coo_tensor_with_dims", "half", kStandard,
     "sparse_dim=1 dense_dim=1 size=[3,2] dtype=T layout=coo"},
    {"_sparse_coo_tensor_with_dims_and_tensors", "plain", kSmoke,
     "sparse_dim=2 dense_dim=0 size=[2,3] indices=i64[2,3]{0,1,1,2,0,1} values=T[3] dtype=T "
     "layout=coo"},
    {"_sparse_coo_tensor_with_dims_and_tensors", "dense_dims", kStandard,
     "sparse_dim=1 dense_dim=1 size=[5,4] indices=i64[1,3]{2,0,1} values=T[3,4] dtype=T "
     "layout=coo"},
    {kOfRowParts, "plain", kSmoke,
     "crow_indices=i64[3]{0,2,3} col_indices=i64[3]{0,2,1} values=T[3] size=[2,3]"},
    {kOfRowParts, "batch", kStandard,
     "crow_indices=i64[2,3]{0,1,2} col_indices=i64[2,2]{0,2,1,1} values=T[2,2] size=[2,2,3]"},
    {kOfRowParts, "dense_dims", kStandard,
     "crow_indices=i32[3]{0,2,3} col_indices=i32[3]{0,2,1} values=T[3,2] size=[2,3,2]"},
    {kOfRowParts, "without_entries", kStandard,
     "crow_indices=i64[4]{zeros} col_indices=i64[0] values=T[0] size=[3,3]"},
    {kOfRowParts, "too_few_pointers", kStandard,
     "crow_indices=i64[3]{0,2,3} col_indices=i64[3]{0,2,1} values=T[3] size=[3,3] !runtime"},
    {kOfRowParts, "one", kStandard,
     "crow_indices=i64[2]{0,1} col_indices=i64[1]{1,1} values=T[1] size=[1,4]"},
    {kOfColumnParts, "one", kStandard,
     "ccol_indices=i64[2]{0,1} row_indices=i64[1]{1,1} values=T[1] size=[4,1]"},
    {kOfColumnParts, "plain", kSmoke,
     "ccol_indices=i64[3]{0,2,3} row_indices=i64[3]{0,2,1} values=T[3] size=[3,2]"},
    {kOfColumnParts, "dense_dims", kStandard,
     "ccol_indices=i32[3]{0,2,3} row_indices=i32[3]{0,2,1} values=T[3,2] size=[3,2,2]"},
    {kOfColumnParts, "batch", kStandard,
     "ccol_indices=i64[2,3]{0,1,2} row_indices=i64[2,2]{0,2,1,1} values=T[2,2] size=[2,3,2]"},
    {kOfColumnParts, "without_entries", kStandard,
     "ccol_indices=i64[4]{zeros} row_indices=i64[0] values=T[0] size=[3,3]"},
    {kOfRowBlocks, "plain", kSmoke,
     "crow_indices=i64[3]{0,2,3} col_indices=i64[3]{0,2,1} values=T[3,2,2] size=[4,6]"},
    {kOfRowBlocks, "dense_dims", kStandard,
     "crow_indices=i32[2]{0,1} col_indices=i32[1]{1,1} values=T[1,1,2,3] size=[1,4,3]"},
    {kOfRowBlocks, "without_entries", kStandard,
     "crow_indices=i64[3]{zeros} col_indices=i64[0] values=T[0,2,3] size=[4,6]"},
    {kOfRowBlocks, "one", kStandard,
     "crow_indices=i64[2]{0,1} col_indices=i64[1]{1,1} values=T[1,4,3] size=[4,6]"},
    {kOfColumnBlocks, "without_entries", kStandard,
     "ccol_indices=i64[3]{zeros} row_indices=i64[0] values=T[0,2,3] size=[4,6]"},
    {kOfColumnBlocks, "one", kStandard,
     "ccol_indices=i64[2]{0,1} row_indices=i64[1]{1,1} values=T[1,2,6] size=[4,6]"},
    {kOfColumnBlocks, "plain", kSmoke,
     "ccol_indices=i64[3]{0,2,3} row_indices=i64[3]{0,2,1} values=T[3,2,2] size=[6,4]"},
    {kOfColumnBlocks, "dense_dims", kStandard,
     "ccol_indices=i32[2]{0,1} row_indices=i32[1]{1,1} values=T[1,1,2,3] size=[2,2,3]"},
    {kOfCompressedParts, "csr", kSmoke,
     "compressed_indices=i64[3]{0,2,3} plain_indices=i64[3]{0,2,1} values=T[3] size=[2,3] "
     "layout=csr"},
    {kOfCompressedParts, "csc", kStandard,
     "compressed_indices=i64[3]{0,2,3} plain_indices=i64[3]{0,2,1} values=T[3] size=[3,2] "
     "layout=csc"},
    {kOfCompressedParts, "bsr", kStandard,
     "compressed_indices=i64[3]{0,2,3} plain_indices=i64[3]{0,2,1} values=T[3,2,2] size=[4,6] "
     "layout=bsr"},
    {kOfCompressedParts, "bsc", kStandard,
     "compressed_indices=i64[3]{0,2,3} plain_indices=i64[3]{0,2,1} values=T[3,2,2] size=[6,4] "
     "layout=bsc"},
    {kOfCompressedParts, "csr_without_entries", kStandard,
     "compressed_indices=i64[4]{zeros} plain_indices=i64[0] values=T[0] size=[3,4] layout=csr"},
    {kOfCompressedParts, "csc_of_i32", kStandard,
     "compressed_indices=i32[3]{0,2,3} plain_indices=i32[3]{0,2,1} values=T[3] size=[3,2] "
     "layout=csc"},
    {kOfCompressedParts, "coo", kStandard,
     "compressed_indices=i64[3]{0,2,3} plain_indices=i64[3]{0,2,1} values=T[3] size=[2,3] "
     "layout=coo !runtime"},
    // --- what they are made of -------------------------------------------------------------------
    {"_coo_coalesce", "plain", kSmoke,
     "indices=i64[2,5]{0,1,0,1,0,2,1,2,1,0} values=T[5]{0..9} sizes=[2,3]"},
    {"_coo_coalesce", "distinct", kStandard,
     "indices=i64[2,3]{1,0,1,0,2,1} values=T[3] sizes=[2,3]"},
    {"_coo_coalesce", "dense_dims", kStandard,
     "indices=i64[1,4]{4,1,4,0} values=T[4,3]{0..9} sizes=[5]"},
    {"_coo_coalesce", "strided", kStandard,
     "indices=i64[2,3]@strided{1,0,1,0,2,0} values=T[3,2]@transposed{0..9} sizes=[2,3]"},
    {"_coo_coalesce", "all_at_one_place", kStandard,
     "indices=i64[2,4]{ones} values=T[4]{0..9} sizes=[2,3]"},
    {"_coo_coalesce", "deep", kStandard,
     "indices=i64[4,20]{0..3} values=T[20]{0..9} sizes=[3,3,3,3]"},
    {"_coo_coalesce", "outside", kStandard,
     "indices=i64[2,3]{1,0,1,0,3,1} values=T[3] sizes=[2,3] !index"},
    {"_coo_coalesce", "negative", kStandard,
     "indices=i64[2,3]{1,0,1,0,-1,1} values=T[3] sizes=[2,3] !index"},
    {"_coo_coalesce", "rows_outside", kStandard,
     "indices=i64[2,3]{2,0,1,0,2,1} values=T[3] sizes=[2,3] !index"},
    {"_coo_coalesce", "negative_rows", kStandard,
     "indices=i64[2,3]{1,-1,1,0,2,1} values=T[3] sizes=[2,3] !index"},
    {"_coo_coalesce", "outside_at_last", kStandard,
     "indices=i64[3,2]{1,0,2,1,3,4} values=T[2] sizes=[2,3,4] !index"},
    {"_csr_rows_reduced", "sums", kSmoke,
     "values=T[40] pointers=i64[6]{0,3,3,20,39,40} reduce=\"sum\""},
    {"_csr_rows_reduced", "products", kStandard,
     "values=T[5] pointers=i32[4]{0,2,5,5} reduce=\"prod\""},
    {"_csr_rows_reduced", "empty", kStandard, "values=T[0] pointers=i64[3]{zeros} reduce=\"sum\""},
    {"_compress_rows", "plain", kSmoke, "rows=T[4]{0,2,2,3} count=4"},
    {"_compress_rows", "without_rows", kStandard, "rows=T[0] count=4"},
    {"_compress_rows", "one", kStandard, "rows=T[1]{3,3} count=4"},
    {"_compress_rows", "equal", kStandard, "rows=T[5]{ones} count=3"},
    {"_compress_rows", "strided", kStandard, "rows=T[4]@strided{0,2,2,3} count=4"},
    {"_compress_rows", "many", kStandard, "rows=T[100]{zeros} count=70"},
    {"_compress_rows", "gap", kStandard, "rows=T[3]{0,5,9} count=10"},
    // --- tensors of parts without sizes ----------------------------------------------------------
    {"sparse_csr_tensor.crow_col_value", "plain", kSmoke,
     "crow_indices=i64[3]{0,2,3} col_indices=i64[3]{0,2,1} values=T[3]"},
    {"sparse_csc_tensor.ccol_row_value", "plain", kSmoke,
     "ccol_indices=i64[3]{0,2,3} row_indices=i64[3]{0,2,1} values=T[3]"},
    {"sparse_bsr_tensor.crow_col_value", "plain", kSmoke,
     "crow_indices=i64[3]{0,2,3} col_indices=i64[3]{0,2,1} values=T[3,2,2]"},
    {"sparse_bsc_tensor.ccol_row_value", "plain", kSmoke,
     "ccol_indices=i64[3]{0,2,3} row_indices=i64[3]{0,2,1} values=T[3,2,2]"},
    {"sparse_compressed_tensor.comp_plain_value", "csc", kSmoke,
     "compressed_indices=i64[3]{0,2,3} plain_indices=i64[3]{0,2,1} values=T[3] layout=csc"},
    {"_sparse_compressed_tensor_with_dims", "csr", kSmoke,
     "nnz=0 dense_dim=0 size=[3,4] blocksize=[] index_dtype=i64 dtype=T layout=csr"},
    {"_sparse_compressed_tensor_with_dims", "csc_dense_dims", kStandard,
     "nnz=0 dense_dim=1 size=[3,4,2] blocksize=[] index_dtype=i32 dtype=T layout=csc"},
    {"_sparse_compressed_tensor_with_dims", "batch", kStandard,
     "nnz=0 dense_dim=0 size=[2,3,4] blocksize=[] index_dtype=i64 dtype=T layout=csr"},
    {"_sparse_compressed_tensor_with_dims", "bsr", kStandard,
     "nnz=0 dense_dim=0 size=[4,6] blocksize=[2,3] index_dtype=i64 dtype=T layout=bsr"},
    {"_sparse_compressed_tensor_with_dims", "bsc", kStandard,
     "nnz=0 dense_dim=0 size=[4,6] blocksize=[2,3] index_dtype=i32 dtype=T layout=bsc"},
    {"_sparse_compressed_tensor_with_dims", "room", kStandard,
     "nnz=5 dense_dim=0 size=[4,6] blocksize=[] index_dtype=i64 dtype=T layout=csr"},
    {"_validate_compressed_sparse_indices", "rows", kSmoke,
     "is_crow=true compressed_idx=i64[3]{0,2,3} plain_idx=i64[3]{0,2,1} cdim=2 dim=3 nnz=3"},
    {"_validate_compressed_sparse_indices", "columns", kStandard,
     "is_crow=false compressed_idx=i32[3]{0,2,3} plain_idx=i32[3]{0,2,1} cdim=2 dim=3 nnz=3"},
    {"_validate_compressed_sparse_indices", "batch", kStandard,
     "is_crow=true compressed_idx=i64[2,3]{0,1,2} plain_idx=i64[2,2]{0,2,1,1} cdim=2 dim=3 nnz=2"},
    {"_validate_compressed_sparse_indices", "unordered", kStandard,
     "is_crow=true compressed_idx=i64[3]{0,2,3} plain_idx=i64[3]{2,0,1} cdim=2 dim=3 nnz=3 "
     "!runtime"},
    {"_validate_compressed_sparse_indices", "outside", kStandard,
     "is_crow=true compressed_idx=i64[3]{0,2,3} plain_idx=i64[3]{0,3,1} cdim=2 dim=3 nnz=3 "
     "!runtime"},
    {"_validate_compressed_sparse_indices", "descending", kStandard,
     "is_crow=true compressed_idx=i64[3]{0,3,2} plain_idx=i64[2]{0,1} cdim=2 dim=3 nnz=2 !runtime"},
};

}  // namespace

std::span<const OperatorRow> sparse_rows() {
  return kRows;
}

}  // namespace primset::conformance
