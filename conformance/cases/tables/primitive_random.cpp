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
    {"random/random_gamma", "small", kSmoke,
     "key=i64[]{7..8} offset=i64[]{0..1} alpha=T[33]{positive}"},
    {"random/random_gamma", "great", kStandard,
     "key=i64[]{7..8} offset=i64[]{5..6} alpha=T[5,7]{12..60}"},
    {"random/random_gamma", "large", kStandard,
     "key=i64[]{9..10} offset=i64[]{0..1} alpha=T[2053]{3..20}"},
    {"random/random_gamma", "zeros", kStandard,
     "key=i64[]{9..10} offset=i64[]{0..1} alpha=T[7]{zeros}"},
    {"random/random_gamma", "empty", kStandard, "key=i64[]{9..10} offset=i64[]{0..1} alpha=T[0,3]"},
    {"random/random_poisson", "small", kSmoke,
     "key=i64[]{7..8} offset=i64[]{0..1} rate=T[33]{positive}"},
    {"random/random_poisson", "great", kStandard,
     "key=i64[]{7..8} offset=i64[]{5..6} rate=T[5,7]{12..60}"},
    {"random/random_poisson", "large", kStandard,
     "key=i64[]{9..10} offset=i64[]{0..1} rate=T[2053]{3..20}"},
    {"random/random_poisson", "zeros", kStandard,
     "key=i64[]{9..10} offset=i64[]{0..1} rate=T[7]{zeros}"},
    {"random/random_poisson", "empty", kStandard,
     "key=i64[]{9..10} offset=i64[]{0..1} rate=T[0,3]"},
    {"random/random_binomial", "small", kSmoke,
     "key=i64[]{7..8} offset=i64[]{3..4} n=T[5,41]{1..20} p=T[5,41]{0..1}"},
    {"random/random_binomial", "great", kStandard,
     "key=i64[]{7..8} offset=i64[]{3..4} n=T[5,41]{60..200} p=T[5,41]{0..1}"},
    {"random/random_binomial", "certain", kStandard,
     "key=i64[]{7..8} offset=i64[]{3..4} n=T[5,41]{3..9} p=T[5,41]{ones}"},
    {"random/random_binomial", "impossible", kStandard,
     "key=i64[]{7..8} offset=i64[]{3..4} n=T[5,41]{3..9} p=T[5,41]{zeros}"},
    {"random/random_permutation", "some", kSmoke, "key=i64[]{7..8} offset=i64[]{0..1} n=33"},
    {"random/random_permutation", "many", kStandard, "key=i64[]{7..8} offset=i64[]{5..6} n=2053"},
    {"random/random_permutation", "none", kStandard, "key=i64[]{7..8} offset=i64[]{5..6} n=0"},
    {"random/multinomial", "once", kSmoke,
     "key=i64[]{7..8} offset=i64[]{0..1} weights=T[2,9]{positive} samples=4 replacement=false"},
    {"random/multinomial", "all", kStandard,
     "key=i64[]{7..8} offset=i64[]{0..1} weights=T[3,7]{positive} samples=7 replacement=false"},
    {"random/multinomial", "again", kSmoke,
     "key=i64[]{7..8} offset=i64[]{0..1} weights=T[2,9]{positive} samples=33 replacement=true"},
    {"random/multinomial", "long", kStandard,
     "key=i64[]{7..8} offset=i64[]{0..1} weights=T[2,1031]{positive} samples=17 replacement=true"},
    {"special/gamma_grad", "plain", kSmoke, "a=T[5,41]{0..5} x=T[5,41]{0..9}"},
    {"special/gamma_grad", "great", kStandard, "a=T[5,41]{60..900} x=T[5,41]{60..900}"},
    {"special/gamma_grad", "huge", kStandard, "a=T[5,41]{20000..30000} x=T[5,41]{20000..30000}"},
    {"special/gamma_grad", "near_zero", kStandard, "a=T[5,41]{0..1} x=T[5,41]{0..1}"},
    {"special/dirichlet_grad", "plain", kSmoke,
     "x=T[5,41]{0..1} a=T[5,41]{1..3} total=T[5,41]{4..9}"},
    {"special/dirichlet_grad", "great", kStandard,
     "x=T[5,41]{0..1} a=T[5,41]{20..90} total=T[5,41]{120..300}"},
    {"special/dirichlet_grad", "small", kStandard,
     "x=T[5,41]{0..1} a=T[5,41]{0..1} total=T[5,41]{1..2}"},
    {"random/dropout", "half", kSmoke, "key=i64[]{7..8} offset=i64[]{0..1} x=T[33] p=0.5"},
    {"random/dropout", "all", kStandard, "key=i64[]{7..8} offset=i64[]{0..1} x=T[33] p=1"},
    {"random/dropout", "none", kStandard, "key=i64[]{7..8} offset=i64[]{0..1} x=T[5,7] p=0"},
};

}  // namespace

std::span<const PrimitiveRow> random_rows() {
  return kRandom;
}

}  // namespace primset::conformance
