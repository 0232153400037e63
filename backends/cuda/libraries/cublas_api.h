// The functions of cuBLAS that this back end calls, found in the library at run time, of cuBLAS 12
// and 13: triangular systems, and factorizations of many small matrices at once. The declarations
// are our own; library_api_test.cpp holds them against the real headers where there are any.
//
// Matrices are column-major. A batch is a table of addresses in the device's memory.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_CUBLAS_API_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_CUBLAS_API_H_

#include <cstddef>
#include <string>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/libraries/library_file.h"
#include "backends/cuda/libraries/number_type.h"

namespace primset_cuda {

using BlasStatus = int;
using BlasHandle = struct BlasHandleTag*;

enum : BlasStatus {
  kBlasSuccess = 0,
  kBlasNotInitialized = 1,
  kBlasAllocFailed = 3,
  kBlasInvalidValue = 7,
  kBlasExecutionFailed = 13,
};

enum BlasFill : int { kLowerTriangle = 0, kUpperTriangle = 1 };
enum BlasSide : int { kFromLeft = 0, kFromRight = 1 };
enum BlasOperation : int { kAsItIs = 0, kTransposed = 1, kAdjoint = 2 };
enum BlasDiagonal : int { kAnyDiagonal = 0, kUnitDiagonal = 1 };

#define PRIMSET_CUBLAS_FUNCTIONS(X)                                   \
  X(BlasStatus, cublasGetProperty, (int part_of_version, int* value)) \
  X(BlasStatus, cublasCreate_v2, (BlasHandle * handle))               \
  X(BlasStatus, cublasDestroy_v2, (BlasHandle handle))                \
  X(BlasStatus, cublasSetStream_v2, (BlasHandle handle, Stream stream))

// b becomes the x with op(a) x = alpha b, or, from the right, x op(a) = alpha b.
using BlasTrsm = BlasStatus(BlasHandle handle, BlasSide side, BlasFill fill, BlasOperation op,
                            BlasDiagonal diagonal, int m, int n, const void* alpha, const void* a,
                            int lda, void* b, int ldb);
using BlasTrsmBatched = BlasStatus(BlasHandle handle, BlasSide side, BlasFill fill,
                                   BlasOperation op, BlasDiagonal diagonal, int m, int n,
                                   const void* alpha, const void* const a[], int lda,
                                   void* const b[], int ldb, int batch);
// `pivots` null: rows are not exchanged. `info` has a number for each matrix.
using BlasGetrfBatched = BlasStatus(BlasHandle handle, int n, void* const a[], int lda, int* pivots,
                                    int* info, int batch);
// `info`, one number on the host, says which argument is wrong.
using BlasGeqrfBatched = BlasStatus(BlasHandle handle, int m, int n, void* const a[], int lda,
                                    void* const tau[], int* info, int batch);

// X(type of the functions, member, names for f32, f64, c64 and c128)
#define PRIMSET_CUBLAS_TYPED(X)                                                                \
  X(BlasTrsm, trsm, cublasStrsm_v2, cublasDtrsm_v2, cublasCtrsm_v2, cublasZtrsm_v2)            \
  X(BlasTrsmBatched, trsm_batched, cublasStrsmBatched, cublasDtrsmBatched, cublasCtrsmBatched, \
    cublasZtrsmBatched)                                                                        \
  X(BlasGetrfBatched, getrf_batched, cublasSgetrfBatched, cublasDgetrfBatched,                 \
    cublasCgetrfBatched, cublasZgetrfBatched)                                                  \
  X(BlasGeqrfBatched, geqrf_batched, cublasSgeqrfBatched, cublasDgeqrfBatched,                 \
    cublasCgeqrfBatched, cublasZgeqrfBatched)

#define PRIMSET_TYPED_MEMBER(function, member, s, d, c, z) ForEachType<function> member{};
#define PRIMSET_TYPED_NEED(function, member, s, d, c, z) \
  library.need(member[0], #s);                           \
  library.need(member[1], #d);                           \
  library.need(member[2], #c);                           \
  library.need(member[3], #z);

struct CublasApi {
  PRIMSET_CUBLAS_FUNCTIONS(PRIMSET_LIBRARY_MEMBER)
  PRIMSET_CUBLAS_TYPED(PRIMSET_TYPED_MEMBER)

  // As open_library has it; PRIMSET_CUBLAS is the setting.
  bool load(int driver_version, std::string& why);
};

// Throws BackendError for anything but success.
void check_cublas(BlasStatus status, const char* function);

}  // namespace primset_cuda

#define PRIMSET_CUBLAS(blas, function, ...) \
  ::primset_cuda::check_cublas((blas).function(__VA_ARGS__), #function)

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_CUBLAS_API_H_
