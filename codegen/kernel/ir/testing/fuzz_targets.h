// What fuzzers of kernels share: the kernel that the bytes spell, and the machines that it is
// verified and emitted for, with everything that a kernel can use, so that no operation is refused
// for want of it.
#ifndef PRIMSET_CODEGEN_KERNEL_IR_TESTING_FUZZ_TARGETS_H_
#define PRIMSET_CODEGEN_KERNEL_IR_TESTING_FUZZ_TARGETS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codegen/kernel/ir/target_model.h"
#include "codegen/kernel/ir/text.h"
#include "primset/error.h"

namespace primset::kir {

// Nothing where the text is no kernel, which parse() said.
inline std::optional<Kernel> kernel_of(const uint8_t* data, size_t size) {
  try {
    return parse({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return std::nullopt;
  }
}

inline TargetModel cpu_target(Format format) {
  TargetModel target;
  target.format = format;
  target.f16 = target.atomic_f32_add = true;
  // Not the machine's own: an input must mean the same everywhere.
  target.triple = "x86_64-pc-linux-gnu";
  target.cpu = "x86-64-v3";
  return target;
}

inline TargetModel gpu_target(Format format) {
  TargetModel target = cpu_target(format);
  target.simt = true;
  target.min_subgroup = target.max_subgroup = 32;
  target.subgroup_ballot = target.fast_exp2 = true;
  if (format == Format::ptx) {
    target.triple = "nvptx64-nvidia-cuda";
    target.cpu = "sm_90a";
    target.large_group_memory = 227 << 10;
    target.async_copy = target.cache_policies = target.programmatic_dependent_launch = true;
    target.matrix = target.group_matrix = target.rounds_bf16 = true;
  }
  if (format == Format::spirv_vulkan) target.cooperative = target.cooperative_bf16 = true;
  return target;
}

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_IR_TESTING_FUZZ_TARGETS_H_
