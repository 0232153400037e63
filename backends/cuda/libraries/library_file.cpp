#include "backends/cuda/libraries/library_file.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "backends/common/status.h"

namespace primset_cuda {

using primset_backend::SharedLibrary;

bool open_library(const Library& library, int driver_version, const BindLibrary& bind,
                  std::string& why) {
  why.clear();
  const char* setting = std::getenv(library.setting);
  if (setting && std::string_view(setting) == "off") return false;
  if (setting && *setting) {
    if (SharedLibrary opened(setting); opened) {
      why = bind(opened);
    } else {
      why = std::string(library.setting) + "=" + setting + ": " + dlerror() +
            "; expected a file of " + library.name + ", or off";
    }
    return why.empty();
  }
  for (const LibraryFile& c : library.candidates) {
    if (1000 * c.toolkit > driver_version) continue;
    SharedLibrary opened(c.file);
    if (!opened) continue;
    const std::string reason = bind(opened);
    if (reason.empty()) {
      why.clear();
      return true;
    }
    if (why.empty()) why = reason;
  }
  return false;
}

std::string wrong_version(const SharedLibrary& library, int64_t version, int64_t oldest,
                          int64_t end) {
  if (version >= oldest && version < end) return {};
  return std::string(library.file()) + " is version " + std::to_string(version) + "; expected " +
         std::to_string(oldest) + " or newer, and older than " + std::to_string(end) +
         ", which this driver is too old for";
}

void fail_library(std::span<const LibraryStatus> names, int status, int out_of_memory,
                  const char* function) {
  const auto known = std::ranges::find(names, status, &LibraryStatus::value);
  const std::string name = known != names.end() ? known->name : "unknown status";
  throw primset_backend::BackendError(
      status == out_of_memory ? PRIMSET_OUT_OF_MEMORY : PRIMSET_INTERNAL,
      std::string(function) + ": " + name + " (" + std::to_string(status) + ")");
}

}  // namespace primset_cuda
