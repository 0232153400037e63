// The functions of cuSOLVER that this back end calls, found in the library at run time, of cuSOLVER
// 11.4 to 12 (CUDA 12 and 13). The declarations are our own; library_api_test.cpp holds them
// against the real headers where there are any.
//
// Matrices are column-major. What computes takes memory whose size another function tells: on the
// device, and of some on the host. `info` is in the device's memory.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_CUSOLVER_API_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_CUSOLVER_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cuda/libraries/cublas_api.h"

namespace primset_cuda {

using SolverStatus = int;
using SolverHandle = struct SolverHandleTag*;
using SolverParams = struct SolverParamsTag*;
using JacobiParams = struct JacobiParamsTag*;
using EighJacobiParams = struct EighJacobiParamsTag*;

enum : SolverStatus {
  kSolverSuccess = 0,
  kSolverNotInitialized = 1,
  kSolverAllocFailed = 2,
  kSolverInvalidValue = 3,
  kSolverExecutionFailed = 6,
  kSolverInternalError = 7,
};

enum SolverVectors : int { kNoVectors = 0, kVectors = 1 };

#define PRIMSET_CUSOLVER_FUNCTIONS(X)                                                              \
  X(SolverStatus, cusolverGetVersion, (int* version))                                              \
  X(SolverStatus, cusolverDnCreate, (SolverHandle * handle))                                       \
  X(SolverStatus, cusolverDnDestroy, (SolverHandle handle))                                        \
  X(SolverStatus, cusolverDnSetStream, (SolverHandle handle, Stream stream))                       \
  X(SolverStatus, cusolverDnCreateParams, (SolverParams * params))                                 \
  X(SolverStatus, cusolverDnDestroyParams, (SolverParams params))                                  \
  X(SolverStatus, cusolverDnCreateGesvdjInfo, (JacobiParams * params))                             \
  X(SolverStatus, cusolverDnDestroyGesvdjInfo, (JacobiParams params))                              \
  X(SolverStatus, cusolverDnCreateSyevjInfo, (EighJacobiParams * params))                          \
  X(SolverStatus, cusolverDnDestroySyevjInfo, (EighJacobiParams params))                           \
  X(SolverStatus, cusolverDnXgetrf_bufferSize,                                                     \
    (SolverHandle handle, SolverParams params, int64_t m, int64_t n, DataType type, const void* a, \
     int64_t lda, DataType computed_in, size_t* device_bytes, size_t* host_bytes))                 \
  X(SolverStatus, cusolverDnXgetrf,                                                                \
    (SolverHandle handle, SolverParams params, int64_t m, int64_t n, DataType type, void* a,       \
     int64_t lda, int64_t* pivots, DataType computed_in, void* on_device, size_t device_bytes,     \
     void* on_host, size_t host_bytes, int* info))                                                 \
  X(SolverStatus, cusolverDnXpotrf_bufferSize,                                                     \
    (SolverHandle handle, SolverParams params, BlasFill fill, int64_t n, DataType type,            \
     const void* a, int64_t lda, DataType computed_in, size_t* device_bytes, size_t* host_bytes))  \
  X(SolverStatus, cusolverDnXpotrf,                                                                \
    (SolverHandle handle, SolverParams params, BlasFill fill, int64_t n, DataType type, void* a,   \
     int64_t lda, DataType computed_in, void* on_device, size_t device_bytes, void* on_host,       \
     size_t host_bytes, int* info))                                                                \
  X(SolverStatus, cusolverDnXgeqrf_bufferSize,                                                     \
    (SolverHandle handle, SolverParams params, int64_t m, int64_t n, DataType type, const void* a, \
     int64_t lda, DataType tau_type, const void* tau, DataType computed_in, size_t* device_bytes,  \
     size_t* host_bytes))                                                                          \
  X(SolverStatus, cusolverDnXgeqrf,                                                                \
    (SolverHandle handle, SolverParams params, int64_t m, int64_t n, DataType type, void* a,       \
     int64_t lda, DataType tau_type, void* tau, DataType computed_in, void* on_device,             \
     size_t device_bytes, void* on_host, size_t host_bytes, int* info))                            \
  X(SolverStatus, cusolverDnXsyevd_bufferSize,                                                     \
    (SolverHandle handle, SolverParams params, SolverVectors vectors, BlasFill fill, int64_t n,    \
     DataType type, const void* a, int64_t lda, DataType value_type, const void* values,           \
     DataType computed_in, size_t* device_bytes, size_t* host_bytes))                              \
  X(SolverStatus, cusolverDnXsyevd,                                                                \
    (SolverHandle handle, SolverParams params, SolverVectors vectors, BlasFill fill, int64_t n,    \
     DataType type, void* a, int64_t lda, DataType value_type, void* values, DataType computed_in, \
     void* on_device, size_t device_bytes, void* on_host, size_t host_bytes, int* info))           \
  X(SolverStatus, cusolverDnXgesvd_bufferSize,                                                     \
    (SolverHandle handle, SolverParams params, signed char left, signed char right, int64_t m,     \
     int64_t n, DataType type, const void* a, int64_t lda, DataType value_type,                    \
     const void* values, DataType u_type, const void* u, int64_t ldu, DataType vt_type,            \
     const void* vt, int64_t ldvt, DataType computed_in, size_t* device_bytes,                     \
     size_t* host_bytes))                                                                          \
  X(SolverStatus, cusolverDnXgesvd,                                                                \
    (SolverHandle handle, SolverParams params, signed char left, signed char right, int64_t m,     \
     int64_t n, DataType type, void* a, int64_t lda, DataType value_type, void* values,            \
     DataType u_type, void* u, int64_t ldu, DataType vt_type, void* vt, int64_t ldvt,              \
     DataType computed_in, void* on_device, size_t device_bytes, void* on_host, size_t host_bytes, \
     int* info))

// From CUDA 12.6 and 12.8 on; null in older ones.
#define PRIMSET_CUSOLVER_NEW_FUNCTIONS(X)                                                          \
  X(SolverStatus, cusolverDnXsyevBatched_bufferSize,                                               \
    (SolverHandle handle, SolverParams params, SolverVectors vectors, BlasFill fill, int64_t n,    \
     DataType type, const void* a, int64_t lda, DataType value_type, const void* values,           \
     DataType computed_in, size_t* device_bytes, size_t* host_bytes, int64_t batch))               \
  X(SolverStatus, cusolverDnXsyevBatched,                                                          \
    (SolverHandle handle, SolverParams params, SolverVectors vectors, BlasFill fill, int64_t n,    \
     DataType type, void* a, int64_t lda, DataType value_type, void* values, DataType computed_in, \
     void* on_device, size_t device_bytes, void* on_host, size_t host_bytes, int* info,            \
     int64_t batch))                                                                               \
  X(SolverStatus, cusolverDnXgeev_bufferSize,                                                      \
    (SolverHandle handle, SolverParams params, SolverVectors left, SolverVectors right, int64_t n, \
     DataType type, const void* a, int64_t lda, DataType value_type, const void* values,           \
     DataType vl_type, const void* vl, int64_t ldvl, DataType vr_type, const void* vr,             \
     int64_t ldvr, DataType computed_in, size_t* device_bytes, size_t* host_bytes))                \
  X(SolverStatus, cusolverDnXgeev,                                                                 \
    (SolverHandle handle, SolverParams params, SolverVectors left, SolverVectors right, int64_t n, \
     DataType type, void* a, int64_t lda, DataType value_type, void* values, DataType vl_type,     \
     void* vl, int64_t ldvl, DataType vr_type, void* vr, int64_t ldvr, DataType computed_in,       \
     void* on_device, size_t device_bytes, void* on_host, size_t host_bytes, int* info))

// The first columns of the product of k reflectors, in place of these.
using SolverOrgqrSize = SolverStatus(SolverHandle handle, int m, int n, int k, const void* a,
                                     int lda, const void* tau, int* elements);
using SolverOrgqr = SolverStatus(SolverHandle handle, int m, int n, int k, void* a, int lda,
                                 const void* tau, void* work, int elements, int* info);
// c, of m x n, times that product from either side.
using SolverOrmqrSize = SolverStatus(SolverHandle handle, BlasSide side, BlasOperation op, int m,
                                     int n, int k, const void* a, int lda, const void* tau,
                                     const void* c, int ldc, int* elements);
using SolverOrmqr = SolverStatus(SolverHandle handle, BlasSide side, BlasOperation op, int m, int n,
                                 int k, const void* a, int lda, const void* tau, void* c, int ldc,
                                 void* work, int elements, int* info);
// Singular values by rotations (Jacobi); v, not its adjoint. economy: only the first columns of u
// and v.
using SolverGesvdjSize = SolverStatus(SolverHandle handle, SolverVectors vectors, int economy,
                                      int m, int n, const void* a, int lda, const void* values,
                                      const void* u, int ldu, const void* v, int ldv, int* elements,
                                      JacobiParams params);
using SolverGesvdj = SolverStatus(SolverHandle handle, SolverVectors vectors, int economy, int m,
                                  int n, void* a, int lda, void* values, void* u, int ldu, void* v,
                                  int ldv, void* work, int elements, int* info,
                                  JacobiParams params);
// Of matrices up to 32 x 32 that lie one behind the other, with all columns of u and v.
using SolverGesvdjBatchedSize = SolverStatus(SolverHandle handle, SolverVectors vectors, int m,
                                             int n, const void* a, int lda, const void* values,
                                             const void* u, int ldu, const void* v, int ldv,
                                             int* elements, JacobiParams params, int batch);
using SolverGesvdjBatched = SolverStatus(SolverHandle handle, SolverVectors vectors, int m, int n,
                                         void* a, int lda, void* values, void* u, int ldu, void* v,
                                         int ldv, void* work, int elements, int* info,
                                         JacobiParams params, int batch);
// Eigenvalues by rotations, of Hermitian matrices that lie one behind the other.
using SolverSyevjBatchedSize = SolverStatus(SolverHandle handle, SolverVectors vectors,
                                            BlasFill fill, int n, const void* a, int lda,
                                            const void* values, int* elements,
                                            EighJacobiParams params, int batch);
using SolverSyevjBatched = SolverStatus(SolverHandle handle, SolverVectors vectors, BlasFill fill,
                                        int n, void* a, int lda, void* values, void* work,
                                        int elements, int* info, EighJacobiParams params,
                                        int batch);
using SolverPotrfBatched = SolverStatus(SolverHandle handle, BlasFill fill, int n, void* a[],
                                        int lda, int* info, int batch);

#define PRIMSET_CUSOLVER_TYPED(X)                                                               \
  X(SolverOrgqrSize, orgqr_size, cusolverDnSorgqr_bufferSize, cusolverDnDorgqr_bufferSize,      \
    cusolverDnCungqr_bufferSize, cusolverDnZungqr_bufferSize)                                   \
  X(SolverOrgqr, orgqr, cusolverDnSorgqr, cusolverDnDorgqr, cusolverDnCungqr, cusolverDnZungqr) \
  X(SolverOrmqrSize, ormqr_size, cusolverDnSormqr_bufferSize, cusolverDnDormqr_bufferSize,      \
    cusolverDnCunmqr_bufferSize, cusolverDnZunmqr_bufferSize)                                   \
  X(SolverOrmqr, ormqr, cusolverDnSormqr, cusolverDnDormqr, cusolverDnCunmqr, cusolverDnZunmqr) \
  X(SolverGesvdjSize, gesvdj_size, cusolverDnSgesvdj_bufferSize, cusolverDnDgesvdj_bufferSize,  \
    cusolverDnCgesvdj_bufferSize, cusolverDnZgesvdj_bufferSize)                                 \
  X(SolverGesvdj, gesvdj, cusolverDnSgesvdj, cusolverDnDgesvdj, cusolverDnCgesvdj,              \
    cusolverDnZgesvdj)                                                                          \
  X(SolverGesvdjBatchedSize, gesvdj_batched_size, cusolverDnSgesvdjBatched_bufferSize,          \
    cusolverDnDgesvdjBatched_bufferSize, cusolverDnCgesvdjBatched_bufferSize,                   \
    cusolverDnZgesvdjBatched_bufferSize)                                                        \
  X(SolverGesvdjBatched, gesvdj_batched, cusolverDnSgesvdjBatched, cusolverDnDgesvdjBatched,    \
    cusolverDnCgesvdjBatched, cusolverDnZgesvdjBatched)                                         \
  X(SolverSyevjBatchedSize, syevj_batched_size, cusolverDnSsyevjBatched_bufferSize,             \
    cusolverDnDsyevjBatched_bufferSize, cusolverDnCheevjBatched_bufferSize,                     \
    cusolverDnZheevjBatched_bufferSize)                                                         \
  X(SolverSyevjBatched, syevj_batched, cusolverDnSsyevjBatched, cusolverDnDsyevjBatched,        \
    cusolverDnCheevjBatched, cusolverDnZheevjBatched)                                           \
  X(SolverPotrfBatched, potrf_batched, cusolverDnSpotrfBatched, cusolverDnDpotrfBatched,        \
    cusolverDnCpotrfBatched, cusolverDnZpotrfBatched)

struct CusolverApi {
  PRIMSET_CUSOLVER_FUNCTIONS(PRIMSET_LIBRARY_MEMBER)
  PRIMSET_CUSOLVER_NEW_FUNCTIONS(PRIMSET_LIBRARY_MEMBER)
  PRIMSET_CUSOLVER_TYPED(PRIMSET_TYPED_MEMBER)

  bool has_batched_syev() const {
    return cusolverDnXsyevBatched_bufferSize && cusolverDnXsyevBatched;
  }
  bool has_geev() const { return cusolverDnXgeev_bufferSize && cusolverDnXgeev; }

  // As open_library has it; PRIMSET_CUSOLVER is the setting.
  bool load(int driver_version, std::string& why);
};

// Throws BackendError for anything but success.
void check_cusolver(SolverStatus status, const char* function);

}  // namespace primset_cuda

#define PRIMSET_CUSOLVER(solver, function, ...) \
  ::primset_cuda::check_cusolver((solver).function(__VA_ARGS__), #function)

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_CUSOLVER_API_H_
