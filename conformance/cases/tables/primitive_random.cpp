// Primitives that draw random numbers.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

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

std::span<const PrimitiveRow> random_rows() {
  return kRandom;
}

}  // namespace primset::conformance
