#include "backends/cuda/cubin_cache.h"

#include <cinttypes>
#include <cstdio>

#include "backends/common/border.h"
#include "backends/common/cache_file.h"

namespace primset_cuda {
namespace {

using primset_backend::CacheFile;
using primset_backend::hash_of;

constexpr std::string_view kMagic = "PSCUBIN1";

}  // namespace

CubinCache::CubinCache(const primset_host* host, int driver_version, std::string_view sm)
    : host_(host),
      folder_(primset_backend::cache_path(host, "cuda")),
      target_(std::to_string(driver_version) + " " + std::string(sm)) {}

// Two levels, so that no folder holds many thousands of files.
std::string CubinCache::path_of(std::string_view ptx) const {
  char name[32];
  std::snprintf(name, sizeof(name), "%016" PRIx64, hash_of(ptx, hash_of(target_)));
  return folder_ + "/" + std::string(name, 2) + "/" + (name + 2) + ".cubin";
}

std::vector<char> CubinCache::find(std::string_view ptx) const {
  if (folder_.empty()) return {};
  std::vector<char> data = CacheFile(path_of(ptx), kMagic).read();
  const std::string_view all(data.data(), data.size());
  if (!all.starts_with(target_) || !all.substr(target_.size()).starts_with(ptx)) return {};
  data.erase(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(target_.size() + ptx.size()));
  return data;
}

void CubinCache::keep(std::string_view ptx, std::string_view cubin) const {
  if (folder_.empty()) return;
  try {
    CacheFile(path_of(ptx), kMagic).write(target_ + std::string(ptx) + std::string(cubin));
  } catch (const std::exception& e) {
    primset_backend::log(host_, PRIMSET_LOG_WARNING, std::string("cuda: cannot write ") + e.what());
  }
}

}  // namespace primset_cuda
