// Test only: what each elementwise operation of kernel IR means, on bit patterns, in plain C++.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_REFERENCE_OPS_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_REFERENCE_OPS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "codegen/kernel/ir/ir.h"

namespace primset::emit::testing {

using Operands = std::array<uint64_t, 3>;

// `from` is the (first) operand's type, `to` the result's. For select the condition is x[0] & 1 and
// `from` the type of the choices.
uint64_t reference(kir::Op op, kir::Scalar from, kir::Scalar to, const Operands& x);
// False where the operation is undefined: division by zero, a shift too far, a float that does not
// fit.
bool defined(kir::Op op, kir::Scalar from, kir::Scalar to, const Operands& x);
// The same, or both NaN where the operation computes (its payload is nobody's promise).
bool same_result(kir::Op op, kir::Scalar to, uint64_t expected, uint64_t seen);

// Values that find bugs (limits, NaN, infinities, zeros, denormals), then random bits: `count` in
// all.
std::vector<uint64_t> interesting_values(kir::Scalar s, size_t count, uint32_t seed);

bool is_nan(kir::Scalar s, uint64_t bits);
// f16's conversions, which C++20 does not have.
float half_to_float(uint16_t h);
uint16_t float_to_half(float f);

}  // namespace primset::emit::testing

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_REFERENCE_OPS_H_
