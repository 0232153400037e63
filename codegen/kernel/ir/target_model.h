// What codegen may know of a device: filled from the plugin's device properties.
#ifndef PRIMSET_CODEGEN_KERNEL_IR_TARGET_MODEL_H_
#define PRIMSET_CODEGEN_KERNEL_IR_TARGET_MODEL_H_

#include <cstdint>
#include <string>

namespace primset::kir {

enum class Format : uint8_t {
  native_image,  // position-independent machine code for this process's CPU (see plugin.h)
  llvm_bitcode,
  ptx,
  spirv_vulkan,  // GLCompute, PhysicalStorageBuffer64
  spirv_kernel,  // OpenCL, Physical64
};

struct TargetModel {
  Format format = Format::native_image;

  // Shape of the machine.
  bool simt = false;             // workgroups of scalar threads; else one thread with vectors
  uint32_t vector_bytes = 32;    // CPU: width of a vector register
  uint32_t group_threads = 256;  // SIMT: threads of a usual workgroup
  uint32_t max_group_threads = 1024;
  uint32_t group_memory = 32768;  // bytes
  // Bytes that a kernel may have when it requests them at launch; 0: no more than group_memory.
  uint32_t large_group_memory = 0;
  uint32_t min_subgroup = 1, max_subgroup = 1;
  uint32_t max_groups_x = 0x7fffffff;
  uint32_t multiprocessors = 128;  // SIMT
  uint32_t param_bytes = 4096;     // a larger parameter block does not fit a launch

  // Types and atomics that exist.
  bool f64 = true;
  bool i64 = true;
  bool f16 = false;  // f16 loads, stores and conversions; else 16-bit integers are used
  bool atomic_i64 = true;
  bool atomic_f32_add = false;
  bool async_copy = false;      // asynchronous copies from global to workgroup memory
  bool cache_policies = false;  // loads may have an evict-last policy
  bool programmatic_dependent_launch = false;  // kernels begin with a wait for the one before
  bool matrix = false;        // products of 16-bit matrices held by subgroups, which have 32 lanes
  bool group_matrix = false;  // products of such matrices in workgroup memory
  // Cooperative matrices of f16, and of bf16 too. Subgroups have 32 lanes.
  bool cooperative = false, cooperative_bf16 = false;
  // Ballots, and shuffles with any lane of a subgroup.
  bool subgroup_ballot = false;

  // Numeric environment.
  bool fused_fma = true;           // kir::Op::Fma is available and rounds once (f32 and f64)
  bool fast_exp2 = false;          // kir::Op::FExp2, FReciprocal and FRsqrt are there
  bool rounds_bf16 = false;        // kir::Op::RoundBf16 is there
  bool exact_div_sqrt_f32 = true;  // correctly rounded
  bool exact_div_sqrt_f64 = true;
  bool flush_denormals_f32 = false;
  // SPIR-V only: widths for which the device takes an execution mode of
  // VK_KHR_shader_float_controls, as the sum 16 | 32 | 64. Emitted for the widths that a kernel
  // uses.
  uint8_t float_controls_nan = 0;     // SignedZeroInfNanPreserve
  uint8_t float_controls_rte = 0;     // RoundingModeRTE
  uint8_t float_controls_denorm = 0;  // DenormPreserve
  // SPIR-V only: how many iterations all loops of one thread may run together before the driver
  // ends them without a word (llvmpipe: 65535); 0: no limit. The emitter then runs the bodies of
  // innermost for loops up to 16 times an iteration; nothing helps a while loop.
  uint32_t loop_limit = 0;

  // LLVM targets only.
  std::string triple, cpu, features;

  // f64 takes a small multiple of f32's time.
  bool fast_f64() const { return f64 && !simt; }
};

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_IR_TARGET_MODEL_H_
