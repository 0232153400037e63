// A BLAS that computes on the calling thread, opened when it is first needed: a machine without it
// only loses the faster way. Threads of its own would give other bits for other numbers of them,
// and the parallelism is ThreadPool's.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_BLAS_API_H_
#define PRIMSET_BACKENDS_CPU_LINALG_BLAS_API_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/common/shared_library.h"

namespace primset_cpu {

// A complex number as BLAS has it, multiplied without looking for NaN.
template <typename Real>
struct Complex {
  Real re, im;
};

// The type of a number's parts.
template <typename T>
struct PartsOf {
  using Type = T;
};
template <typename Real>
struct PartsOf<Complex<Real>> {
  using Type = Real;
};
template <typename T>
using Part = PartsOf<T>::Type;
template <typename T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Part<T>>;

template <typename T>
constexpr T one_of() {
  if constexpr (kIsComplex<T>)
    return {1, 0};
  else
    return 1;
}
template <typename T>
constexpr T minus_one() {
  if constexpr (kIsComplex<T>)
    return {-1, 0};
  else
    return -1;
}

template <typename T>
T conjugate(T x) {
  if constexpr (kIsComplex<T>)
    return {x.re, -x.im};
  else
    return x;
}

template <typename T>
T not_a_number() {
  constexpr Part<T> nan = std::numeric_limits<Part<T>>::quiet_NaN();
  if constexpr (kIsComplex<T>)
    return {nan, 0};
  else
    return nan;
}

// What the factorizations call, in one element type. Matrices are column-major; dims and leading
// dims are below 2^31.
template <typename T>
struct Blas {
  using Gemm = void(const char* trans_a, const char* trans_b, const int* m, const int* n,
                    const int* k, const T* alpha, const T* a, const int* lda, const T* b,
                    const int* ldb, const T* beta, T* c, const int* ldc);
  using Trsm = void(const char* side, const char* uplo, const char* trans, const char* diag,
                    const int* m, const int* n, const T* alpha, const T* a, const int* lda, T* b,
                    const int* ldb);
  using Potrf = void(const char* uplo, const int* n, T* a, const int* lda, int* info);
  Gemm* gemm = nullptr;
  Trsm* trsm = nullptr;
  Potrf* potrf = nullptr;
};

struct BlasLibrary {
  explicit BlasLibrary(const char* file) : library(file) {}

  primset_backend::SharedLibrary library;
  Blas<float> f32;
  Blas<double> f64;
  Blas<Complex<float>> c64;
  Blas<Complex<double>> c128;
};

// Null where there is none. Any thread.
const BlasLibrary* blas_library();

template <typename T>
const Blas<T>& blas();
template <>
inline const Blas<float>& blas() {
  return blas_library()->f32;
}
template <>
inline const Blas<double>& blas() {
  return blas_library()->f64;
}
template <>
inline const Blas<Complex<float>>& blas() {
  return blas_library()->c64;
}
template <>
inline const Blas<Complex<double>>& blas() {
  return blas_library()->c128;
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_BLAS_API_H_
