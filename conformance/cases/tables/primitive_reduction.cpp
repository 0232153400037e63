// Primitives along dims: reductions, scans, sorts and normalizations.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard, kFull = CaseTier::full;

constexpr PrimitiveRow kReduction[] = {
    {"reduction/*", "last_dim", kSmoke, "x=T[6,37] dims=[1]"},
    {"reduction/*", "first_dim", kStandard, "x=T[37,6] dims=[0]"},
    {"reduction/*", "middle_dim", kStandard, "x=T[3,9,4] dims=[1]"},
    {"reduction/*", "all_dims", kStandard, "x=T[5,7] dims=[0,1]"},
    {"reduction/*", "outer_dims", kStandard, "x=T[3,5,4] dims=[0,2]"},
    {"reduction/*", "single", kStandard, "x=T[4,1] dims=[1]"},
    {"reduction/*", "of_nothing", kSmoke, "x=T[4,0] dims=[1]"},
    {"reduction/*", "no_rows", kStandard, "x=T[0,4] dims=[1]"},
    {"reduction/*", "no_dims", kStandard, "x=T[3,4] dims=[]"},
    {"reduction/*", "scalar", kStandard, "x=T[] dims=[]"},
    {"reduction/*", "long_row", kStandard, "x=T[2,4099] dims=[1]"},
    {"reduction/*", "long_column", kStandard, "x=T[2053,3] dims=[0]"},
    {"reduction/*", "nan", kStandard, "x=T[4,9]{nan} dims=[1]"},
    {"reduction/*", "special", kStandard, "x=T[5,40]{special} dims=[1]"},
    {"reduction/*", "huge", kFull, "x=T[3,100003] dims=[1]"},
    {"reduction/arg*", "first", kSmoke, "x=T[6,37] dim=1"},
    {"reduction/arg*", "ties", kSmoke, "x=T[6,37]{ties} dim=1"},
    {"reduction/arg*", "column", kStandard, "x=T[37,6]{ties} dim=0"},
    {"reduction/arg*", "nan", kStandard, "x=T[4,9]{nan} dim=1"},
    {"reduction/arg*", "no_rows", kStandard, "x=T[0,4] dim=1"},
    {"reduction/arg*", "long", kStandard, "x=T[2,4099]{distinct} dim=1"},
    {"scan/*", "last_dim", kSmoke, "x=T[6,37] dim=1"},
    {"scan/*", "first_dim", kStandard, "x=T[37,6] dim=0"},
    {"scan/*", "middle_dim", kStandard, "x=T[3,9,4] dim=1"},
    {"scan/*", "single", kStandard, "x=T[4,1] dim=1"},
    {"scan/*", "empty", kStandard, "x=T[4,0] dim=1"},
    {"scan/*", "no_rows", kStandard, "x=T[0,4] dim=1"},
    {"scan/*", "ties", kStandard, "x=T[3,50]{ties} dim=1"},
    {"scan/*", "nan", kStandard, "x=T[4,9]{nan} dim=1"},
    {"scan/*", "long", kStandard, "x=T[2,4099]{ties} dim=1"},
    {"sort/sort", "distinct", kSmoke,
     "keys=T[4,33]{distinct} payloads=(i64[4,33]{permutation}) dim=1"},
    {"sort/sort", "ties", kSmoke, "keys=T[4,33]{ties} payloads=(i64[4,33]{permutation}) dim=1"},
    {"sort/sort", "descending", kStandard,
     "keys=T[4,33]{ties} payloads=(i64[4,33]{permutation}) dim=1 descending=true"},
    {"sort/sort", "first_dim", kStandard,
     "keys=T[33,4]{ties} payloads=(i64[33,4]{permutation}) dim=0"},
    {"sort/sort", "nan", kStandard, "keys=T[3,17]{nan} payloads=(i64[3,17]{permutation}) dim=1"},
    {"sort/sort", "special", kStandard,
     "keys=T[40]{special} payloads=(i64[40]{permutation}) dim=0"},
    {"sort/sort", "no_payload", kStandard, "keys=T[3,17] payloads=() dim=1"},
    {"sort/sort", "empty", kStandard, "keys=T[3,0] payloads=(i64[3,0]) dim=1"},
    {"sort/sort", "long", kStandard,
     "keys=T[2,2053]{ties} payloads=(i64[2,2053]{permutation}) dim=1"},
    {"sort/top_k", "some", kSmoke, "x=T[4,33]{ties} k=5 dim=1"},
    {"sort/top_k", "smallest", kStandard, "x=T[4,33]{ties} k=5 dim=1 largest=false"},
    {"sort/top_k", "all", kStandard, "x=T[4,9]{nan} k=9 dim=1"},
    {"sort/top_k", "none", kStandard, "x=T[4,9] k=0 dim=1"},
    {"sort/top_k", "first_dim", kStandard, "x=T[33,4]{ties} k=7 dim=0"},
    {"reduction/vector_norm", "two", kSmoke, "x=T[6,37] p=2 dims=[1]"},
    {"reduction/vector_norm", "zero", kStandard, "x=T[6,37]{ties} p=0 dims=[1]"},
    {"reduction/vector_norm", "one", kStandard, "x=T[6,37] p=1 dims=[1]"},
    {"reduction/vector_norm", "three", kStandard, "x=T[6,37] p=3 dims=[1]"},
    {"reduction/vector_norm", "infinity", kStandard, "x=T[6,37]{nan} p=inf dims=[1]"},
    {"reduction/vector_norm", "negative_infinity", kStandard, "x=T[6,37] p=-inf dims=[0]"},
    {"normalization/*softmax", "last_dim", kSmoke, "x=T[6,37] dim=1"},
    {"normalization/*softmax", "first_dim", kStandard, "x=T[37,6] dim=0"},
    {"normalization/*softmax", "single", kStandard, "x=T[4,1] dim=1"},
    {"normalization/*softmax", "empty", kStandard, "x=T[4,0] dim=1"},
    {"normalization/*softmax", "nan", kStandard, "x=T[4,9]{nan} dim=1"},
    {"normalization/*softmax", "long", kStandard, "x=T[2,2053] dim=1"},
    {"normalization/layer_norm", "plain", kSmoke,
     "x=T[6,37] weight=T[37] bias=T[37] dims=1 eps=1e-5"},
    {"normalization/layer_norm", "bare", kStandard,
     "x=T[6,37] weight=none bias=none dims=1 eps=1e-5"},
    {"normalization/layer_norm", "two_dims", kStandard,
     "x=T[3,4,5] weight=T[4,5] bias=none dims=2 eps=1e-3"},
    {"normalization/layer_norm", "empty", kStandard,
     "x=T[0,5] weight=T[5] bias=T[5] dims=1 eps=1e-5"},
    {"normalization/layer_norm", "long", kStandard,
     "x=T[2,1031] weight=T[1031] bias=T[1031] dims=1 eps=1e-5"},
    {"normalization/rms_norm", "plain", kSmoke, "x=T[6,37] weight=T[37] dims=1 eps=1e-5"},
    {"normalization/rms_norm", "bare", kStandard, "x=T[6,37] weight=none dims=1 eps=1e-5"},
    {"normalization/rms_norm", "two_dims", kStandard, "x=T[3,4,5] weight=T[4,5] dims=2 eps=1e-3"},
};

}  // namespace

std::span<const PrimitiveRow> reduction_rows() {
  return kReduction;
}

}  // namespace primset::conformance
