#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

constexpr RowDTypes kReal = RowDTypes::real, kQuotients = RowDTypes::real_numbers;
constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

// Quotients that are rounded, beside what a generator makes of quotients that are not; and sums to
// given sizes.
constexpr OperatorRow kRows[] = {
    {"div.Tensor_mode", "floor", kSmoke,
     "self=T[5,7] other=T[5,7]{normal!0} rounding_mode=\"floor\"", kQuotients},
    {"div.Tensor_mode", "trunc", kStandard,
     "self=T[5,7] other=T[5,7]{normal!0} rounding_mode=\"trunc\"", kQuotients},
    {"div.Tensor_mode", "floor_broadcast", kStandard,
     "self=T[5,7] other=T[7]{normal!0} rounding_mode=\"floor\"", kQuotients},
    {"div.Tensor_mode", "trunc_transposed", kStandard,
     "self=T[5,7]@transposed other=T[5,7]@strided{normal!0} rounding_mode=\"trunc\"", kQuotients},
    {"div.Tensor_mode", "floor_special", kStandard,
     "self=T[40,40]{special_outer} other=T[1,40]{special!0} rounding_mode=\"floor\"", kQuotients},
    {"div.Tensor_mode", "trunc_special", kStandard,
     "self=T[40,40]{special_outer} other=T[1,40]{special!0} rounding_mode=\"trunc\"", kQuotients},
    {"div.Tensor_mode", "floor_scalar", kStandard,
     "self=T[] other=T[]{normal!0} rounding_mode=\"floor\"", kQuotients},
    {"div.Tensor_mode", "no_mode", kStandard,
     "self=T[5] other=T[5]{normal!0} rounding_mode=\"round\" !runtime"},
    {"div.Scalar_mode", "floor", kSmoke, "self=T[5,7] other=3 rounding_mode=\"floor\"", kReal},
    {"div.Scalar_mode", "trunc", kStandard, "self=T[5,7] other=3 rounding_mode=\"trunc\"", kReal},
    {"div.Scalar_mode", "floor_transposed", kStandard,
     "self=T[5,7]@transposed other=2 rounding_mode=\"floor\"", kReal},
    {"div.Scalar_mode", "trunc_strided", kStandard,
     "self=T[5,7]@strided other=7 rounding_mode=\"trunc\"", kReal},
    {"div.Scalar_mode", "floor_special", kStandard,
     "self=T[64]{special} other=5 rounding_mode=\"floor\"", kReal},
    {"div.Scalar_mode", "trunc_special", kStandard,
     "self=T[64]{special} other=5 rounding_mode=\"trunc\"", kReal},
    {"div.Scalar_mode", "floor_scalar", kStandard, "self=T[] other=3 rounding_mode=\"floor\"",
     kReal},
    {"div.Scalar_mode", "no_mode", kStandard, "self=T[5] other=3 rounding_mode=\"round\" !runtime"},
    {"sum_to_size", "rows", kSmoke, "self=T[5,7] size=[1,7]"},
    {"sum_to_size", "columns", kStandard, "self=T[5,7] size=[5,1]"},
    {"sum_to_size", "all", kStandard, "self=T[5,7] size=[1,1]"},
    {"sum_to_size", "fewer_dims", kStandard, "self=T[3,5,7] size=[5,7]"},
    {"sum_to_size", "fewer_and_ones", kStandard, "self=T[3,5,7]@transposed size=[5,1]"},
    {"sum_to_size", "itself", kStandard, "self=T[5,7]@strided size=[5,7]"},
    {"sum_to_size", "to_scalar", kStandard, "self=T[5,7] size=[]"},
    {"sum_to_size", "of_nothing", kStandard, "self=T[0,7] size=[1,7]"},
    {"sum_to_size", "mismatch", kStandard, "self=T[5,7] size=[5,6] !runtime"},
    {"sum_to_size", "more_dims", kStandard, "self=T[7] size=[5,7] !runtime"},
};

}  // namespace

std::span<const OperatorRow> arithmetic_rows() {
  return kRows;
}

}  // namespace primset::conformance
