// Our declarations of cuDNN against the real ones; built where its header is found.
#include <cudnn.h>
#include <gtest/gtest.h>

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

// Our names of the library's numbers: (enum, ours, theirs without the enum's prefix).
#define PRIMSET_DNN_EQUAL(ours, theirs) static_assert(int(ours) == int(theirs))
#define PRIMSET_DNN_ATTRIBUTES(X)                                            \
  X(pointwise_mode, POINTWISE_MODE)                                          \
  X(pointwise_type, POINTWISE_MATH_PREC)                                     \
  X(pointwise_axis, POINTWISE_AXIS)                                          \
  X(convolution_type, CONVOLUTION_COMP_TYPE)                                 \
  X(convolution_mode, CONVOLUTION_CONV_MODE)                                 \
  X(convolution_dilations, CONVOLUTION_DILATIONS)                            \
  X(convolution_strides, CONVOLUTION_FILTER_STRIDES)                         \
  X(convolution_post_paddings, CONVOLUTION_POST_PADDINGS)                    \
  X(convolution_pre_paddings, CONVOLUTION_PRE_PADDINGS)                      \
  X(convolution_spatial_dims, CONVOLUTION_SPATIAL_DIMS)                      \
  X(heuristics_mode, ENGINEHEUR_MODE)                                        \
  X(heuristics_graph, ENGINEHEUR_OPERATION_GRAPH)                            \
  X(heuristics_results, ENGINEHEUR_RESULTS)                                  \
  X(config_engine, ENGINECFG_ENGINE)                                         \
  X(plan_handle, EXECUTION_PLAN_HANDLE)                                      \
  X(plan_config, EXECUTION_PLAN_ENGINE_CONFIG)                               \
  X(plan_workspace_bytes, EXECUTION_PLAN_WORKSPACE_SIZE)                     \
  X(forward_alpha, OPERATION_CONVOLUTION_FORWARD_ALPHA)                      \
  X(forward_beta, OPERATION_CONVOLUTION_FORWARD_BETA)                        \
  X(forward_convolution, OPERATION_CONVOLUTION_FORWARD_CONV_DESC)            \
  X(forward_w, OPERATION_CONVOLUTION_FORWARD_W)                              \
  X(forward_x, OPERATION_CONVOLUTION_FORWARD_X)                              \
  X(forward_y, OPERATION_CONVOLUTION_FORWARD_Y)                              \
  X(backward_data_alpha, OPERATION_CONVOLUTION_BWD_DATA_ALPHA)               \
  X(backward_data_beta, OPERATION_CONVOLUTION_BWD_DATA_BETA)                 \
  X(backward_data_convolution, OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC)     \
  X(backward_data_w, OPERATION_CONVOLUTION_BWD_DATA_W)                       \
  X(backward_data_dx, OPERATION_CONVOLUTION_BWD_DATA_DX)                     \
  X(backward_data_dy, OPERATION_CONVOLUTION_BWD_DATA_DY)                     \
  X(backward_filter_alpha, OPERATION_CONVOLUTION_BWD_FILTER_ALPHA)           \
  X(backward_filter_beta, OPERATION_CONVOLUTION_BWD_FILTER_BETA)             \
  X(backward_filter_convolution, OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC) \
  X(backward_filter_dw, OPERATION_CONVOLUTION_BWD_FILTER_DW)                 \
  X(backward_filter_x, OPERATION_CONVOLUTION_BWD_FILTER_X)                   \
  X(backward_filter_dy, OPERATION_CONVOLUTION_BWD_FILTER_DY)                 \
  X(pointwise_operation_mode, OPERATION_POINTWISE_PW_DESCRIPTOR)             \
  X(pointwise_operation_x, OPERATION_POINTWISE_XDESC)                        \
  X(pointwise_operation_b, OPERATION_POINTWISE_BDESC)                        \
  X(pointwise_operation_y, OPERATION_POINTWISE_YDESC)                        \
  X(pointwise_operation_condition, OPERATION_POINTWISE_TDESC)                \
  X(matmul_type, MATMUL_COMP_TYPE)                                           \
  X(matmul_operation_a, OPERATION_MATMUL_ADESC)                              \
  X(matmul_operation_b, OPERATION_MATMUL_BDESC)                              \
  X(matmul_operation_c, OPERATION_MATMUL_CDESC)                              \
  X(matmul_operation_matmul, OPERATION_MATMUL_DESC)                          \
  X(reduction_mode, REDUCTION_OPERATOR)                                      \
  X(reduction_type, REDUCTION_COMP_TYPE)                                     \
  X(reduction_operation_x, OPERATION_REDUCTION_XDESC)                        \
  X(reduction_operation_y, OPERATION_REDUCTION_YDESC)                        \
  X(reduction_operation_reduction, OPERATION_REDUCTION_DESC)                 \
  X(graph_handle, OPERATIONGRAPH_HANDLE)                                     \
  X(graph_operations, OPERATIONGRAPH_OPS)                                    \
  X(tensor_alignment, TENSOR_BYTE_ALIGNMENT)                                 \
  X(tensor_type, TENSOR_DATA_TYPE)                                           \
  X(tensor_sizes, TENSOR_DIMENSIONS)                                         \
  X(tensor_strides, TENSOR_STRIDES)                                          \
  X(tensor_id, TENSOR_UNIQUE_ID)                                             \
  X(tensor_is_virtual, TENSOR_IS_VIRTUAL)                                    \
  X(tensor_is_by_value, TENSOR_IS_BY_VALUE)                                  \
  X(pack_ids, VARIANT_PACK_UNIQUE_IDS)                                       \
  X(pack_addresses, VARIANT_PACK_DATA_POINTERS)                              \
  X(pack_workspace, VARIANT_PACK_WORKSPACE)                                  \
  X(engine_index, ENGINE_GLOBAL_INDEX)                                       \
  X(engine_notes, ENGINE_NUMERICAL_NOTE)
#define PRIMSET_DNN_SAME_ATTRIBUTE(ours, theirs) \
  PRIMSET_DNN_EQUAL(DnnAttribute::ours, CUDNN_ATTR_##theirs);
PRIMSET_DNN_ATTRIBUTES(PRIMSET_DNN_SAME_ATTRIBUTE)

PRIMSET_DNN_EQUAL(DnnKind::pointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::engine_config, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::execution_plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::convolution_forward,
                  CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::convolution_backward_filter,
                  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::convolution_backward_data,
                  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::pointwise_operation, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::variant_pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::matmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::matmul_operation, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::reduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
PRIMSET_DNN_EQUAL(DnnKind::reduction_operation, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);

PRIMSET_DNN_EQUAL(DnnValues::handle, CUDNN_TYPE_HANDLE);
PRIMSET_DNN_EQUAL(DnnValues::type, CUDNN_TYPE_DATA_TYPE);
PRIMSET_DNN_EQUAL(DnnValues::boolean, CUDNN_TYPE_BOOLEAN);
PRIMSET_DNN_EQUAL(DnnValues::int64, CUDNN_TYPE_INT64);
PRIMSET_DNN_EQUAL(DnnValues::f32, CUDNN_TYPE_FLOAT);
PRIMSET_DNN_EQUAL(DnnValues::f64, CUDNN_TYPE_DOUBLE);
PRIMSET_DNN_EQUAL(DnnValues::pointer, CUDNN_TYPE_VOID_PTR);
PRIMSET_DNN_EQUAL(DnnValues::convolution_mode, CUDNN_TYPE_CONVOLUTION_MODE);
PRIMSET_DNN_EQUAL(DnnValues::heuristics_mode, CUDNN_TYPE_HEUR_MODE);
PRIMSET_DNN_EQUAL(DnnValues::note, CUDNN_TYPE_NUMERICAL_NOTE);
PRIMSET_DNN_EQUAL(DnnValues::pointwise_mode, CUDNN_TYPE_POINTWISE_MODE);
PRIMSET_DNN_EQUAL(DnnValues::reduction_mode, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);
PRIMSET_DNN_EQUAL(DnnValues::descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);

PRIMSET_DNN_EQUAL(DnnType::f32, CUDNN_DATA_FLOAT);
PRIMSET_DNN_EQUAL(DnnType::f64, CUDNN_DATA_DOUBLE);
PRIMSET_DNN_EQUAL(DnnType::f16, CUDNN_DATA_HALF);
PRIMSET_DNN_EQUAL(DnnType::bf16, CUDNN_DATA_BFLOAT16);
PRIMSET_DNN_EQUAL(DnnType::i32, CUDNN_DATA_INT32);
PRIMSET_DNN_EQUAL(DnnType::boolean, CUDNN_DATA_BOOLEAN);
PRIMSET_DNN_EQUAL(DnnConvolutionMode::cross_correlation, CUDNN_CROSS_CORRELATION);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::add, CUDNN_POINTWISE_ADD);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::multiply, CUDNN_POINTWISE_MUL);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::divide, CUDNN_POINTWISE_DIV);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::subtract, CUDNN_POINTWISE_SUB);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::exp, CUDNN_POINTWISE_EXP);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::log, CUDNN_POINTWISE_LOG);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::greater_or_equal, CUDNN_POINTWISE_CMP_GE);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::index, CUDNN_POINTWISE_GEN_INDEX);
PRIMSET_DNN_EQUAL(DnnPointwiseMode::select, CUDNN_POINTWISE_BINARY_SELECT);
PRIMSET_DNN_EQUAL(DnnReductionMode::add, CUDNN_REDUCE_TENSOR_ADD);
PRIMSET_DNN_EQUAL(DnnReductionMode::max, CUDNN_REDUCE_TENSOR_MAX);
PRIMSET_DNN_EQUAL(DnnHeuristicsMode::fallback, CUDNN_HEUR_MODE_FALLBACK);
PRIMSET_DNN_EQUAL(DnnHeuristicsMode::reckoned, CUDNN_HEUR_MODE_A);

PRIMSET_DNN_EQUAL(DnnNote::tensor_core, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
PRIMSET_DNN_EQUAL(DnnNote::down_converts_inputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
PRIMSET_DNN_EQUAL(DnnNote::reduced_precision_sums,
                  CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
PRIMSET_DNN_EQUAL(DnnNote::fft, CUDNN_NUMERICAL_NOTE_FFT);
PRIMSET_DNN_EQUAL(DnnNote::nondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
PRIMSET_DNN_EQUAL(DnnNote::winograd, CUDNN_NUMERICAL_NOTE_WINOGRAD);
PRIMSET_DNN_EQUAL(DnnNote::winograd_4x4, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4);
PRIMSET_DNN_EQUAL(DnnNote::winograd_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6);
PRIMSET_DNN_EQUAL(DnnNote::winograd_13x13, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);
PRIMSET_DNN_EQUAL(DnnNote::strict_nan, CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP);
static_assert(kDnnNotes == CUDNN_NUMERICAL_NOTE_TYPE_COUNT);

// Where the library is installed too, it has every function and a version that fits.
TEST(CudnnApi, HasEveryFunction) {
  CudnnApi dnn;
  std::string why;
  if (!dnn.load(99000, why)) GTEST_SKIP() << "no cuDNN here: " << why;
  EXPECT_EQ(dnn.cudnnGetVersion() / 10000, CUDNN_MAJOR);
}

}  // namespace
}  // namespace primset_cuda
