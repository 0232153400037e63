// The functions of cuFFT that this back end calls, found in the library at run time, of cuFFT 11
// and 12 (CUDA 12 and 13). The declarations are our own; library_api_test.cpp holds them against
// the real headers where there are any.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_CUFFT_API_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_CUFFT_API_H_

#include <cstddef>
#include <string>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/libraries/data_type.h"
#include "backends/cuda/libraries/library_file.h"

namespace primset_cuda {

using FftStatus = int;
using FftHandle = int;

enum : FftStatus {
  kFftSuccess = 0,
  kFftAllocFailed = 2,
  kFftInvalidValue = 4,
  kFftInternalError = 5,
  kFftExecFailed = 6,
  kFftInvalidSize = 8,
  kFftNotSupported = 16,
};

inline constexpr int kFftForward = -1, kFftBackward = 1;

// A transform's element (i, j, k) of batch b lies at
// b * dist + ((i * embed[1] + j) * embed[2] + k) * stride.
#define PRIMSET_CUFFT_FUNCTIONS(X)                                                                 \
  X(FftStatus, cufftGetVersion, (int* version))                                                    \
  X(FftStatus, cufftCreate, (FftHandle * plan))                                                    \
  X(FftStatus, cufftDestroy, (FftHandle plan))                                                     \
  X(FftStatus, cufftSetAutoAllocation, (FftHandle plan, int allocate))                             \
  X(FftStatus, cufftSetWorkArea, (FftHandle plan, void* area))                                     \
  X(FftStatus, cufftSetStream, (FftHandle plan, Stream stream))                                    \
  X(FftStatus, cufftXtMakePlanMany,                                                                \
    (FftHandle plan, int rank, long long* sizes, long long* in_embed, long long in_stride,         \
     long long in_dist, DataType in, long long* out_embed, long long out_stride,                   \
     long long out_dist, DataType out, long long batch, size_t* work_bytes, DataType computed_in)) \
  X(FftStatus, cufftXtExec, (FftHandle plan, void* in, void* out, int direction))

struct CufftApi {
  PRIMSET_CUFFT_FUNCTIONS(PRIMSET_LIBRARY_MEMBER)

  // As open_library has it; PRIMSET_CUFFT is the setting.
  bool load(int driver_version, std::string& why);
};

// Throws BackendError for anything but success.
void check_cufft(FftStatus status, const char* function);

}  // namespace primset_cuda

#define PRIMSET_CUFFT(fft, function, ...) \
  ::primset_cuda::check_cufft((fft).function(__VA_ARGS__), #function)

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_CUFFT_API_H_
