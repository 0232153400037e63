// Primitives that take their operands element by element, conversions, and checks.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard, kFull = CaseTier::full;

// `?` is each operand in turn; T is replaced where an operand has a dtype of its own (bool).
constexpr PrimitiveRow kElementwise[] = {
    {"e*/*", "vector", kSmoke, "?=T[17]"},
    {"complex/*", "vector", kSmoke, "?=T[17]"},
    {"e*/*", "scalar", kStandard, "?=T[]"},
    {"complex/*", "scalar", kStandard, "?=T[]"},
    {"e*/*", "matrix", kStandard, "?=T[5,7]"},
    {"e*/*", "empty", kSmoke, "?=T[0,3]"},
    {"complex/*", "empty", kStandard, "?=T[0,3]"},
    {"elementwise_unary/*", "special", kSmoke, "?=T[7,9]{special}"},
    {"complex/*", "special", kStandard, "?=T[160]{special}"},
    {"e*/*", "rank_5", kStandard, "?=T[2,3,1,2,3]"},
    {"e*/*", "large", kStandard, "?=T[3,1031]"},
    {"complex/*", "large", kStandard, "?=T[1031]"},
    {"e*/*", "bits", kStandard, "?=T[1021]{bits}"},
    {"e*/*", "huge", kFull, "?=T[65,1031]{bits}"},
    {"elementwise_binary/*", "special_pairs", kSmoke,
     "x=T[40,40]{special_outer} y=T[40,40]{special_inner}"},
    {"elementwise_ternary/fma", "special_pairs", kStandard,
     "x=T[40,40]{special_outer} y=T[40,40]{special_inner} z=T[40,40]{special}"},
    {"elementwise_ternary/select", "special", kStandard,
     "p=bool[40,40] x=T[40,40]{special_outer} y=T[40,40]{special_inner}"},
    {"elementwise_ternary/clamp", "crossed", kStandard, "x=T[33] lo=T[33]{nan} hi=T[33]{nan}"},
    {"elementwise_ternary/lerp", "ends", kStandard, "x=T[33] y=T[33] w=T[33]{ties}"},
    {"elementwise_binary/shift_*", "counts", kStandard,
     "x=T[40,40]{special_outer} y=T[40,40]{0..64}"},
    {"elementwise_binary/pow", "small", kStandard, "x=T[200]{-3..4} y=T[200]{-3..4}"},
    {"elementwise_binary/ldexp", "far", kStandard, "x=T[160]{special} n=i64[160]{-400..400}"},
    {"elementwise_binary/ldexp", "near", kSmoke, "x=T[160] n=i32[160]{-20..20}"},
    {"special/igamma*", "special", kSmoke, "a=T[40,40]{special_outer} x=T[40,40]{special_inner}"},
    {"special/igamma*", "small", kStandard, "a=T[200]{positive} x=T[200]{positive}"},
    {"special/igamma*", "large", kStandard, "a=T[200]{150..400} x=T[200]{150..400}"},
    {"special/*", "scalar", kStandard, "?=T[]"},
    {"special/*", "empty", kStandard, "?=T[0,3]"},
    {"conversion/convert", "to_f32", kSmoke, "x=T[64]{special} dtype=f32"},
    {"conversion/convert", "to_f16", kStandard, "x=T[64]{special} dtype=f16"},
    {"conversion/convert", "to_bf16", kStandard, "x=T[64]{special} dtype=bf16"},
    {"conversion/convert", "to_f64", kStandard, "x=T[64]{special} dtype=f64"},
    {"conversion/convert", "to_i64", kSmoke, "x=T[64]{-100..100} dtype=i64"},
    {"conversion/convert", "to_i8", kStandard, "x=T[64]{-100..100} dtype=i8"},
    {"conversion/convert", "to_u8", kStandard, "x=T[64]{0..100} dtype=u8"},
    {"conversion/convert", "to_u64", kStandard, "x=T[64]{0..100} dtype=u64"},
    {"conversion/convert", "to_bool", kStandard, "x=T[64]{special} dtype=bool"},
    {"conversion/convert", "to_c64", kStandard, "x=T[64]{special} dtype=c64"},
    {"conversion/convert", "bits_to_f16", kStandard, "x=T[1021]{bits} dtype=f16"},
    {"conversion/convert", "bits_to_bf16", kStandard, "x=T[1021]{bits} dtype=bf16"},
    {"conversion/convert", "empty", kStandard, "x=T[0] dtype=f32"},
    {"conversion/bitcast", "same", kSmoke, "x=T[64]{special} dtype=T"},
    {"conversion/bitcast", "bytes", kStandard, "x=T[3,5]{bits} dtype=u8"},
    {"conversion/complex", "special", kSmoke, "re=T[64]{special} im=T[64]{special}"},
    {"conversion/complex", "vector", kStandard, "re=T[17] im=T[17]"},
    {"conversion/complex", "empty", kStandard, "re=T[0] im=T[0]"},
    {"conversion/real", "special", kSmoke, "z=T[160]{special}"},
    {"conversion/real", "matrix", kStandard, "z=T[5,7]"},
    {"conversion/imag", "special", kSmoke, "z=T[160]{special}"},
    {"conversion/imag", "matrix", kStandard, "z=T[5,7]"},
    {"control/check", "holds", kSmoke,
     "p=bool[5]{ones} value=i64[5] code=\"index\" message=\"no\""},
    {"control/check", "fails", kStandard,
     "p=bool[5]{zeros} value=i64[5]{7..8} code=\"index\" message=\"value {value}\" !index"},
};

}  // namespace

std::span<const PrimitiveRow> elementwise_rows() {
  return kElementwise;
}

}  // namespace primset::conformance
