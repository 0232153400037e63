// Fourier transforms. The lengths are those of each way to compute one: short and long products of
// small primes, products with a greater prime, primes.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr PrimitiveRow kFft[] = {
    {"fft/fft_c2c", "smooth", kSmoke, "x=T[3,60] dims=[1]"},
    {"fft/fft_c2c", "backward", kStandard, "x=T[3,60] dims=[1] forward=false"},
    {"fft/fft_c2c", "one", kStandard, "x=T[3,1] dims=[1]"},
    {"fft/fft_c2c", "two", kStandard, "x=T[5,2] dims=[1]"},
    {"fft/fft_c2c", "seven", kStandard, "x=T[5,7] dims=[1]"},
    {"fft/fft_c2c", "sixteen", kStandard, "x=T[5,16] dims=[1]"},
    {"fft/fft_c2c", "power_of_two", kStandard, "x=T[2,1024] dims=[1]"},
    {"fft/fft_c2c", "power_of_three", kStandard, "x=T[3,243] dims=[1]"},
    {"fft/fft_c2c", "mixed", kStandard, "x=T[2,840] dims=[1]"},
    {"fft/fft_c2c", "single", kStandard, "x=T[375] dims=[0]"},
    {"fft/fft_c2c", "large", kStandard, "x=T[12288] dims=[0] forward=false"},
    {"fft/fft_c2c", "large_prime", kStandard, "x=T[2,331] dims=[1]"},
    {"fft/fft_c2c", "small_prime", kStandard, "x=T[2,43] dims=[1] forward=false"},
    {"fft/fft_c2c", "with_prime", kStandard, "x=T[2,444] dims=[1]"},
    {"fft/fft_c2c", "with_large_prime", kStandard, "x=T[206,2] dims=[0] forward=false"},
    {"fft/fft_c2c", "first_dim", kStandard, "x=T[60,19] dims=[0]"},
    {"fft/fft_c2c", "middle_dim", kStandard, "x=T[3,36,5] dims=[1] forward=false"},
    {"fft/fft_c2c", "several_dims", kStandard, "x=T[6,7,16] dims=[0,2]"},
    {"fft/fft_c2c", "all_dims", kStandard, "x=T[5,8,13] dims=[2,0,1] forward=false"},
    {"fft/fft_c2c", "no_batch", kStandard, "x=T[0,16] dims=[1]"},
    {"fft/fft_r2c", "even", kSmoke, "x=T[3,60] dims=[1]"},
    {"fft/fft_r2c", "odd", kStandard, "x=T[3,45] dims=[1]"},
    {"fft/fft_r2c", "one", kStandard, "x=T[3,1] dims=[1]"},
    {"fft/fft_r2c", "two", kStandard, "x=T[3,2] dims=[1]"},
    {"fft/fft_r2c", "large", kStandard, "x=T[2048] dims=[0]"},
    {"fft/fft_r2c", "large_prime", kStandard, "x=T[2,127] dims=[1]"},
    {"fft/fft_r2c", "first_dim", kStandard, "x=T[32,9] dims=[0]"},
    {"fft/fft_r2c", "several_dims", kStandard, "x=T[6,7,16] dims=[2,0,1]"},
    {"fft/fft_r2c", "no_batch", kStandard, "x=T[0,16] dims=[1]"},
    {"fft/fft_c2r", "even", kSmoke, "x=T[3,31] dims=[1] n=60"},
    {"fft/fft_c2r", "odd", kStandard, "x=T[3,23] dims=[1] n=45"},
    {"fft/fft_c2r", "one", kStandard, "x=T[3,1] dims=[1] n=1"},
    {"fft/fft_c2r", "two", kStandard, "x=T[3,2] dims=[1] n=2"},
    {"fft/fft_c2r", "large", kStandard, "x=T[1025] dims=[0] n=2048"},
    {"fft/fft_c2r", "large_prime", kStandard, "x=T[2,64] dims=[1] n=127"},
    {"fft/fft_c2r", "first_dim", kStandard, "x=T[17,9] dims=[0] n=32"},
    {"fft/fft_c2r", "several_dims", kStandard, "x=T[6,4,16] dims=[2,0,1] n=7"},
    {"fft/fft_c2r", "no_batch", kStandard, "x=T[0,9] dims=[1] n=16"},
};

}  // namespace

std::span<const PrimitiveRow> fft_primitive_rows() {
  return kFft;
}

}  // namespace primset::conformance
