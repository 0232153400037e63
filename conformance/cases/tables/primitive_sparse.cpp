// Primitives of sparse arrays. Rows of entries are sorted in the graph, so that pointers fit them.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr PrimitiveRow kSparse[] = {
    {"sparse/compress_rows", "some", kSmoke,
     "graph(%0 r: i64[40]{0..7}) {"
     " %1: i64[40] = sort(%0) {dim = 0, descending = false}"
     " %2: i64[8] = compress_rows(%1) {count = <7>} return %2 pointers }"},
    {"sparse/compress_rows", "none", kStandard, "rows=i64[0] count=3"},
    {"sparse/expand_rows", "some", kSmoke,
     "graph(%0 r: i64[40]{0..7}) {"
     " %1: i64[40] = sort(%0) {dim = 0, descending = false}"
     " %2: i64[8] = compress_rows(%1) {count = <7>}"
     " %3: i64[40] = expand_rows(%2) {entries = <40>} return %3 rows }"},
    {"sparse/expand_rows", "none", kStandard, "pointers=i64[4]{zeros} entries=0"},
    {"sparse/coo_coalesce", "plain", kSmoke, "indices=i64[2,40]{0..5} values=T[40] sizes=[5,6]"},
    {"sparse/coo_coalesce", "hybrid", kStandard,
     "indices=i64[3,9]{0..2} values=T[9,4] sizes=[2,3,2]"},
    {"sparse/coo_coalesce", "none", kStandard, "indices=i64[2,0] values=T[0] sizes=[5,6]"},
    {"sparse/coo_coalesce", "distinct", kStandard,
     "indices=i64[1,9]{permutation} values=T[9]{positive} sizes=[9]"},
    {"sparse/sparse_matmul", "matrix_of_rows", kSmoke,
     "graph(%0 r: i64[40]{0..7}, %1 c: i64[40]{0..9}, %2 v: $T[40], %3 d: $T[9, 5]) {"
     " %4: i64[40] = sort(%0) {dim = 0, descending = false}"
     " %5: i64[8] = compress_rows(%4) {count = <7>}"
     " %6: $T[7, 5] = sparse_matmul(%2, %5, %1, %3)"
     " {size = <9>, transpose = false, reduce = \"sum\"} return %6 y }"},
    {"sparse/sparse_matmul", "transposed", kSmoke,
     "graph(%0 r: i64[40]{0..7}, %1 c: i64[40]{0..9}, %2 v: $T[40], %3 d: $T[7, 5]) {"
     " %4: i64[40] = sort(%0) {dim = 0, descending = false}"
     " %5: i64[8] = compress_rows(%4) {count = <7>}"
     " %6: $T[9, 5] = sparse_matmul(%2, %5, %1, %3)"
     " {size = <9>, transpose = true, reduce = \"sum\"} return %6 y }"},
    {"sparse/sparse_matmul", "vector", kStandard,
     "graph(%0 r: i64[400]{0..70}, %1 c: i64[400]{0..90}, %2 v: $T[400], %3 d: $T[90]) {"
     " %4: i64[400] = sort(%0) {dim = 0, descending = false}"
     " %5: i64[71] = compress_rows(%4) {count = <70>}"
     " %6: $T[70] = sparse_matmul(%2, %5, %1, %3)"
     " {size = <90>, transpose = false, reduce = \"sum\"} return %6 y }"},
    {"sparse/sparse_matmul", "none", kStandard,
     "values=T[0] pointers=i64[4]{zeros} columns=i64[0] dense=T[5,2] size=5"},
    {"sparse/sampled_matmul", "some", kSmoke,
     "graph(%0 r: i64[20]{0..7}, %1 c: i64[20]{0..9}, %2 a: $T[7, 6], %3 b: $T[6, 9]) {"
     " %4: i64[20] = sort(%0) {dim = 0, descending = false}"
     " %5: i64[8] = compress_rows(%4) {count = <7>}"
     " %6: $T[20] = sampled_matmul(%2, %3, %5, %1) return %6 values }"},
    {"sparse/sampled_matmul", "none", kStandard,
     "a=T[3,2] b=T[2,5] pointers=i64[4]{zeros} columns=i64[0]"},
    {"sparse/sparse_sparse_matmul", "one_row_each", kSmoke,
     "graph(%0 c: i64[6]{0..9}, %1 k: i64[4]{zeros}, %2 a: $T[4], %3 b: $T[6],"
     " %4 r: i64[4]{permutation}, %5 q: i64[6]{zeros}) {"
     " %6: i64[4] = sort(%4) {dim = 0, descending = false}"
     " %7: i64[5] = compress_rows(%6) {count = <4>} %8: i64[2] = compress_rows(%5) {count = <1>}"
     " %9: $T[24], %10: i64[5], %11: i64[24] = sparse_sparse_matmul(%2, %7, %1, %3, %8, %0)"
     " {size = <9>, products = <24>, entries = <24>} return %9 values, %10 pointers, %11 columns "
     "}"},
    {"sparse/sparse_sparse_matmul", "distinct_columns", kStandard,
     "graph(%0 c: i64[6]{permutation}, %1 k: i64[4]{zeros}, %2 a: $T[4]{positive},"
     " %3 b: $T[6]{positive}, %4 r: i64[4]{permutation}, %5 q: i64[6]{zeros}) {"
     " %6: i64[4] = sort(%4) {dim = 0, descending = false}"
     " %7: i64[5] = compress_rows(%6) {count = <4>} %8: i64[2] = compress_rows(%5) {count = <1>}"
     " %9: $T[24], %10: i64[5], %11: i64[24] = sparse_sparse_matmul(%2, %7, %1, %3, %8, %0)"
     " {size = <9>, products = <24>, entries = <24>} return %9 values, %10 pointers, %11 columns "
     "}"},
    {"sparse/sparse_sparse_matmul", "none", kStandard,
     "a=T[0] a_pointers=i64[4]{zeros} a_columns=i64[0] b=T[0] b_pointers=i64[3]{zeros}"
     " b_columns=i64[0] size=5 products=0 entries=0"},
};

}  // namespace

std::span<const PrimitiveRow> sparse_primitive_rows() {
  return kSparse;
}

}  // namespace primset::conformance
