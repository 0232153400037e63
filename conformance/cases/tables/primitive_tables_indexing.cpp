#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr PrimitiveRow kIndexing[] = {
    {"indexing/gather", "rows", kSmoke, "x=T[7,5] indices=(i64[4]{0..7}) dims=[0]"},
    {"indexing/gather", "columns", kStandard, "x=T[7,5] indices=(i64[3,2]{0..5}) dims=[1]"},
    {"indexing/gather", "points", kStandard,
     "x=T[7,5] indices=(i64[9]{0..7},i64[9]{0..5}) dims=[0,1]"},
    {"indexing/gather", "scalar_index", kStandard, "x=T[7,5] indices=(i64[]{0..7}) dims=[0]"},
    {"indexing/gather", "i32", kStandard, "x=T[7,5] indices=(i32[4]{0..7}) dims=[0]"},
    {"indexing/gather", "empty_index", kStandard, "x=T[0,5] indices=(i64[0]) dims=[0]"},
    {"indexing/gather", "above", kSmoke, "x=T[7,5] indices=(i64[4]{7..9}) dims=[0] !index"},
    {"indexing/gather", "below", kStandard, "x=T[7,5] indices=(i64[4]{-9..0}) dims=[0] !index"},
    {"indexing/gather", "large", kStandard, "x=T[1031] indices=(i64[2053]{0..1031}) dims=[0]"},
    {"indexing/scatter", "rows", kSmoke,
     "x=T[9,5] indices=(i64[9]{permutation}) updates=T[9,5] dims=[0]"},
    {"indexing/scatter", "ordered", kStandard,
     "x=T[7] indices=(i64[20]{0..7}) updates=T[20] dims=[0] ordered=true"},
    {"indexing/scatter", "empty_index", kStandard, "x=T[7] indices=(i64[0]) updates=T[0] dims=[0]"},
    {"indexing/scatter", "above", kSmoke,
     "x=T[7] indices=(i64[3]{7..9}) updates=T[3] dims=[0] !index"},
    {"indexing/scatter", "points", kStandard,
     "x=T[9,9] indices=(i64[9]{permutation},i64[9]{permutation}) updates=T[9] dims=[0,1]"},
    {"indexing/scatter_m??", "rows", kSmoke,
     "x=T[7,5] indices=(i64[4]{0..7}) updates=T[4,5] dims=[0]"},
    {"indexing/scatter_add", "rows", kSmoke,
     "x=T[7,5] indices=(i64[20]{0..7}) updates=T[20,5] dims=[0]"},
    {"indexing/scatter_add", "ordered", kStandard,
     "x=T[7] indices=(i64[40]{0..7}) updates=T[40] dims=[0] ordered=true"},
    {"indexing/scatter_add", "above", kStandard,
     "x=T[7] indices=(i64[3]{7..9}) updates=T[3] dims=[0] !index"},
    {"indexing/scatter_add", "empty_index", kStandard,
     "x=T[7] indices=(i64[0]) updates=T[0] dims=[0]"},
    {"indexing/scatter_mul", "above", kStandard,
     "x=T[7] indices=(i64[3]{7..9}) updates=T[3] dims=[0] !index"},
    {"indexing/scatter_m??", "equal", kStandard,
     "x=T[7] indices=(i64[40]{0..7}) updates=T[40] dims=[0]"},
    {"indexing/scatter_m??", "nan", kStandard,
     "x=T[7]{nan} indices=(i64[9]{0..7}) updates=T[9]{nan} dims=[0]"},
    {"indexing/scatter_m??", "columns", kStandard,
     "x=T[4,7] indices=(i64[9]{0..7}) updates=T[9,4] dims=[1]"},
    {"indexing/compact", "some", kSmoke, "x=T[37] mask=bool[37]"},
    {"indexing/compact", "none", kStandard, "x=T[37] mask=bool[37]{zeros}"},
    {"indexing/compact", "all", kStandard, "x=T[37] mask=bool[37]{ones}"},
    {"indexing/compact", "empty", kStandard, "x=T[0] mask=bool[0]"},
    {"indexing/compact", "long", kStandard, "x=T[4099] mask=bool[4099]"},
    {"indexing/gather_along_dim", "plain", kSmoke, "x=T[4,7] index=i64[4,5]{0..7} dim=1"},
    {"indexing/gather_along_dim", "smaller", kStandard, "x=T[6,4,3] index=i64[2,4,2]{0..6} dim=0"},
    {"indexing/gather_along_dim", "above", kStandard, "x=T[4,7] index=i64[4,5]{7..9} dim=1 !index"},
    {"indexing/scatter_along_dim", "plain", kSmoke,
     "x=T[4,9] index=i64[1,9]{permutation} src=T[4,9] dim=1"},
    {"indexing/scatter_along_dim", "above", kStandard,
     "x=T[4,7] index=i64[4,2]{7..9} src=T[4,2] dim=1 !index"},
    {"indexing/scatter_reduce_along_dim", "sum", kSmoke,
     "x=T[4,7] index=i64[4,9]{0..7} src=T[4,9] dim=1 reduce=\"sum\""},
    {"indexing/scatter_reduce_along_dim", "mean", kStandard,
     "x=T[4,7] index=i64[4,9]{0..7} src=T[4,9] dim=1 reduce=\"mean\""},
    {"indexing/scatter_reduce_along_dim", "amax", kStandard,
     "x=T[4,7] index=i64[4,9]{0..7} src=T[4,9]{nan} dim=1 reduce=\"amax\" include_self=false"},
    {"indexing/scatter_reduce_along_dim", "prod", kStandard,
     "x=T[4,7] index=i64[4,9]{0..7} src=T[4,9] dim=1 reduce=\"prod\" include_self=false"},
    {"indexing/index_select", "rows", kSmoke, "x=T[7,5] index=i64[4]{0..7} dim=0"},
    {"indexing/index_select", "columns", kStandard, "x=T[7,5] index=i64[9]{0..5} dim=1"},
    {"indexing/index_select", "empty", kStandard, "x=T[7,5] index=i64[0] dim=1"},
    {"indexing/index_select", "above", kStandard, "x=T[7,5] index=i64[3]{5..9} dim=1 !index"},
    {"indexing/index_put", "rows", kSmoke,
     "x=T[9,5] indices=(i64[9]{permutation}) values=T[9,5] dims=[0]"},
    {"indexing/index_put", "negative", kStandard,
     "x=T[9] indices=(i64[1]{-3..-2}) values=T[1] dims=[0]"},
    {"indexing/nonzero", "ties", kSmoke, "x=T[5,7]{ties}"},
    {"indexing/nonzero", "zeros", kStandard, "x=T[5,7]{zeros}"},
    {"indexing/nonzero", "nan", kStandard, "x=T[23]{nan}"},
    {"indexing/nonzero", "scalar", kStandard, "x=T[]{ones}"},
    {"indexing/nonzero", "empty", kStandard, "x=T[0,3]"},
    {"indexing/masked_select", "some", kSmoke, "x=T[5,7] mask=bool[5,7]"},
    {"indexing/masked_select", "none", kStandard, "x=T[5,7] mask=bool[5,7]{zeros}"},
    {"indexing/masked_select", "all", kStandard, "x=T[5,7] mask=bool[5,7]{ones}"},
};

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
    {"linalg/cholesky", "plain", kSmoke, "a=T[5,5]{spd}"},
    {"linalg/cholesky", "upper", kStandard, "a=T[4,4]{spd} upper=true"},
    {"linalg/cholesky", "batch", kStandard, "a=T[3,4,4]{spd}"},
    {"linalg/cholesky", "large", kStandard, "a=T[33,33]{spd}"},
};

// Graphs as the graph's own text form has them.
constexpr PrimitiveRow kRegion[] = {
    {"region/map", "program", kSmoke,
     "graph(%0 x: $T[3, 17]{ties}, %1 y: $T[3, 17]{ties}) {"
     " %5: $T[3, 17], %6: bool[3, 17] = map(%0, %1) region(%2: $T[], %3: $T[])"
     " { %4: $T[] = mul(%2, %3) %7: bool[] = lt(%2, %3) return %4, %7 }"
     " return %5 product, %6 less }"},
    {"region/map", "empty", kStandard,
     "graph(%0 x: $T[0, 3]) { %3: $T[0, 3] = map(%0) region(%1: $T[])"
     " { %2: $T[] = add(%1, %1) return %2 } return %3 y }"},
    {"region/map", "loop_inside", kStandard,
     "graph(%0 x: $T[33]) { %5: $T[33] = map(%0) region(%1: $T[]) {"
     " %4: $T[] = for_loop(%1) {count = <3>, stacked = 0} region(%2: i64[], %3: $T[])"
     " { %6: $T[] = add(%3, %3) return %6 } return %4 } return %5 y }"},
    {"region/reduce", "sum", kSmoke,
     "graph(%0 x: $T[6, 37]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[6] = reduce(%0, %1) {dims = (1)} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = add(%2, %3) return %4 } return %5 y }"},
    {"region/reduce", "two_values", kStandard,
     "graph(%0 x: $T[37, 6], %1 i: $T[37, 6]) {"
     " %2: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %3: $T[] = constant() {value = #1, dtype = $T, shape = []}"
     " %10: $T[6], %11: $T[6] = reduce(%0, %1, %2, %3) {dims = (0)}"
     " region(%4: $T[], %5: $T[], %6: $T[], %7: $T[])"
     " { %8: $T[] = add(%4, %6) %9: $T[] = max(%5, %7) return %8, %9 } return %10 a, %11 b }"},
    {"region/reduce", "of_nothing", kStandard,
     "graph(%0 x: $T[6, 0]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[6] = reduce(%0, %1) {dims = (1)} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = add(%2, %3) return %4 } return %5 y }"},
    {"region/scan", "sum", kSmoke,
     "graph(%0 x: $T[6, 37]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[6, 37] = scan(%0, %1) {dim = 1, ordered = false} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = add(%2, %3) return %4 } return %5 y }"},
    {"region/scan", "long", kStandard,
     "graph(%0 x: $T[4099]) { %1: $T[] = constant() {value = #0, dtype = $T, shape = []}"
     " %5: $T[4099] = scan(%0, %1) {dim = 0, ordered = true} region(%2: $T[], %3: $T[])"
     " { %4: $T[] = max(%2, %3) return %4 } return %5 y }"},
    {"region/for_loop", "stacked", kSmoke,
     "graph(%0 x: $T[5]) { %4: $T[5], %5: $T[3, 5] = for_loop(%0) {count = <3>, stacked = 1}"
     " region(%1: i64[], %2: $T[5]) { %3: $T[5] = add(%2, %2) return %3, %2 }"
     " return %4 last, %5 all }"},
    {"region/for_loop", "zero", kStandard,
     "graph(%0 x: $T[5]) { %4: $T[5] = for_loop(%0) {count = <0>, stacked = 0}"
     " region(%1: i64[], %2: $T[5]) { %3: $T[5] = add(%2, %2) return %3 } return %4 y }"},
    {"region/while_loop", "count", kSmoke,
     "graph(%0 n: i64[]{3..9}, %1 x: $T[5]) {"
     " %10: i64[], %11: $T[5] = while_loop(%0, %1)"
     " region(%2: i64[], %3: $T[5]) { %4: i64[] = constant() {value = #0, dtype = i64, shape = []}"
     " %5: bool[] = lt(%4, %2) return %5 }"
     " region(%6: i64[], %7: $T[5]) { %8: i64[] = constant() {value = #1, dtype = i64, shape = []}"
     " %9: i64[] = sub(%6, %8) %12: $T[5] = add(%7, %7) return %9, %12 }"
     " return %10 n, %11 y }"},
    {"region/cond", "taken", kSmoke,
     "graph(%0 p: bool[]{ones}, %1 x: $T[5]) { %5: $T[5] = cond(%0, %1)"
     " region(%2: $T[5]) { %3: $T[5] = add(%2, %2) return %3 } region(%4: $T[5]) { return %4 }"
     " return %5 y }"},
    {"region/cond", "not_taken", kStandard,
     "graph(%0 p: bool[]{zeros}, %1 x: $T[5]) { %5: $T[5] = cond(%0, %1)"
     " region(%2: $T[5]) { %3: $T[5] = add(%2, %2) return %3 } region(%4: $T[5]) { return %4 }"
     " return %5 y }"},
};

constexpr PrimitiveRow kRandom[] = {
    {"random/philox_bits", "words", kSmoke, "key=i64[]{7..8} offset=i64[]{0..1} shape=[33]"},
    {"random/philox_bits", "offset", kStandard,
     "key=i64[]{123456789..123456790} offset=i64[]{1000..1001} shape=[5,7]"},
    {"random/philox_bits", "empty", kStandard, "key=i64[]{7..8} offset=i64[]{0..1} shape=[0]"},
    {"random/random_uniform", "unit", kSmoke,
     "key=i64[]{7..8} offset=i64[]{0..1} shape=[33] dtype=T"},
    {"random/random_uniform", "range", kStandard,
     "key=i64[]{7..8} offset=i64[]{5..6} shape=[5,7] dtype=T low=-2 high=3"},
    {"random/random_uniform", "large", kStandard,
     "key=i64[]{9..10} offset=i64[]{0..1} shape=[2053] dtype=T"},
    {"random/random_normal", "unit", kSmoke,
     "key=i64[]{7..8} offset=i64[]{0..1} shape=[33] dtype=T"},
    {"random/random_normal", "scaled", kStandard,
     "key=i64[]{7..8} offset=i64[]{5..6} shape=[5,7] dtype=T mean=1 std=3"},
    {"random/random_normal", "large", kStandard,
     "key=i64[]{9..10} offset=i64[]{0..1} shape=[2053] dtype=T"},
    {"random/random_integers", "small", kSmoke,
     "key=i64[]{7..8} offset=i64[]{0..1} shape=[33] dtype=T low=0 high=10"},
    {"random/random_integers", "odd_range", kStandard,
     "key=i64[]{7..8} offset=i64[]{3..4} shape=[1031] dtype=T low=3 high=100"},
    {"random/dropout", "half", kSmoke, "key=i64[]{7..8} offset=i64[]{0..1} x=T[33] p=0.5"},
    {"random/dropout", "all", kStandard, "key=i64[]{7..8} offset=i64[]{0..1} x=T[33] p=1"},
    {"random/dropout", "none", kStandard, "key=i64[]{7..8} offset=i64[]{0..1} x=T[5,7] p=0"},
};

}  // namespace

std::span<const PrimitiveRow> indexing_rows() {
  return kIndexing;
}

std::span<const PrimitiveRow> contraction_rows() {
  return kContraction;
}

std::span<const PrimitiveRow> region_rows() {
  return kRegion;
}

std::span<const PrimitiveRow> random_rows() {
  return kRandom;
}

}  // namespace primset::conformance
