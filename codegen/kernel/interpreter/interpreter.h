// Runs a kernel without a device: the arbiter between emitters, and a finder of GPU bugs without a
// GPU. Every access is checked: bounds, misaligned addresses, reads of uninitialised memory, data
// races between threads of a group and between groups, barriers that not every thread reaches.
#ifndef PRIMSET_CODEGEN_KERNEL_INTERPRETER_INTERPRETER_H_
#define PRIMSET_CODEGEN_KERNEL_INTERPRETER_INTERPRETER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"

namespace primset::kir {

struct InterpreterOptions {
  std::array<uint32_t, 3> groups = {1, 1, 1};
  uint32_t subgroup_size = 8;        // 1 to 64
  bool fused_fma = true;             // false: Fma rounds twice, as on lavapipe
  uint32_t div_sqrt_error_ulps = 0;  // how far FDiv, FSqrt and FRsqrt are off, as on many a device
  bool check_races = true;
  uint64_t max_steps = 1u << 30;  // a runaway loop is an error, not a hang
};

// One global buffer. `initialized` may be empty (all initialised) or hold one flag a byte, which
// stores set. Buffers may overlap each other in memory: races are found across them.
struct InterpreterBuffer {
  std::span<std::byte> data;
  std::vector<bool> initialized;
};

// The first buffers belong to the kernel's pointer parameters, in order; further ones are reached
// by their address through IntToPtr. Scalars as a bit pattern each, in the order of the kernel's
// scalar parameters.
// Throws primset::Error{runtime} that names the thread, the instruction and the address when a rule
// is broken.
void interpret(const Kernel& kernel, std::span<InterpreterBuffer> buffers,
               std::span<const uint64_t> scalars, const InterpreterOptions& options);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_INTERPRETER_INTERPRETER_H_
