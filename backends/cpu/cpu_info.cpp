#include "backends/cpu/cpu_info.h"

#include <elf.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace primset_cpu {
namespace {

#if defined(__x86_64__)

void read_name(char (&name)[128]) {
  unsigned words[12] = {};
  unsigned highest = __get_cpuid_max(0x80000000u, nullptr);
  if (highest < 0x80000004u) {
    std::snprintf(name, sizeof(name), "x86-64 CPU");
    return;
  }
  for (unsigned leaf = 0; leaf < 3; ++leaf)
    __get_cpuid(0x80000002u + leaf, &words[4 * leaf], &words[4 * leaf + 1], &words[4 * leaf + 2],
                &words[4 * leaf + 3]);
  char text[49] = {};
  std::memcpy(text, words, 48);
  const char* begin = text + std::strspn(text, " ");
  std::snprintf(name, sizeof(name), "%s", *begin ? begin : "x86-64 CPU");
}

CpuInfo read_info() {
  CpuInfo info{};
  read_name(info.name);
  info.elf_machine = EM_X86_64;
  // These builtins ask CPUID, and XGETBV for whether the kernel saves the registers.
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  info.vector_bytes = avx512 ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
  info.fused_fma = __builtin_cpu_supports("fma");
  info.f16_conversions = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  info.bf16_products = avx512 && __builtin_cpu_supports("avx512bf16");
  return info;
}

#elif defined(__aarch64__)

CpuInfo read_info() {
  CpuInfo info{};
  std::snprintf(info.name, sizeof(info.name), "AArch64 CPU");
  info.elf_machine = EM_AARCH64;
  info.vector_bytes = 16;  // NEON, which every AArch64 has, fma and f16 conversions included
  info.fused_fma = true;
  info.f16_conversions = true;
  info.bf16_products = true;
  return info;
}

#else
#error "the cpu back end knows x86-64 and AArch64"
#endif

}  // namespace

const CpuInfo& cpu_info() {
  static const CpuInfo info = read_info();
  return info;
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace primset_cpu
