// A plugin file: loads it, queries its table and checks the table. For the loader and tests; other
// code uses Plugin (device.h) from a Registry (loader.h).
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_LIBRARY_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_LIBRARY_H_

#include <primset/plugin.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/plugin/log_limit.h"

namespace primset::plugin {

// Receives log messages of plugins and the validation layer, from any thread. level: PRIMSET_LOG_*.
using LogSink = std::function<void(uint32_t level, std::string_view text)>;

// Warnings and errors to stderr.
LogSink stderr_log();

// The primset_host of one plugin, with the state behind its functions. What the plugin logs is made
// printable, cut to 8 KiB a line, and bounded (log_limit.h).
class Host {
 public:
  // plugin: its name, under which its compiled code is cached; file: where packs for it may lie. A
  // cache that is null, or is off and has no packs for it: the plugin has none.
  Host(std::string plugin, const std::filesystem::path& file, LogSink log,
       std::shared_ptr<const runtime::DiskCache> cache);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  const primset_host* get() const { return &state_.host; }

 private:
  struct State {  // host first: the C side's pointer is a pointer to this
    primset_host host;
    std::string plugin;
    LogSink log;
    std::shared_ptr<const runtime::DiskCache> cache;
    mutable std::array<LogLimit, PRIMSET_LOG_ERROR + 1> limits;  // by level
  };
  static void log_function(const primset_host* host, uint32_t level, const char* text);
  static uint32_t find_function(const primset_host* host, const void* key, uint64_t key_bytes,
                                primset_cache_found found, void* context);
  static void store_function(const primset_host* host, const void* key, uint64_t key_bytes,
                             const void* data, uint64_t bytes);

  State state_;
};

// Keeps a shared object loaded. Throws Error{plugin}, which names the file.
class PluginLibrary {
 public:
  PluginLibrary(const std::filesystem::path& file, std::string name, LogSink log,
                std::shared_ptr<const runtime::DiskCache> cache);
  ~PluginLibrary();
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  // Calls primset_plugin_query and checks the table, which the caller releases.
  const primset_plugin* query(std::string_view expected_name) const;
  const Host& host() const { return host_; }

 private:
  std::filesystem::path file_;
  Host host_;
  void* handle_ = nullptr;
};

// Throws Error{plugin} when the table breaks a rule of plugin.h. `where` begins the message.
void check_table(const primset_plugin* table, std::string_view expected_name,
                 std::string_view where);

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_LIBRARY_H_
