// The functions of cuDNN 9 that this back end calls, found in the library at run time: those by
// which a graph of operations is described, planned and run. The declarations are our own;
// cudnn_api_test.cpp holds them against the real header where there is one.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_API_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/libraries/library_file.h"

namespace primset_cuda {

using DnnStatus = int;
using DnnHandle = struct DnnHandleTag*;
using DnnDescriptor = struct DnnDescriptorTag*;

enum : DnnStatus {
  kDnnSuccess = 0,
  kDnnBadParam = 2000,
  kDnnNotSupported = 3000,
  kDnnInternalError = 4000,
  kDnnHostAllocationFailed = 4003,
  kDnnDeviceAllocationFailed = 4004,
  kDnnExecutionFailed = 5000,
};

// What a descriptor describes.
enum class DnnKind : int {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engine_config = 3,
  heuristics = 4,
  execution_plan = 5,
  convolution_forward = 10,
  convolution_backward_filter = 11,
  convolution_backward_data = 12,
  pointwise_operation = 13,
  graph = 15,
  variant_pack = 16,
  tensor = 17,
  matmul = 18,
  matmul_operation = 19,
  reduction = 21,
  reduction_operation = 22,
};

// What is set of a descriptor, or asked of it.
enum class DnnAttribute : int {
  pointwise_mode = 0,
  pointwise_type = 1,
  pointwise_axis = 9,
  convolution_type = 100,
  convolution_mode = 101,
  convolution_dilations = 102,
  convolution_strides = 103,
  convolution_post_paddings = 104,
  convolution_pre_paddings = 105,
  convolution_spatial_dims = 106,
  heuristics_mode = 200,
  heuristics_graph = 201,
  heuristics_results = 202,
  config_engine = 300,
  plan_handle = 400,
  plan_config = 401,
  plan_workspace_bytes = 402,
  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_w = 703,
  forward_x = 704,
  forward_y = 705,
  backward_data_alpha = 706,
  backward_data_beta = 707,
  backward_data_convolution = 708,
  backward_data_w = 709,
  backward_data_dx = 710,
  backward_data_dy = 711,
  backward_filter_alpha = 712,
  backward_filter_beta = 713,
  backward_filter_convolution = 714,
  backward_filter_dw = 715,
  backward_filter_x = 716,
  backward_filter_dy = 717,
  pointwise_operation_mode = 750,
  pointwise_operation_x = 751,
  pointwise_operation_b = 752,
  pointwise_operation_y = 753,
  pointwise_operation_condition = 758,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_sizes = 902,
  tensor_strides = 903,
  tensor_id = 906,
  tensor_is_virtual = 907,
  tensor_is_by_value = 908,
  pack_ids = 1000,
  pack_addresses = 1001,
  pack_workspace = 1003,
  engine_index = 1301,
  engine_notes = 1303,
  matmul_type = 1500,
  matmul_operation_a = 1520,
  matmul_operation_b = 1521,
  matmul_operation_c = 1522,
  matmul_operation_matmul = 1523,
  reduction_mode = 1600,
  reduction_type = 1601,
  reduction_operation_x = 1610,
  reduction_operation_y = 1611,
  reduction_operation_reduction = 1612,
};

// The type of an attribute's values.
enum class DnnValues : int {
  handle = 0,
  type = 1,
  boolean = 2,
  int64 = 3,
  f32 = 4,
  f64 = 5,
  pointer = 6,
  convolution_mode = 7,
  heuristics_mode = 8,
  note = 11,
  pointwise_mode = 14,
  descriptor = 15,
  reduction_mode = 18,
};

enum class DnnType : int { f32 = 0, f64 = 1, f16 = 2, i32 = 4, bf16 = 9, boolean = 11 };
enum class DnnConvolutionMode : int { cross_correlation = 1 };  // networks call it a convolution
// y of x, or of x and b; select takes x where the condition holds, else b.
enum class DnnPointwiseMode : int {
  add = 0,
  multiply = 1,
  divide = 6,
  subtract = 9,
  exp = 13,
  log = 15,
  greater_or_equal = 303,
  index = 501,  // of y itself, along the axis
  select = 601,
};
enum class DnnReductionMode : int { add = 0, max = 3 };
// Engines by the library's own reckoning, fastest first, and those that take whatever they can.
enum class DnnHeuristicsMode : int { fallback = 2, reckoned = 3 };
// What is to be known of an engine's numbers.
enum class DnnNote : int {
  tensor_core = 0,
  down_converts_inputs = 1,
  reduced_precision_sums = 2,
  fft = 3,
  nondeterministic = 4,
  winograd = 5,
  winograd_4x4 = 6,
  winograd_6x6 = 7,
  winograd_13x13 = 8,
  strict_nan = 9,
};
inline constexpr int64_t kDnnNotes = 10;

#define PRIMSET_CUDNN_FUNCTIONS(X)                                                       \
  X(size_t, cudnnGetVersion, ())                                                         \
  X(size_t, cudnnGetCudartVersion, ())                                                   \
  X(DnnStatus, cudnnCreate, (DnnHandle * handle))                                        \
  X(DnnStatus, cudnnDestroy, (DnnHandle handle))                                         \
  X(DnnStatus, cudnnSetStream, (DnnHandle handle, Stream stream))                        \
  X(DnnStatus, cudnnBackendCreateDescriptor, (DnnKind kind, DnnDescriptor * descriptor)) \
  X(DnnStatus, cudnnBackendDestroyDescriptor, (DnnDescriptor descriptor))                \
  X(DnnStatus, cudnnBackendFinalize, (DnnDescriptor descriptor))                         \
  X(DnnStatus, cudnnBackendSetAttribute,                                                 \
    (DnnDescriptor descriptor, DnnAttribute attribute, DnnValues type, int64_t count,    \
     const void* values))                                                                \
  X(DnnStatus, cudnnBackendGetAttribute,                                                 \
    (DnnDescriptor descriptor, DnnAttribute attribute, DnnValues type, int64_t most,     \
     int64_t* count, void* values))                                                      \
  X(DnnStatus, cudnnBackendExecute, (DnnHandle handle, DnnDescriptor plan, DnnDescriptor pack))

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
