#include "backends/cuda/libraries/cublas_api.h"

#include "backends/common/results.h"

namespace primset_cuda {
namespace {

constexpr LibraryFile kCublasFiles[] = {
    {"libcublas.so.13", 13},
    {"/usr/local/cuda/lib64/libcublas.so.13", 13},
    {"libcublas.so.12", 12},
    {"/usr/local/cuda/lib64/libcublas.so.12", 12},
};
constexpr Library kCublas = {"cuBLAS", "PRIMSET_CUBLAS", kCublasFiles};

constexpr primset_backend::KnownResult kCublasStatuses[] = {
    {kBlasNotInitialized, "CUBLAS_STATUS_NOT_INITIALIZED"},
    {kBlasAllocFailed, "CUBLAS_STATUS_ALLOC_FAILED", PRIMSET_OUT_OF_MEMORY},
    {kBlasInvalidValue, "CUBLAS_STATUS_INVALID_VALUE"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH"},
    {kBlasExecutionFailed, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED"},
};

}  // namespace

bool CublasApi::load(int driver_version, std::string& why) {
  const auto bind = [&](primset_backend::SharedLibrary& library) -> std::string {
    PRIMSET_CUBLAS_FUNCTIONS(PRIMSET_LIBRARY_NEED)
    PRIMSET_CUBLAS_TYPED(PRIMSET_TYPED_NEED)
    if (!library.missing().empty()) return library.missing();
    int major = 0;
    if (const BlasStatus status = cublasGetProperty(0, &major))
      return "cublasGetProperty answers " + std::to_string(status);
    return wrong_version(library, major, 12, driver_version / 1000 + 1);
  };
  return open_library(kCublas, driver_version, bind, why);
}

void check_cublas(BlasStatus status, const char* function) {
  primset_backend::Results(kCublasStatuses).check(status, function);
}

}  // namespace primset_cuda
