#include "backends/cuda/libraries/cusolver_api.h"

#include "backends/common/results.h"

namespace primset_cuda {
namespace {

constexpr LibraryFile kCusolverFiles[] = {
    {"libcusolver.so.12", 13},
    {"/usr/local/cuda/lib64/libcusolver.so.12", 13},
    {"libcusolver.so.11", 12},
    {"/usr/local/cuda/lib64/libcusolver.so.11", 12},
};
constexpr Library kCusolver = {"cuSOLVER", "PRIMSET_CUSOLVER", kCusolverFiles};

constexpr primset_backend::KnownResult kCusolverStatuses[] = {
    {kSolverNotInitialized, "CUSOLVER_STATUS_NOT_INITIALIZED"},
    {kSolverAllocFailed, "CUSOLVER_STATUS_ALLOC_FAILED", PRIMSET_OUT_OF_MEMORY},
    {kSolverInvalidValue, "CUSOLVER_STATUS_INVALID_VALUE"},
    {4, "CUSOLVER_STATUS_ARCH_MISMATCH"},
    {kSolverExecutionFailed, "CUSOLVER_STATUS_EXECUTION_FAILED"},
    {kSolverInternalError, "CUSOLVER_STATUS_INTERNAL_ERROR"},
    {9, "CUSOLVER_STATUS_NOT_SUPPORTED"},
};

}  // namespace

bool CusolverApi::load(int driver_version, std::string& why) {
  const auto bind = [&](primset_backend::SharedLibrary& library) -> std::string {
    PRIMSET_CUSOLVER_FUNCTIONS(PRIMSET_LIBRARY_NEED)
    PRIMSET_CUSOLVER_TYPED(PRIMSET_TYPED_NEED)
    PRIMSET_CUSOLVER_NEW_FUNCTIONS(PRIMSET_LIBRARY_WANT)
    if (!library.missing().empty()) return library.missing();
    int version = 0;  // 11701 for 11.7.1; its major version is the toolkit's less one
    if (const SolverStatus status = cusolverGetVersion(&version))
      return "cusolverGetVersion answers " + std::to_string(status);
    return wrong_version(library, version, 11400, 1000 * (driver_version / 1000));
  };
  return open_library(kCusolver, driver_version, bind, why);
}

void check_cusolver(SolverStatus status, const char* function) {
  primset_backend::Results(kCusolverStatuses).check(status, function);
}

}  // namespace primset_cuda
