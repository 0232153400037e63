#include "sdk/runtime/plugin/device_properties.h"

#include <fmt/format.h>
#include <primset/error.h>

#include <bit>
#include <cstring>

namespace primset::plugin {
namespace {

// Far above every device there is, far below what would overflow or exhaust memory here.
constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 56;
constexpr uint32_t kMaxAlignment = 2 << 20;
constexpr uint32_t kMaxThreads = 1 << 16;
constexpr uint32_t kMaxVectorBytes = 1024;
constexpr uint32_t kMaxGroupThreads = 1 << 16;
constexpr uint32_t kMaxSubgroup = 1024;
constexpr uint32_t kMaxGroupMemory = 1 << 30;
constexpr uint32_t kMaxParamBytes = 1 << 20;
constexpr uint32_t kFloatWidths = 16 | 32 | 64;
constexpr size_t kMaxTargetText = 64 << 10;

class Check {
 public:
  explicit Check(std::string_view where) : where_(where) {}

  // `expected` is true of the value of the field.
  void that(bool holds, std::string_view field, uint64_t value, std::string_view expected) const {
    if (!holds)
      throw Error(ErrorCode::plugin, fmt::format("{}: device_properties: {} is {}; expected {}",
                                                 where_, field, value, expected));
  }
  void at_most(uint64_t limit, std::string_view field, uint64_t value) const {
    if (value > limit) that(false, field, value, fmt::format("at most {}", limit));
  }
  void text(const char* text, std::string_view field) const {
    if (text && strnlen(text, kMaxTargetText + 1) > kMaxTargetText)
      throw Error(ErrorCode::plugin,
                  fmt::format("{}: device_properties: {} has more than {} bytes; does it end?",
                              where_, field, kMaxTargetText));
  }

 private:
  std::string_view where_;
};

void check_memory(const primset_device_properties& p, const Check& check) {
  check.at_most(kMaxMemoryBytes, "memory_bytes", p.memory_bytes);
  check.that(std::has_single_bit(p.memory_alignment), "memory_alignment", p.memory_alignment,
             "a power of two");
  check.at_most(kMaxAlignment, "memory_alignment", p.memory_alignment);
  check.that((p.dtypes & PRIMSET_DTYPES_ALL) != 0, "dtypes", p.dtypes,
             "a set of PRIMSET_* element types that is not empty");
}

void check_groups(const primset_device_properties& p, const Check& check) {
  check.that(std::has_single_bit(p.group_threads), "group_threads", p.group_threads,
             "a power of two");
  check.that(p.max_group_threads >= p.group_threads, "max_group_threads", p.max_group_threads,
             "at least group_threads");
  check.at_most(kMaxGroupThreads, "max_group_threads", p.max_group_threads);
  check.at_most(kMaxGroupMemory, "group_memory", p.group_memory);
  check.at_most(kMaxGroupMemory, "large_group_memory", p.large_group_memory);
  check.that(p.min_subgroup > 0 && p.max_subgroup >= p.min_subgroup, "min_subgroup", p.min_subgroup,
             "1 <= min_subgroup <= max_subgroup");
  check.that(std::has_single_bit(p.min_subgroup), "min_subgroup", p.min_subgroup, "a power of two");
  check.that(std::has_single_bit(p.max_subgroup), "max_subgroup", p.max_subgroup, "a power of two");
  check.at_most(kMaxSubgroup, "max_subgroup", p.max_subgroup);
}

// Kernels look at f64 as the 64 bits that it is.
void check_features(const primset_device_properties& p, const Check& check) {
  const bool f64 = p.features & PRIMSET_FEATURE_F64, i64 = p.features & PRIMSET_FEATURE_I64;
  check.that(i64 || !f64, "features", p.features,
             "PRIMSET_FEATURE_I64 where there is PRIMSET_FEATURE_F64");
  check.that(i64 || !(p.features & PRIMSET_FEATURE_ATOMIC_I64), "features", p.features,
             "PRIMSET_FEATURE_I64 where there is PRIMSET_FEATURE_ATOMIC_I64");
}

void check_float_controls(const primset_device_properties& p, const Check& check) {
  const std::string_view expected = "a sum of 16, 32 and 64";
  check.that((p.keep_nan_widths & ~kFloatWidths) == 0, "keep_nan_widths", p.keep_nan_widths,
             expected);
  check.that((p.round_even_widths & ~kFloatWidths) == 0, "round_even_widths", p.round_even_widths,
             expected);
  check.that((p.keep_denorm_widths & ~kFloatWidths) == 0, "keep_denorm_widths",
             p.keep_denorm_widths, expected);
}

}  // namespace

void check_properties(const primset_device_properties& p, std::string_view where) {
  const Check check(where);
  check.that(p.kernel_format <= PRIMSET_FORMAT_SPIRV_KERNEL, "kernel_format", p.kernel_format,
             "a PRIMSET_FORMAT_* value");
  check_memory(p, check);
  if (p.kernel_format == PRIMSET_FORMAT_NONE) return;  // the rest is about kernels
  check.that(p.max_param_bytes >= 128, "max_param_bytes", p.max_param_bytes, "at least 128");
  check.at_most(kMaxParamBytes, "max_param_bytes", p.max_param_bytes);
  for (uint32_t n : p.max_groups)
    check.that(n > 0, "max_groups", n, "at least 1 in every dimension");
  check_features(p, check);
  check.at_most(kMaxThreads, "threads", p.threads);
  check.text(p.llvm_triple, "llvm_triple");
  check.text(p.llvm_cpu, "llvm_cpu");
  check.text(p.llvm_features, "llvm_features");
  if (p.kernel_format == PRIMSET_FORMAT_NATIVE_IMAGE) {
    check.that(p.threads > 0, "threads", p.threads, "at least 1");
    check.that(p.vector_bytes == 0 || std::has_single_bit(p.vector_bytes), "vector_bytes",
               p.vector_bytes, "0 or a power of two");
    check.at_most(kMaxVectorBytes, "vector_bytes", p.vector_bytes);
    return;
  }
  check_groups(p, check);
  check_float_controls(p, check);
}

}  // namespace primset::plugin
