// The functions of cuBLASLt that this back end calls, found in the library at run time: a machine
// without it only loses the faster matrix products.
//
// The declarations are our own; cublaslt_api_test.cpp holds them against the real cublasLt.h where
// there is one.
#ifndef PRIMSET_BACKENDS_CUDA_CUBLASLT_API_H_
#define PRIMSET_BACKENDS_CUDA_CUBLASLT_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/libraries/data_type.h"
#include "backends/cuda/libraries/library_file.h"

namespace primset_cuda {

using LtStatus = int;
using LtHandle = struct LtHandleTag*;
using LtMatmulDesc = struct LtMatmulDescTag*;
using LtLayout = struct LtLayoutTag*;
using LtPreference = struct LtPreferenceTag*;

enum : LtStatus {
  kLtSuccess = 0,
  kLtNotInitialized = 1,
  kLtAllocFailed = 3,
  kLtInvalidValue = 7,
  kLtArchMismatch = 8,
  kLtExecutionFailed = 13,
  kLtInternalError = 14,
  kLtNotSupported = 15,
};

using LtType = DataType;

// cublasComputeType_t
enum class LtCompute : int { f32 = 68, f64 = 70, i32 = 72, f32_by_tf32 = 77 };

// cublasOperation_t
inline constexpr int32_t kLtPlain = 0, kLtTransposed = 1;

enum class LtLayoutAttribute : int { batch_count = 5, batch_stride = 6 };
enum class LtMatmulAttribute : int { transpose_a = 3, transpose_b = 4, epilogue = 7, bias = 8 };
// cublasLtEpilogue_t: a number for each row of D, at the address `bias`, is added.
inline constexpr int32_t kLtAddBias = 4;
enum class LtPreferenceAttribute : int {
  max_workspace_bytes = 1,
  reduction_schemes = 3,
  min_alignment_a = 5,
  min_alignment_b = 6,
  min_alignment_c = 7,
  min_alignment_d = 8,
  implementations = 12,
};

// Parts of a long sum are added up in the type computed in, from the workspace, by a step of its
// own. (Other schemes round them to the result's type, or add them where the result lies.)
inline constexpr uint32_t kLtSumInComputeType = 2;
// Complex products by three real ones instead of four.
inline constexpr uint64_t kLtGaussian = uint64_t{1} << 32;

struct LtAlgorithm {
  uint64_t data[8];
};

struct LtHeuristic {
  LtAlgorithm algorithm;
  size_t workspace_bytes;
  LtStatus state;  // of this entry; the others hold only with kLtSuccess
  float waves;
  int reserved[4];
};

// X(what it returns, name in the library, its parameters)
#define PRIMSET_CUBLASLT_FUNCTIONS(X)                                                            \
  X(size_t, cublasLtGetVersion, ())                                                              \
  X(const char*, cublasLtGetStatusName, (LtStatus status))                                       \
  X(LtStatus, cublasLtCreate, (LtHandle * handle))                                               \
  X(LtStatus, cublasLtDestroy, (LtHandle handle))                                                \
  X(LtStatus, cublasLtMatmulDescCreate, (LtMatmulDesc * desc, LtCompute compute, LtType scale))  \
  X(LtStatus, cublasLtMatmulDescDestroy, (LtMatmulDesc desc))                                    \
  X(LtStatus, cublasLtMatmulDescSetAttribute,                                                    \
    (LtMatmulDesc desc, LtMatmulAttribute attribute, const void* value, size_t bytes))           \
  X(LtStatus, cublasLtMatrixLayoutCreate,                                                        \
    (LtLayout * layout, LtType type, uint64_t rows, uint64_t cols, int64_t ld))                  \
  X(LtStatus, cublasLtMatrixLayoutDestroy, (LtLayout layout))                                    \
  X(LtStatus, cublasLtMatrixLayoutSetAttribute,                                                  \
    (LtLayout layout, LtLayoutAttribute attribute, const void* value, size_t bytes))             \
  X(LtStatus, cublasLtMatmulPreferenceCreate, (LtPreference * preference))                       \
  X(LtStatus, cublasLtMatmulPreferenceDestroy, (LtPreference preference))                        \
  X(LtStatus, cublasLtMatmulPreferenceSetAttribute,                                              \
    (LtPreference preference, LtPreferenceAttribute attribute, const void* value, size_t bytes)) \
  X(LtStatus, cublasLtMatmulAlgoGetHeuristic,                                                    \
    (LtHandle handle, LtMatmulDesc desc, LtLayout a, LtLayout b, LtLayout c, LtLayout d,         \
     LtPreference preference, int asked, LtHeuristic* found, int* count))                        \
  X(LtStatus, cublasLtMatmul,                                                                    \
    (LtHandle handle, LtMatmulDesc desc, const void* alpha, const void* a, LtLayout a_layout,    \
     const void* b, LtLayout b_layout, const void* beta, const void* c, LtLayout c_layout,       \
     void* d, LtLayout d_layout, const LtAlgorithm* algorithm, void* workspace, size_t bytes,    \
     Stream stream))

struct CublasLtApi {
  PRIMSET_CUBLASLT_FUNCTIONS(PRIMSET_LIBRARY_MEMBER)

  // As open_library has it; PRIMSET_CUBLASLT is the setting.
  bool load(int driver_version, std::string& why);
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CUBLASLT_API_H_
