// Primitives that read and write at indices.
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

}  // namespace

std::span<const PrimitiveRow> indexing_rows() {
  return kIndexing;
}

}  // namespace primset::conformance
