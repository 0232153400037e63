// What tests of the interpreter share: buffers, and kernels with matrices.
#ifndef PRIMSET_CODEGEN_KERNEL_INTERPRETER_TESTING_GROUP_RUNS_H_
#define PRIMSET_CODEGEN_KERNEL_INTERPRETER_TESTING_GROUP_RUNS_H_

#include <bit>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel/interpreter/interpreter.h"
#include "codegen/kernel/verifier/verifier.h"
#include "primset/error.h"

namespace primset::kir {

template <class T>
InterpreterBuffer buffer(std::vector<T>& data) {
  return {std::as_writable_bytes(std::span(data)), {}};
}

// Verifies the kernel and runs a group of it whose subgroups have 32 lanes; what was wrong, or "".
inline std::string error_of(const Kernel& kernel, const TargetModel& target,
                            std::vector<InterpreterBuffer> buffers) {
  verify_or_throw(kernel, target);
  InterpreterOptions options;
  options.subgroup_size = 32;
  try {
    interpret(kernel, buffers, {}, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// The bits of an f16 or bf16. Whole numbers up to 8 are exact in both.
inline uint16_t short_bits(int value, bool bf16) {
  const uint32_t f32 = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (bf16) return static_cast<uint16_t>(f32 >> 16);
  if (value == 0) return 0;
  const uint32_t sign = f32 >> 16 & 0x8000, exponent = (f32 >> 23 & 0xff) - 127 + 15;
  return static_cast<uint16_t>(sign | exponent << 10 | (f32 >> 13 & 0x3ff));
}

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_INTERPRETER_TESTING_GROUP_RUNS_H_
