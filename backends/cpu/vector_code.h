// Loops compiled for several vector widths, of which the processor's widest runs: what is written
// in plain C++ is compiled for the least processor otherwise.
#ifndef PRIMSET_BACKENDS_CPU_VECTOR_CODE_H_
#define PRIMSET_BACKENDS_CPU_VECTOR_CODE_H_

#define PRIMSET_INLINE inline __attribute__((always_inline))
#define PRIMSET_INLINE_LAMBDA __attribute__((always_inline))

namespace primset_cpu {

#if defined(__x86_64__)

template <typename F, typename... Args>
__attribute__((target("avx512f,avx512vl,avx512dq,fma"),
               noinline)) void avx512_code(F f, const Args&... args) {
  f(args...);
}

template <typename F, typename... Args>
__attribute__((target("avx2,fma"), noinline)) void avx2_code(F f, const Args&... args) {
  f(args...);
}

// f(args...), where f and all that it calls is always inlined.
template <typename F, typename... Args>
void vector_code(F f, const Args&... args) {
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") &&
                                 __builtin_cpu_supports("avx512vl") &&
                                 __builtin_cpu_supports("avx512dq");
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx512) return avx512_code(f, args...);
  if (has_avx2) return avx2_code(f, args...);
  f(args...);
}

#else

template <typename F, typename... Args>
void vector_code(F f, const Args&... args) {
  f(args...);
}

#endif

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_VECTOR_CODE_H_
