// LAPACK on the host, for the fake toolkit: routines by name, for any of the four types.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_HOST_LAPACK_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_HOST_LAPACK_H_

#include <complex>
#include <cstddef>
#include <string>

namespace host_lapack {

bool is_there();
// "getrf" for index 2 is cgetrf_; `of_complex` is its name there, where it has another.
void* routine(size_t type, const std::string& of_real, const std::string& of_complex);

// Fortran takes every argument by its address.
template <typename... Arguments>
void call(size_t type, const char* of_real, const char* of_complex, Arguments*... arguments) {
  reinterpret_cast<void (*)(Arguments*...)>(routine(type, of_real, of_complex))(arguments...);
}

inline constexpr size_t kBytes[] = {4, 8, 8, 16}, kRealBytes[] = {4, 8, 4, 8};
inline bool is_complex(size_t type) {
  return type >= 2;
}

// f(T()) for the type.
template <typename F>
void with_type(size_t type, const F& f) {
  switch (type) {
    case 0:
      return f(float());
    case 1:
      return f(double());
    case 2:
      return f(std::complex<float>());
    default:
      return f(std::complex<double>());
  }
}

}  // namespace host_lapack

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_HOST_LAPACK_H_
