#include "backends/cuda/libraries/cudnn_api.h"

#include "backends/common/results.h"

namespace primset_cuda {
namespace {

// One name for all versions of CUDA: the library says which one it was built for.
constexpr LibraryFile kCudnnFiles[] = {
    {"libcudnn.so.9", 0},
    {"/usr/local/cuda/lib64/libcudnn.so.9", 0},
};
constexpr Library kCudnn = {"cuDNN", "PRIMSET_CUDNN", kCudnnFiles};

constexpr primset_backend::KnownResult kCudnnStatuses[] = {
    {1001, "CUDNN_STATUS_NOT_INITIALIZED"},
    {kDnnBadParam, "CUDNN_STATUS_BAD_PARAM"},
    {kDnnNotSupported, "CUDNN_STATUS_NOT_SUPPORTED"},
    {kDnnInternalError, "CUDNN_STATUS_INTERNAL_ERROR"},
    {kDnnHostAllocationFailed, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
     PRIMSET_OUT_OF_MEMORY},
    {kDnnDeviceAllocationFailed, "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
     PRIMSET_OUT_OF_MEMORY},
    {kDnnExecutionFailed, "CUDNN_STATUS_EXECUTION_FAILED"},
};

}  // namespace

bool CudnnApi::load(int driver_version, std::string& why) {
  const auto bind = [&](primset_backend::SharedLibrary& library) -> std::string {
    PRIMSET_CUDNN_FUNCTIONS(PRIMSET_LIBRARY_NEED)
    if (!library.missing().empty()) return library.missing();
    // 90501 for 9.5.1, whose names are those declared here.
    std::string other =
        wrong_version(library, static_cast<int64_t>(cudnnGetVersion()), 90000, 100000);
    if (!other.empty()) return other;
    // 13000 for CUDA 13.0
    return wrong_version(library, static_cast<int64_t>(cudnnGetCudartVersion()), 12000,
                         1000 * (driver_version / 1000 + 1));
  };
  return open_library(kCudnn, driver_version, bind, why);
}

void check_cudnn(DnnStatus status, const char* function) {
  primset_backend::Results(kCudnnStatuses).check(status, function);
}

bool is_cudnn_refusal(DnnStatus status) {
  return status >= kDnnBadParam && status < kDnnInternalError;  // a thousand for each kind
}

}  // namespace primset_cuda
