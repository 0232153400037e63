// LAPACK's routines, from the library that has the BLAS (blas_api.h).
#ifndef PRIMSET_BACKENDS_CPU_LINALG_LAPACK_API_H_
#define PRIMSET_BACKENDS_CPU_LINALG_LAPACK_API_H_

#include "backends/cpu/linalg/blas_api.h"

namespace primset_cpu {

// Of one element type; some take one array of real numbers more where it is complex. A `lwork` of
// -1 asks for the best size of `work`, which is returned in its first element.
template <typename T>
struct Lapack {
  template <typename OfReal, typename OfComplex>
  using Choice = std::conditional_t<kIsComplex<T>, OfComplex, OfReal>;
  using Int = const int*;
  using Text = const char*;
  using R = Part<T>;

  // QR: reflectors; the triangular factor of a block of them; the block from one side of c.
  using Geqrf = void(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);
  using Larft = void(Text direct, Text by_columns, Int n, Int k, const T* v, Int ldv, const T* tau,
                     T* t, Int ldt);
  using Larfb = void(Text side, Text trans, Text direct, Text by_columns, Int m, Int n, Int k,
                     const T* v, Int ldv, const T* t, Int ldt, T* c, Int ldc, T* work, Int ldwork);
  // Singular values and vectors.
  using Gesdd = Choice<void(Text job, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vh,
                            Int ldvh, T* work, Int lwork, int* iwork, int* info),
                       void(Text job, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vh,
                            Int ldvh, T* work, Int lwork, R* rwork, int* iwork, int* info)>;
  // Eigenvalues of symmetric and Hermitian matrices, and of general ones.
  using Heevd = Choice<void(Text job, Text uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork,
                            int* iwork, Int liwork, int* info),
                       void(Text job, Text uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork,
                            R* rwork, Int lrwork, int* iwork, Int liwork, int* info)>;
  using Geev = Choice<void(Text left, Text right, Int n, T* a, Int lda, T* re, T* im, T* vl,
                           Int ldvl, T* vr, Int ldvr, T* work, Int lwork, int* info),
                      void(Text left, Text right, Int n, T* a, Int lda, T* w, T* vl, Int ldvl,
                           T* vr, Int ldvr, T* work, Int lwork, R* rwork, int* info)>;
  // L D L^T, and L D L^H.
  using Sytrf = void(Text uplo, Int n, T* a, Int lda, int* pivots, T* work, Int lwork, int* info);
  using Sytrs = void(Text uplo, Int n, Int nrhs, const T* a, Int lda, const int* pivots, T* b,
                     Int ldb, int* info);

  Geqrf* geqrf = nullptr;
  Larft* larft = nullptr;
  Larfb* larfb = nullptr;
  Gesdd* gesdd = nullptr;
  Heevd* heevd = nullptr;  // of real numbers syevd
  Geev* geev = nullptr;
  Sytrf *sytrf = nullptr, *hetrf = nullptr;  // of real numbers the same
  Sytrs *sytrs = nullptr, *hetrs = nullptr;
};

struct LapackLibrary {
  Lapack<float> f32;
  Lapack<double> f64;
  Lapack<Complex<float>> c64;
  Lapack<Complex<double>> c128;
};

// Null where there is no BLAS, or one without LAPACK. Any thread.
const LapackLibrary* lapack_library();

template <typename T>
const Lapack<T>& lapack() {
  const LapackLibrary& library = *lapack_library();
  if constexpr (std::is_same_v<T, float>)
    return library.f32;
  else if constexpr (std::is_same_v<T, double>)
    return library.f64;
  else if constexpr (std::is_same_v<T, Complex<float>>)
    return library.c64;
  else
    return library.c128;
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_LAPACK_API_H_
