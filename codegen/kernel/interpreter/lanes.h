// What each arithmetic operation of kernel IR does to one vector of lanes. A lane is a 64-bit word
// that holds the element's bit pattern, zero-extended.
#ifndef PRIMSET_CODEGEN_KERNEL_INTERPRETER_LANES_H_
#define PRIMSET_CODEGEN_KERNEL_INTERPRETER_LANES_H_

#include <cstdint>

#include "codegen/kernel/interpreter/interpreter.h"
#include "codegen/kernel/ir/ir.h"

namespace primset::kir::interp {

// out[i] = op(a[i], b[i], c[i]); imm is Extract's or Insert's lane, or the error put on an inexact
// division. out overlaps no operand.
using LaneFn = void (*)(uint64_t* out, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                        uint32_t lanes, uint32_t imm);

// Thrown by a lane function that has no defined result and would trap on hardware.
struct LaneFault {
  const char* what;
};

// The function for a pure operation, null for the others. from: the first operand's element type
// (Select: the second's); to: the result's.
LaneFn lane_function(Op op, Scalar from, Scalar to, const InterpreterOptions& options);

// The value after an atomic update.
uint64_t apply_rmw(Rmw op, Scalar type, uint64_t old, uint64_t value);

// The value of an f16. Exact; a NaN keeps its payload and turns quiet.
double half_to_double(uint64_t h);
double bf16_to_double(uint64_t bits);

inline uint64_t low_mask(int bits) {
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}
inline int64_t sign_extend(uint64_t v, int bits) {
  return static_cast<int64_t>(v << (64 - bits)) >> (64 - bits);
}

}  // namespace primset::kir::interp

#endif  // PRIMSET_CODEGEN_KERNEL_INTERPRETER_LANES_H_
