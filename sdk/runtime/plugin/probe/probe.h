// Lists a plugin's devices without loading the plugin into this process: a process of
// primset-probe does it, and whatever the plugin does there (a crash, exit(), an endless loop) is
// an error of this plugin alone.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_PROBE_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_PROBE_H_

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/plugin/device_entry.h"
#include "sdk/runtime/plugin/library.h"
#include "sdk/runtime/plugin/plugin_search_path.h"

namespace primset::plugin {

// How long a plugin may take: PRIMSET_PROBE_SECONDS, 10 by default. Throws Error{value} for text
// that is no such number.
std::chrono::milliseconds probe_limit();

struct Probed {
  std::string error;  // what the plugin did; empty: it behaved
  std::vector<DeviceEntry> devices;
};
// `program` is primset-probe. The plugin's log goes to `log`, which may be empty.
Probed probe_plugin(const std::filesystem::path& program, const PluginFile& file,
                    std::chrono::milliseconds limit, const LogSink& log);

// Plugins that behaved, by path and content, in the disk cache. What is remembered is that they may
// be loaded, not what devices they had.
class GoodPlugins {
 public:
  // A cache that is null or off remembers nothing.
  explicit GoodPlugins(std::shared_ptr<const runtime::DiskCache> cache)
      : cache_(std::move(cache)) {}
  // Names a file as it is now; none where nothing is remembered.
  std::optional<runtime::Digest> key_of(const std::filesystem::path& file) const;
  bool contains(const std::optional<runtime::Digest>& key) const;
  void add(const std::optional<runtime::Digest>& key) const;

 private:
  std::shared_ptr<const runtime::DiskCache> cache_;
};

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_PROBE_H_
