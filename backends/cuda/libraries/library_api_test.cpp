// Our declarations of cuFFT, cuBLAS and cuSOLVER against the real ones; built where their headers
// are found.
#include <cublas_v2.h>
#include <cufftXt.h>
#include <cusolverDn.h>
#include <gtest/gtest.h>

#include "backends/cuda/libraries/cufft_api.h"
#include "backends/cuda/libraries/cusolver_api.h"
#include "backends/cuda/testing/same_call.h"

namespace primset_cuda {
namespace {

#define PRIMSET_FFT_SAME(result, name, parameters) \
  static_assert(same_call<decltype(CufftApi::name), decltype(::name)>(), #name);
PRIMSET_CUFFT_FUNCTIONS(PRIMSET_FFT_SAME)

#define PRIMSET_BLAS_SAME(result, name, parameters) \
  static_assert(same_call<decltype(CublasApi::name), decltype(::name)>(), #name);
PRIMSET_CUBLAS_FUNCTIONS(PRIMSET_BLAS_SAME)

#define PRIMSET_SOLVER_SAME(result, name, parameters) \
  static_assert(same_call<decltype(CusolverApi::name), decltype(::name)>(), #name);
PRIMSET_CUSOLVER_FUNCTIONS(PRIMSET_SOLVER_SAME)
#if CUSOLVER_VERSION >= 11702
PRIMSET_CUSOLVER_NEW_FUNCTIONS(PRIMSET_SOLVER_SAME)
#endif

#define PRIMSET_TYPED_SAME(function, member, s, d, c, z)    \
  static_assert(same_call<function*, decltype(::s)>(), #s); \
  static_assert(same_call<function*, decltype(::d)>(), #d); \
  static_assert(same_call<function*, decltype(::c)>(), #c); \
  static_assert(same_call<function*, decltype(::z)>(), #z);
PRIMSET_CUBLAS_TYPED(PRIMSET_TYPED_SAME)
PRIMSET_CUSOLVER_TYPED(PRIMSET_TYPED_SAME)

static_assert(int{kFftAllocFailed} == CUFFT_ALLOC_FAILED);
static_assert(int{kFftInvalidValue} == CUFFT_INVALID_VALUE);
static_assert(int{kFftInternalError} == CUFFT_INTERNAL_ERROR);
static_assert(int{kFftExecFailed} == CUFFT_EXEC_FAILED);
static_assert(int{kFftInvalidSize} == CUFFT_INVALID_SIZE);
static_assert(int{kFftNotSupported} == CUFFT_NOT_SUPPORTED);
static_assert(kFftForward == CUFFT_FORWARD);
static_assert(kFftBackward == CUFFT_INVERSE);

static_assert(int{kBlasNotInitialized} == CUBLAS_STATUS_NOT_INITIALIZED);
static_assert(int{kBlasAllocFailed} == CUBLAS_STATUS_ALLOC_FAILED);
static_assert(int{kBlasInvalidValue} == CUBLAS_STATUS_INVALID_VALUE);
static_assert(int{kBlasExecutionFailed} == CUBLAS_STATUS_EXECUTION_FAILED);
static_assert(int{kLowerTriangle} == CUBLAS_FILL_MODE_LOWER);
static_assert(int{kUpperTriangle} == CUBLAS_FILL_MODE_UPPER);
static_assert(int{kFromLeft} == CUBLAS_SIDE_LEFT);
static_assert(int{kFromRight} == CUBLAS_SIDE_RIGHT);
static_assert(int{kAsItIs} == CUBLAS_OP_N);
static_assert(int{kTransposed} == CUBLAS_OP_T);
static_assert(int{kAdjoint} == CUBLAS_OP_C);
static_assert(int{kAnyDiagonal} == CUBLAS_DIAG_NON_UNIT);
static_assert(int{kUnitDiagonal} == CUBLAS_DIAG_UNIT);
static_assert(MAJOR_VERSION == 0);

static_assert(int{kSolverNotInitialized} == CUSOLVER_STATUS_NOT_INITIALIZED);
static_assert(int{kSolverAllocFailed} == CUSOLVER_STATUS_ALLOC_FAILED);
static_assert(int{kSolverInvalidValue} == CUSOLVER_STATUS_INVALID_VALUE);
static_assert(int{kSolverExecutionFailed} == CUSOLVER_STATUS_EXECUTION_FAILED);
static_assert(int{kSolverInternalError} == CUSOLVER_STATUS_INTERNAL_ERROR);
static_assert(int{kNoVectors} == CUSOLVER_EIG_MODE_NOVECTOR);
static_assert(int{kVectors} == CUSOLVER_EIG_MODE_VECTOR);

static_assert(int(DataType::f32) == CUDA_R_32F);
static_assert(int(DataType::f64) == CUDA_R_64F);
static_assert(int(DataType::c64) == CUDA_C_32F);
static_assert(int(DataType::c128) == CUDA_C_64F);

// Where the libraries are installed too, they have every function and a version that fits.
constexpr int kToolkit = 1000 * CUBLAS_VER_MAJOR;

TEST(LibraryApi, CufftHasEveryFunction) {
  CufftApi fft;
  std::string why;
  if (!fft.load(kToolkit, why)) GTEST_SKIP() << "no cuFFT here: " << why;
  int version = 0;
  EXPECT_EQ(fft.cufftGetVersion(&version), kFftSuccess);
  EXPECT_EQ(version / 1000, CUFFT_VERSION / 1000);
}

TEST(LibraryApi, CublasHasEveryFunction) {
  CublasApi blas;
  std::string why;
  if (!blas.load(kToolkit, why)) GTEST_SKIP() << "no cuBLAS here: " << why;
  int major = 0;
  EXPECT_EQ(blas.cublasGetProperty(0, &major), kBlasSuccess);
  EXPECT_EQ(major, CUBLAS_VER_MAJOR);
}

TEST(LibraryApi, CusolverHasEveryFunction) {
  CusolverApi solver;
  std::string why;
  if (!solver.load(kToolkit, why)) GTEST_SKIP() << "no cuSOLVER here: " << why;
  EXPECT_EQ(solver.has_geev(), CUSOLVER_VERSION >= 11702);
}

}  // namespace
}  // namespace primset_cuda
