#include "sdk/runtime/cache/shared_cache.h"

#include <ranges>

#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/options.h"

namespace primset::runtime {
namespace fs = std::filesystem;
namespace {

fs::path cache_folder() {
  std::string chosen = environment("PRIMSET_CACHE");
  if (chosen == "off") return {};
  if (!chosen.empty()) return chosen;
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "primset";
  if (const std::string home = environment("HOME"); !home.empty())
    return fs::path(home) / ".cache/primset";
  return {};
}

void tell(uint32_t level, std::string_view text) {
  const auto l = static_cast<LogLevel>(level);
  if (log_enabled(l)) log_text(l, text);
}

KernelPacks::Settings pack_settings() {
  const std::string chosen = environment("PRIMSET_PACK");
  KernelPacks::Settings settings{{}, chosen == "off", tell};
  if (settings.off) return settings;
  for (const auto part : std::views::split(chosen, ':')) {
    if (!part.empty()) settings.named.emplace_back(std::string(part.begin(), part.end()));
  }
  return settings;
}

}  // namespace

std::shared_ptr<const DiskCache> shared_cache() {
  static const auto cache = std::make_shared<const DiskCache>(
      cache_folder(),
      DiskCache::Settings{max_disk_bytes, tell, std::make_shared<KernelPacks>(pack_settings())});
  return cache;
}

}  // namespace primset::runtime
