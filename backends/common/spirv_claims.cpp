#include "backends/common/spirv_claims.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace primset_backend {
namespace {

// Larger groups leave a thread too few registers, and no kernel of ours asks for more.
constexpr uint64_t kMostGroupThreads = 1024;
constexpr uint64_t kMostGroupMemory = 64 << 10;
constexpr uint64_t kMostParamBytes = 4096;
// On a CPU a smaller group costs less at barriers and spreads better over cores.
constexpr uint32_t kUsualGroupOfCpu = 64, kUsualGroup = 256;
constexpr uint32_t kGoodSubgroup = 16;

uint32_t features(const SpirvKernelDevice& d) {
  // The Kernel flavour has integers of all widths everywhere.
  uint32_t f = PRIMSET_FEATURE_I64 | PRIMSET_FEATURE_INT8 | PRIMSET_FEATURE_INT16;
  if (d.f64) f |= PRIMSET_FEATURE_F64;
  if (d.f16) f |= PRIMSET_FEATURE_F16;
  if (d.i64_atomics) f |= PRIMSET_FEATURE_ATOMIC_I64;
  if (d.f32_atomic_add) f |= PRIMSET_FEATURE_ATOMIC_F32_ADD;
  if (subgroup_size(d) > 1) f |= PRIMSET_FEATURE_BALLOT;
  return f;
}

// What OpenCL's environment of SPIR-V promises: f64 division and square root are correctly rounded,
// and without a fast-math mode, which we never ask for, NaN, inf and -0 stay.
uint32_t numerics(const SpirvKernelDevice& d) {
  uint32_t n = PRIMSET_NUMERIC_KEEP_NAN_INF;
  if (d.f64) n |= PRIMSET_NUMERIC_EXACT_DIV_F64;
  if (d.fused_fma) n |= PRIMSET_NUMERIC_FUSED_FMA;
  if (d.exact_f32_division) n |= PRIMSET_NUMERIC_EXACT_DIV_F32;
  if (d.native_exp2) n |= PRIMSET_NUMERIC_FAST_EXP2;
  if (!d.keeps_f32_denormals) n |= PRIMSET_NUMERIC_FLUSH_F32;
  return n;
}

}  // namespace

uint64_t spirv_dtypes(uint32_t features) {
  uint64_t set = 1u << PRIMSET_I32 | 1u << PRIMSET_I64 | 1u << PRIMSET_U32 | 1u << PRIMSET_U64 |
                 1u << PRIMSET_F32 | 1u << PRIMSET_C64;
  if (features & PRIMSET_FEATURE_INT8)
    set |= 1u << PRIMSET_BOOL | 1u << PRIMSET_U8 | 1u << PRIMSET_I8 | PRIMSET_DTYPES_FLOAT8;
  if (features & PRIMSET_FEATURE_INT16)
    set |= 1u << PRIMSET_I16 | 1u << PRIMSET_U16 | 1u << PRIMSET_F16 | 1u << PRIMSET_BF16 |
           1u << PRIMSET_C32;
  if (features & PRIMSET_FEATURE_F64) set |= 1u << PRIMSET_F64 | 1u << PRIMSET_C128;
  return set;
}

uint32_t subgroup_size(const SpirvKernelDevice& d) {
  if (!d.ballot_and_shuffle || d.subgroup_sizes.empty()) return 1;
  uint32_t chosen = 0;
  for (const uint32_t size : d.subgroup_sizes) {
    const bool better =
        chosen < kGoodSubgroup ? size > chosen : size >= kGoodSubgroup && size < chosen;
    if (std::has_single_bit(size) && better) chosen = size;
  }
  return std::max(1u, chosen);
}

void claim(const SpirvKernelDevice& d, primset_device_properties& p) {
  p.kernel_format = PRIMSET_FORMAT_SPIRV_KERNEL;
  std::snprintf(p.name, sizeof(p.name), "%s", d.name.c_str());
  p.memory_bytes = d.memory_bytes;
  p.features = features(d);
  p.dtypes = spirv_dtypes(p.features);
  p.numerics = numerics(d);
  p.max_param_bytes = static_cast<uint32_t>(std::min(d.max_param_bytes, kMostParamBytes)) & ~7u;
  p.threads = std::max(1u, d.compute_units);
  p.max_group_threads = static_cast<uint32_t>(std::min(d.max_group_threads, kMostGroupThreads));
  p.group_threads =
      std::bit_floor(std::min(p.max_group_threads, d.cpu ? kUsualGroupOfCpu : kUsualGroup));
  p.group_memory = static_cast<uint32_t>(std::min(d.group_memory, kMostGroupMemory));
  p.min_subgroup = p.max_subgroup = subgroup_size(d);
  std::copy_n(d.max_groups, 3, p.max_groups);
  p.keep_nan_widths = d.keep_nan_widths;
  p.round_even_widths = d.round_even_widths;
  p.keep_denorm_widths = d.keep_denorm_widths;
}

}  // namespace primset_backend
