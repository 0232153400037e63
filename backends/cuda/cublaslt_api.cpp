#include "backends/cuda/cublaslt_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace primset_cuda {
namespace {

// The interface as it is declared here begins with 12; a library's major version is that of the
// oldest driver it runs on.
constexpr int kOldestLibrary = 12;

struct Candidate {
  const char* file;
  int major;  // 0: whichever it is
};
constexpr Candidate kCandidates[] = {
    {"libcublasLt.so.13", 13}, {"/usr/local/cuda/lib64/libcublasLt.so.13", 13},
    {"libcublasLt.so.12", 12}, {"/usr/local/cuda/lib64/libcublasLt.so.12", 12},
    {"libcublasLt.so", 0},
};

void* open(const char* file) {
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

bool CublasLtApi::bind(void* library, const char* file, int driver_version, std::string& why) {
  const auto need = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && why.empty()) why = std::string(file) + " has no " + name;
  };
#define PRIMSET_CUBLASLT_LOAD(result, name, parameters) need(name, #name);
  PRIMSET_CUBLASLT_FUNCTIONS(PRIMSET_CUBLASLT_LOAD)
#undef PRIMSET_CUBLASLT_LOAD
  if (!why.empty()) return false;
  const size_t version = cublasLtGetVersion();  // 130101 for 13.1.1
  const auto major = static_cast<int>(version / 10000);
  const int newest = driver_version / 1000;
  if (major >= kOldestLibrary && major <= newest) return true;
  why = std::string(file) + " is version " + std::to_string(version) + "; expected " +
        std::to_string(10000 * kOldestLibrary) + " or newer, and older than " +
        std::to_string(10000 * (newest + 1)) + ", which this driver is too old for";
  return false;
}

bool CublasLtApi::load(int driver_version, std::string& why) {
  why.clear();
  const char* setting = std::getenv("PRIMSET_CUBLASLT");
  if (setting && std::string_view(setting) == "off") return false;
  // Never closed: the library leaves threads and exit handlers behind.
  if (setting && *setting) {
    void* library = open(setting);
    if (library) return bind(library, setting, driver_version, why);
    why = std::string("PRIMSET_CUBLASLT=") + setting + ": " + dlerror() +
          "; expected a file of cuBLASLt, or off";
    return false;
  }
  for (const Candidate& c : kCandidates) {
    if (1000 * c.major > driver_version) continue;
    void* library = open(c.file);
    if (!library) continue;
    std::string reason;
    if (bind(library, c.file, driver_version, reason)) {
      why.clear();
      return true;
    }
    if (why.empty()) why = std::move(reason);
  }
  return false;
}

}  // namespace primset_cuda
