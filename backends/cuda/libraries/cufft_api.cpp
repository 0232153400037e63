#include "backends/cuda/libraries/cufft_api.h"

#include "backends/common/results.h"

namespace primset_cuda {
namespace {

constexpr LibraryFile kCufftFiles[] = {
    {"libcufft.so.12", 13},
    {"/usr/local/cuda/lib64/libcufft.so.12", 13},
    {"libcufft.so.11", 12},
    {"/usr/local/cuda/lib64/libcufft.so.11", 12},
};
constexpr Library kCufft = {"cuFFT", "PRIMSET_CUFFT", kCufftFiles};

constexpr primset_backend::KnownResult kCufftStatuses[] = {
    {1, "CUFFT_INVALID_PLAN"},
    {kFftAllocFailed, "CUFFT_ALLOC_FAILED", PRIMSET_OUT_OF_MEMORY},
    {3, "CUFFT_INVALID_TYPE"},
    {kFftInvalidValue, "CUFFT_INVALID_VALUE"},
    {kFftInternalError, "CUFFT_INTERNAL_ERROR"},
    {kFftExecFailed, "CUFFT_EXEC_FAILED"},
    {7, "CUFFT_SETUP_FAILED"},
    {kFftInvalidSize, "CUFFT_INVALID_SIZE"},
    {11, "CUFFT_INVALID_DEVICE"},
    {kFftNotSupported, "CUFFT_NOT_SUPPORTED"},
};

}  // namespace

bool CufftApi::load(int driver_version, std::string& why) {
  const auto bind = [&](primset_backend::SharedLibrary& library) -> std::string {
    PRIMSET_CUFFT_FUNCTIONS(PRIMSET_LIBRARY_NEED)
    if (!library.missing().empty()) return library.missing();
    int version = 0;  // 12005 for 12.0.5; its major version is the toolkit's less one
    if (const FftStatus status = cufftGetVersion(&version))
      return "cufftGetVersion answers " + std::to_string(status);
    return wrong_version(library, version, 11000, 1000 * (driver_version / 1000));
  };
  return open_library(kCufft, driver_version, bind, why);
}

void check_cufft(FftStatus status, const char* function) {
  primset_backend::Results(kCufftStatuses).check(status, function);
}

}  // namespace primset_cuda
