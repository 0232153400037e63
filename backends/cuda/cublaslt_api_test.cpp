// Our declarations of cuBLASLt against the real ones; built where cublasLt.h is found.
#include <cublasLt.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "backends/cuda/cublaslt_api.h"
#include "backends/cuda/testing/same_call.h"

namespace primset_cuda {
namespace {

#define PRIMSET_CUBLASLT_SAME(result, name, parameters) \
  static_assert(same_call<decltype(CublasLtApi::name), decltype(::name)>(), #name);
PRIMSET_CUBLASLT_FUNCTIONS(PRIMSET_CUBLASLT_SAME)

static_assert(int{kLtSuccess} == CUBLAS_STATUS_SUCCESS);
static_assert(int{kLtNotInitialized} == CUBLAS_STATUS_NOT_INITIALIZED);
static_assert(int{kLtAllocFailed} == CUBLAS_STATUS_ALLOC_FAILED);
static_assert(int{kLtInvalidValue} == CUBLAS_STATUS_INVALID_VALUE);
static_assert(int{kLtArchMismatch} == CUBLAS_STATUS_ARCH_MISMATCH);
static_assert(int{kLtExecutionFailed} == CUBLAS_STATUS_EXECUTION_FAILED);
static_assert(int{kLtInternalError} == CUBLAS_STATUS_INTERNAL_ERROR);
static_assert(int{kLtNotSupported} == CUBLAS_STATUS_NOT_SUPPORTED);

static_assert(int(LtType::f32) == CUDA_R_32F);
static_assert(int(LtType::f64) == CUDA_R_64F);
static_assert(int(LtType::f16) == CUDA_R_16F);
static_assert(int(LtType::bf16) == CUDA_R_16BF);
static_assert(int(LtType::i8) == CUDA_R_8I);
static_assert(int(LtType::i32) == CUDA_R_32I);
static_assert(int(LtType::c64) == CUDA_C_32F);
static_assert(int(LtType::c128) == CUDA_C_64F);

static_assert(int(LtCompute::f32) == CUBLAS_COMPUTE_32F);
static_assert(int(LtCompute::f64) == CUBLAS_COMPUTE_64F);
static_assert(int(LtCompute::i32) == CUBLAS_COMPUTE_32I);
static_assert(int(LtCompute::f32_by_tf32) == CUBLAS_COMPUTE_32F_FAST_TF32);

static_assert(kLtPlain == CUBLAS_OP_N);
static_assert(kLtTransposed == CUBLAS_OP_T);

static_assert(int(LtLayoutAttribute::batch_count) == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(int(LtLayoutAttribute::batch_stride) == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(int(LtMatmulAttribute::transpose_a) == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(int(LtMatmulAttribute::transpose_b) == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int(LtMatmulAttribute::epilogue) == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(int(LtMatmulAttribute::bias) == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(kLtAddBias == CUBLASLT_EPILOGUE_BIAS);
static_assert(int(LtPreferenceAttribute::max_workspace_bytes) ==
              CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(int(LtPreferenceAttribute::reduction_schemes) ==
              CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(int(LtPreferenceAttribute::min_alignment_a) ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(int(LtPreferenceAttribute::min_alignment_b) ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(int(LtPreferenceAttribute::min_alignment_c) ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(int(LtPreferenceAttribute::min_alignment_d) ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(int(LtPreferenceAttribute::implementations) == CUBLASLT_MATMUL_PREF_IMPL_MASK);
static_assert(kLtSumInComputeType == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
static_assert(kLtGaussian == CUBLASLT_NUMERICAL_IMPL_FLAGS_GAUSSIAN);

static_assert(sizeof(LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(LtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(LtHeuristic, algorithm) == offsetof(cublasLtMatmulHeuristicResult_t, algo));
static_assert(offsetof(LtHeuristic, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(LtHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(LtHeuristic, waves) ==
              offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

// Where the library is installed too, it has every function and a version that fits its header.
TEST(CublasLtApi, TheLibraryHasEveryFunction) {
  CublasLtApi lt;
  std::string why;
  if (!lt.load(10 * (CUBLAS_VERSION / 100), why)) GTEST_SKIP() << "no cuBLASLt here: " << why;
  EXPECT_EQ(lt.cublasLtGetVersion() / 10000, size_t{CUBLAS_VER_MAJOR});
  EXPECT_STREQ(lt.cublasLtGetStatusName(kLtNotSupported), "CUBLAS_STATUS_NOT_SUPPORTED");
}

}  // namespace
}  // namespace primset_cuda
