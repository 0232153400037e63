// What the machine's CPU can do, asked of the CPU itself.
#ifndef PRIMSET_BACKENDS_CPU_CPU_INFO_H_
#define PRIMSET_BACKENDS_CPU_CPU_INFO_H_

#include <cstdint>

namespace primset_cpu {

struct CpuInfo {
  char name[128];         // "Intel(R) Xeon(R) Processor"
  uint32_t elf_machine;   // EM_X86_64 or EM_AARCH64, as primset_native_image::machine
  uint32_t vector_bytes;  // the widest vector registers that are worth using
  bool fused_fma;         // the instruction exists, for f32 and f64
  bool f16_conversions;
  bool bf16_products;  // without which a library computes them in f32, and slowly
};

// Asked once; the same for the life of the process.
const CpuInfo& cpu_info();

// Cores that this process may use.
unsigned usable_cores();

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_CPU_INFO_H_
