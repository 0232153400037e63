// The element types of loops that compute in f32 or in f64: f32, f64, and bf16 as uint16_t.
#ifndef PRIMSET_BACKENDS_CPU_WIDE_TYPE_H_
#define PRIMSET_BACKENDS_CPU_WIDE_TYPE_H_

#include <primset/plugin.h>

#include <cstdint>

namespace primset_cpu {

inline bool has_wide_type(uint32_t dtype) {
  return dtype == PRIMSET_F32 || dtype == PRIMSET_F64 || dtype == PRIMSET_BF16;
}

// f of an element of the type, and of one of the type that it is computed in.
template <typename F>
void with_wide_type(uint32_t dtype, const F& f) {
  if (dtype == PRIMSET_F32) return f(float(), float());
  if (dtype == PRIMSET_F64) return f(double(), double());
  f(uint16_t(), float());
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_WIDE_TYPE_H_
