#include "backends/cuda/cublaslt_api.h"

namespace primset_cuda {
namespace {

// The interface as it is declared here begins with 12; a library's major version is that of the
// oldest driver it runs on.
constexpr int kOldestLibrary = 12;

constexpr LibraryFile kCublasLtFiles[] = {
    {"libcublasLt.so.13", 13}, {"/usr/local/cuda/lib64/libcublasLt.so.13", 13},
    {"libcublasLt.so.12", 12}, {"/usr/local/cuda/lib64/libcublasLt.so.12", 12},
    {"libcublasLt.so", 0},
};
constexpr Library kCublasLt = {"cuBLASLt", "PRIMSET_CUBLASLT", kCublasLtFiles};

}  // namespace

bool CublasLtApi::load(int driver_version, std::string& why) {
  const auto bind = [&](primset_backend::SharedLibrary& library) -> std::string {
    PRIMSET_CUBLASLT_FUNCTIONS(PRIMSET_LIBRARY_NEED)
    if (!library.missing().empty()) return library.missing();
    // 130101 for 13.1.1
    return wrong_version(library, static_cast<int64_t>(cublasLtGetVersion()),
                         10000 * kOldestLibrary, 10000 * (driver_version / 1000 + 1));
  };
  return open_library(kCublasLt, driver_version, bind, why);
}

}  // namespace primset_cuda
