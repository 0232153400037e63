// Our declarations of cuDNN against the real ones; built where its header is found.
#include <cudnn.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "backends/cuda/libraries/cudnn_api.h"
#include "backends/cuda/testing/same_call.h"

namespace primset_cuda {
namespace {

#define PRIMSET_DNN_SAME(result, name, parameters) \
  static_assert(same_call<decltype(CudnnApi::name), decltype(::name)>(), #name);
PRIMSET_CUDNN_FUNCTIONS(PRIMSET_DNN_SAME)

static_assert(int{kDnnSuccess} == CUDNN_STATUS_SUCCESS);
static_assert(int{kDnnBadParam} == CUDNN_STATUS_BAD_PARAM);
static_assert(int{kDnnNotSupported} == CUDNN_STATUS_NOT_SUPPORTED);
static_assert(int{kDnnInternalError} == CUDNN_STATUS_INTERNAL_ERROR);
static_assert(int{kDnnHostAllocationFailed} == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
static_assert(int{kDnnDeviceAllocationFailed} ==
              CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
static_assert(int{kDnnExecutionFailed} == CUDNN_STATUS_EXECUTION_FAILED);

static_assert(int(DnnType::f32) == CUDNN_DATA_FLOAT);
static_assert(int(DnnType::f64) == CUDNN_DATA_DOUBLE);
static_assert(int(DnnType::f16) == CUDNN_DATA_HALF);
static_assert(int(DnnType::bf16) == CUDNN_DATA_BFLOAT16);
static_assert(int(DnnMath::default_math) == CUDNN_DEFAULT_MATH);
static_assert(int(DnnMath::tensor_op) == CUDNN_TENSOR_OP_MATH);
static_assert(int(DnnMath::tensor_op_converted) == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION);
static_assert(int(DnnMath::fma) == CUDNN_FMA_MATH);
static_assert(kDnnRowMajor == CUDNN_TENSOR_NCHW);
static_assert(kDnnCrossCorrelation == CUDNN_CROSS_CORRELATION);
static_assert(kDnnDeterministic == CUDNN_DETERMINISTIC);

// Algorithms that convolution_library.cpp names by number.
static_assert(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM == 0);
static_assert(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM == 1);
static_assert(CUDNN_CONVOLUTION_FWD_ALGO_GEMM == 2);
static_assert(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 == 1);
static_assert(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 == 1);

template <typename Theirs>
constexpr bool same_choice() {
  return sizeof(DnnChoice) == sizeof(Theirs) &&
         offsetof(DnnChoice, algorithm) == offsetof(Theirs, algo) &&
         offsetof(DnnChoice, status) == offsetof(Theirs, status) &&
         offsetof(DnnChoice, memory) == offsetof(Theirs, memory) &&
         offsetof(DnnChoice, determinism) == offsetof(Theirs, determinism) &&
         offsetof(DnnChoice, math) == offsetof(Theirs, mathType);
}
static_assert(same_choice<cudnnConvolutionFwdAlgoPerf_t>());
static_assert(same_choice<cudnnConvolutionBwdDataAlgoPerf_t>());
static_assert(same_choice<cudnnConvolutionBwdFilterAlgoPerf_t>());

// Where the library is installed too, it has every function and a version that fits.
TEST(CudnnApi, HasEveryFunction) {
  CudnnApi dnn;
  std::string why;
  if (!dnn.load(99000, why)) GTEST_SKIP() << "no cuDNN here: " << why;
  EXPECT_EQ(dnn.cudnnGetVersion() / 10000, CUDNN_MAJOR);
}

}  // namespace
}  // namespace primset_cuda
