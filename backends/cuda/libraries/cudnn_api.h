// The functions of cuDNN 9 that this back end calls, found in the library at run time. The
// declarations are our own; cudnn_api_test.cpp holds them against the real header where there is
// one.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_API_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_API_H_

#include <cstddef>
#include <string>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/libraries/library_file.h"

namespace primset_cuda {

using DnnStatus = int;
using DnnHandle = struct DnnHandleTag*;
using DnnTensor = struct DnnTensorTag*;
using DnnFilter = struct DnnFilterTag*;
using DnnWindows = struct DnnWindowsTag*;

enum : DnnStatus {
  kDnnSuccess = 0,
  kDnnBadParam = 2000,
  kDnnNotSupported = 3000,
  kDnnInternalError = 4000,
  kDnnHostAllocationFailed = 4003,
  kDnnDeviceAllocationFailed = 4004,
  kDnnExecutionFailed = 5000,
};

enum class DnnType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 9 };
enum class DnnMath : int { default_math = 0, tensor_op = 1, tensor_op_converted = 2, fma = 3 };
inline constexpr int kDnnRowMajor = 0;          // CUDNN_TENSOR_NCHW
inline constexpr int kDnnCrossCorrelation = 1;  // what networks call a convolution
inline constexpr int kDnnDeterministic = 1;

// How the library would compute a convolution, fastest first in a list of them.
struct DnnChoice {
  int algorithm;
  DnnStatus status;
  float time;
  size_t memory;
  int determinism;
  DnnMath math;
  int reserved[3];
};

#define PRIMSET_CUDNN_FUNCTIONS(X)                                                               \
  X(size_t, cudnnGetVersion, ())                                                                 \
  X(size_t, cudnnGetCudartVersion, ())                                                           \
  X(DnnStatus, cudnnCreate, (DnnHandle * handle))                                                \
  X(DnnStatus, cudnnDestroy, (DnnHandle handle))                                                 \
  X(DnnStatus, cudnnSetStream, (DnnHandle handle, Stream stream))                                \
  X(DnnStatus, cudnnCreateTensorDescriptor, (DnnTensor * tensor))                                \
  X(DnnStatus, cudnnDestroyTensorDescriptor, (DnnTensor tensor))                                 \
  X(DnnStatus, cudnnSetTensorNdDescriptor,                                                       \
    (DnnTensor tensor, DnnType type, int rank, const int* sizes, const int* strides))            \
  X(DnnStatus, cudnnCreateFilterDescriptor, (DnnFilter * filter))                                \
  X(DnnStatus, cudnnDestroyFilterDescriptor, (DnnFilter filter))                                 \
  X(DnnStatus, cudnnSetFilterNdDescriptor,                                                       \
    (DnnFilter filter, DnnType type, int format, int rank, const int* sizes))                    \
  X(DnnStatus, cudnnCreateConvolutionDescriptor, (DnnWindows * windows))                         \
  X(DnnStatus, cudnnDestroyConvolutionDescriptor, (DnnWindows windows))                          \
  X(DnnStatus, cudnnSetConvolutionNdDescriptor,                                                  \
    (DnnWindows windows, int rank, const int* padding, const int* strides, const int* dilations, \
     int mode, DnnType computed_in))                                                             \
  X(DnnStatus, cudnnSetConvolutionGroupCount, (DnnWindows windows, int groups))                  \
  X(DnnStatus, cudnnSetConvolutionMathType, (DnnWindows windows, DnnMath math))                  \
  X(DnnStatus, cudnnGetConvolutionForwardAlgorithm_v7,                                           \
    (DnnHandle handle, DnnTensor x, DnnFilter w, DnnWindows windows, DnnTensor y, int wanted,    \
     int* given, DnnChoice* choices))                                                            \
  X(DnnStatus, cudnnGetConvolutionBackwardDataAlgorithm_v7,                                      \
    (DnnHandle handle, DnnFilter w, DnnTensor y, DnnWindows windows, DnnTensor x, int wanted,    \
     int* given, DnnChoice* choices))                                                            \
  X(DnnStatus, cudnnGetConvolutionBackwardFilterAlgorithm_v7,                                    \
    (DnnHandle handle, DnnTensor x, DnnTensor y, DnnWindows windows, DnnFilter w, int wanted,    \
     int* given, DnnChoice* choices))                                                            \
  X(DnnStatus, cudnnGetConvolutionForwardWorkspaceSize,                                          \
    (DnnHandle handle, DnnTensor x, DnnFilter w, DnnWindows windows, DnnTensor y, int algorithm, \
     size_t* bytes))                                                                             \
  X(DnnStatus, cudnnGetConvolutionBackwardDataWorkspaceSize,                                     \
    (DnnHandle handle, DnnFilter w, DnnTensor y, DnnWindows windows, DnnTensor x, int algorithm, \
     size_t* bytes))                                                                             \
  X(DnnStatus, cudnnGetConvolutionBackwardFilterWorkspaceSize,                                   \
    (DnnHandle handle, DnnTensor x, DnnTensor y, DnnWindows windows, DnnFilter w, int algorithm, \
     size_t* bytes))                                                                             \
  X(DnnStatus, cudnnConvolutionForward,                                                          \
    (DnnHandle handle, const void* alpha, DnnTensor x, const void* x_data, DnnFilter w,          \
     const void* w_data, DnnWindows windows, int algorithm, void* workspace, size_t bytes,       \
     const void* beta, DnnTensor y, void* y_data))                                               \
  X(DnnStatus, cudnnConvolutionBackwardData,                                                     \
    (DnnHandle handle, const void* alpha, DnnFilter w, const void* w_data, DnnTensor y,          \
     const void* y_data, DnnWindows windows, int algorithm, void* workspace, size_t bytes,       \
     const void* beta, DnnTensor x, void* x_data))                                               \
  X(DnnStatus, cudnnConvolutionBackwardFilter,                                                   \
    (DnnHandle handle, const void* alpha, DnnTensor x, const void* x_data, DnnTensor y,          \
     const void* y_data, DnnWindows windows, int algorithm, void* workspace, size_t bytes,       \
     const void* beta, DnnFilter w, void* w_data))                                               \
  X(DnnStatus, cudnnAddTensor,                                                                   \
    (DnnHandle handle, const void* alpha, DnnTensor a, const void* a_data, const void* beta,     \
     DnnTensor c, void* c_data))

struct CudnnApi {
  PRIMSET_CUDNN_FUNCTIONS(PRIMSET_LIBRARY_MEMBER)

  // As open_library has it; PRIMSET_CUDNN is the setting.
  bool load(int driver_version, std::string& why);
};

// Throws BackendError for anything but success.
void check_cudnn(DnnStatus status, const char* function);
// Whether the library has no code for what it was asked.
bool is_cudnn_refusal(DnnStatus status);

}  // namespace primset_cuda

#define PRIMSET_CUDNN(dnn, function, ...) \
  ::primset_cuda::check_cudnn((dnn).function(__VA_ARGS__), #function)

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_API_H_
