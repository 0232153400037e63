#include "backends/common/compiled_cache.h"

#include <cinttypes>
#include <cstdio>
#include <exception>

#include "backends/common/abi_boundary.h"
#include "backends/common/cache_file.h"

namespace primset_backend {
namespace {

constexpr std::string_view kMagic = "PSCOMPL1";

}  // namespace

CompiledCache::CompiledCache(const primset_host* host, std::string folder, std::string target,
                             std::string suffix)
    : host_(host),
      plugin_(std::move(folder)),
      folder_(cache_path(host, plugin_)),
      target_(std::move(target) + '\n'),
      suffix_(std::move(suffix)) {}

// Two levels, so that no folder holds many thousands of files.
std::string CompiledCache::path_of(std::string_view text) const {
  char name[32];
  std::snprintf(name, sizeof(name), "%016" PRIx64, hash_of(text, hash_of(target_)));
  return folder_ + "/" + std::string(name, 2) + "/" + (name + 2) + suffix_;
}

std::vector<char> CompiledCache::find(std::string_view text) const {
  if (!on()) return {};
  std::vector<char> data = CacheFile(path_of(text), kMagic).read();
  const std::string_view all(data.data(), data.size());
  if (!all.starts_with(target_) || !all.substr(target_.size()).starts_with(text)) return {};
  data.erase(data.begin(),
             data.begin() + static_cast<std::ptrdiff_t>(target_.size() + text.size()));
  return data;
}

void CompiledCache::store(std::string_view text, std::string_view compiled) const {
  if (!on()) return;
  try {
    CacheFile(path_of(text), kMagic).write(target_ + std::string(text) + std::string(compiled));
  } catch (const std::exception& e) {
    log(host_, PRIMSET_LOG_WARNING, plugin_ + ": cannot write " + e.what());
  }
}

}  // namespace primset_backend
