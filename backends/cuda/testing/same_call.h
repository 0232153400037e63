// For tests that hold our declarations of a C library against its header.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_SAME_CALL_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_SAME_CALL_H_

#include <type_traits>

namespace primset_cuda {

// Passed alike by the C calling convention: pointers are pointers, integers have one size.
template <typename Ours, typename Theirs>
constexpr bool alike() {
  if (std::is_pointer_v<Ours> != std::is_pointer_v<Theirs>) return false;
  return sizeof(Ours) == sizeof(Theirs);
}
template <typename Ours, typename Theirs>
struct Same : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
struct Same<R1 (*)(A1...), R2(A2...)> {
  static constexpr bool value() {
    if constexpr (sizeof...(A1) != sizeof...(A2))
      return false;
    else
      return alike<R1, R2>() && (alike<A1, A2>() && ...);
  }
};

// Ours is a pointer to a function, theirs a function.
template <typename Ours, typename Theirs>
constexpr bool same_call() {
  return Same<Ours, Theirs>::value();
}

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_SAME_CALL_H_
