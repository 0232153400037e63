#include "backends/cuda/libraries/library_file.h"

#include <cstdlib>
#include <string_view>

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
      why = std::string(library.setting) + "=" + setting + ": " + opened.missing() +
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

}  // namespace primset_cuda
