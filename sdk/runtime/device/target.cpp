#include "sdk/runtime/device/target.h"

#include <fmt/format.h>

#include "codegen/emit/emitter.h"

namespace primset::runtime {
namespace {

std::optional<kir::Format> format_of(uint32_t code) {
  switch (code) {
    case PRIMSET_FORMAT_NATIVE_IMAGE:
      return kir::Format::native_image;
    case PRIMSET_FORMAT_LLVM_BITCODE:
      return kir::Format::llvm_bitcode;
    case PRIMSET_FORMAT_PTX:
      return kir::Format::ptx;
    case PRIMSET_FORMAT_SPIRV_VULKAN:
      return kir::Format::spirv_vulkan;
    case PRIMSET_FORMAT_SPIRV_KERNEL:
      return kir::Format::spirv_kernel;
    default:
      return std::nullopt;
  }
}

uint32_t host_vector_bytes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 64;
  return __builtin_cpu_supports("avx2") ? 32 : 16;
#else
  return 16;
#endif
}

void fill_machine(kir::TargetModel& t, const primset_device_properties& p) {
  t.simt = t.format != kir::Format::native_image;
  if (!t.simt) {
    t.vector_bytes = p.vector_bytes ? p.vector_bytes : host_vector_bytes();
    t.group_threads = t.max_group_threads = 1;
  } else {
    t.group_threads = p.group_threads;
    t.max_group_threads = p.max_group_threads;
    t.group_memory = p.group_memory;
    t.large_group_memory = p.large_group_memory;
    t.min_subgroup = p.min_subgroup;
    t.max_subgroup = p.max_subgroup;
    if (p.threads > 1) t.multiprocessors = p.threads;
  }
  t.max_groups_x = p.max_groups[0];
  t.param_bytes = p.max_param_bytes;
  t.loop_limit = p.loop_limit;
}

}  // namespace

std::optional<kir::TargetModel> target_model(const primset_device_properties& p) {
  const auto format = format_of(p.kernel_format);
  if (!format) return std::nullopt;
  kir::TargetModel t;
  t.format = *format;
  fill_machine(t, p);
  t.f64 = p.features & PRIMSET_FEATURE_F64;
  t.i64 = p.features & PRIMSET_FEATURE_I64;
  t.f16 = p.features & PRIMSET_FEATURE_F16;
  t.atomic_i64 = p.features & PRIMSET_FEATURE_ATOMIC_I64;
  t.atomic_f32_add = p.features & PRIMSET_FEATURE_ATOMIC_F32_ADD;
  // What the emitters write as PTX alone.
  t.async_copy = t.format == kir::Format::ptx && p.features & PRIMSET_FEATURE_ASYNC_COPY;
  t.cache_policies = t.format == kir::Format::ptx && p.features & PRIMSET_FEATURE_CACHE_POLICIES;
  t.programmatic_dependent_launch =
      t.format == kir::Format::ptx && p.features & PRIMSET_FEATURE_EARLY_START;
  t.rounds_bf16 = t.format == kir::Format::ptx;
  t.fast_exp2 = t.format == kir::Format::ptx || p.numerics & PRIMSET_NUMERIC_FAST_EXP2;
  t.matrix = t.format == kir::Format::ptx && p.features & PRIMSET_FEATURE_MATRIX;
  t.group_matrix = t.matrix && p.features & PRIMSET_FEATURE_GROUP_MATRIX;
  t.cooperative =
      t.format == kir::Format::spirv_vulkan && p.features & PRIMSET_FEATURE_COOPERATIVE_F16;
  t.cooperative_bf16 = t.cooperative && p.features & PRIMSET_FEATURE_COOPERATIVE_BF16;
  t.subgroup_ballot = p.features & PRIMSET_FEATURE_BALLOT;
  t.fused_fma = p.numerics & PRIMSET_NUMERIC_FUSED_FMA;
  t.exact_div_sqrt_f32 = p.numerics & PRIMSET_NUMERIC_EXACT_DIV_F32;
  t.exact_div_sqrt_f64 = p.numerics & PRIMSET_NUMERIC_EXACT_DIV_F64;
  t.flush_denormals_f32 = p.numerics & PRIMSET_NUMERIC_FLUSH_F32;
  t.float_controls_nan = static_cast<uint8_t>(p.keep_nan_widths);
  t.float_controls_rte = static_cast<uint8_t>(p.round_even_widths);
  t.float_controls_denorm = static_cast<uint8_t>(p.keep_denorm_widths);
  if (p.llvm_triple) t.triple = p.llvm_triple;
  if (p.llvm_cpu) t.cpu = p.llvm_cpu;
  if (p.llvm_features) t.features = p.llvm_features;
  return t;
}

std::string format_name(uint32_t kernel_format) {
  switch (kernel_format) {
    case PRIMSET_FORMAT_NATIVE_IMAGE:
      return "native_image";
    case PRIMSET_FORMAT_LLVM_BITCODE:
      return "llvm_bitcode";
    case PRIMSET_FORMAT_PTX:
      return "ptx";
    case PRIMSET_FORMAT_SPIRV_VULKAN:
      return "spirv_vulkan";
    case PRIMSET_FORMAT_SPIRV_KERNEL:
      return "spirv_kernel";
    default:
      return "none";
  }
}

std::string describe(const kir::TargetModel& t) {
  std::string text = fmt::format(
      "format={} simt={} vector={} threads={}/{} memory={}/{} subgroup={}-{} groups={} "
      "processors={} "
      "params={} "
      "loops={} f64={} i64={} f16={} atomics={}{} ballot={} copies={} policies={} early={} "
      "matrix={}/{}/{}{} fma={} "
      "exp2={}{} "
      "div={}{} "
      "flush={} "
      "controls={}/{}/{} "
      "triple={} cpu={} features={}",
      static_cast<int>(t.format), t.simt, t.vector_bytes, t.group_threads, t.max_group_threads,
      t.group_memory, t.large_group_memory, t.min_subgroup, t.max_subgroup, t.max_groups_x,
      t.multiprocessors, t.param_bytes, t.loop_limit, t.f64, t.i64, t.f16, t.atomic_i64,
      t.atomic_f32_add, t.subgroup_ballot, t.async_copy, t.cache_policies,
      t.programmatic_dependent_launch, t.matrix, t.group_matrix, t.cooperative, t.cooperative_bf16,
      t.fused_fma, t.fast_exp2, t.rounds_bf16, t.exact_div_sqrt_f32, t.exact_div_sqrt_f64,
      t.flush_denormals_f32, t.float_controls_nan, t.float_controls_rte, t.float_controls_denorm,
      t.triple, t.cpu, t.features);
  // Machine code made for one CPU must not run on another that shares the cache folder.
  if (t.format == kir::Format::native_image) text += " host=" + emit::host_target_name();
  return text;
}

}  // namespace primset::runtime
