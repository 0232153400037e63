// Loads each plugin of the search path (plugin_search_path.h) on first use. Two different files of
// one name are an error for that name, not for the others; so is a file that does not load.
//
// A device that is named is opened in this process. A list of all devices runs code of plugins that
// nobody named, so a plugin that is not known to behave is listed by a process of its own
// (probe/probe.h). Those that come with the SDK are known, as are those in use, and those that have
// behaved before.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_LOADER_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_LOADER_H_

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/runtime/plugin/device.h"
#include "sdk/runtime/plugin/device_entry.h"
#include "sdk/runtime/plugin/library.h"
#include "sdk/runtime/plugin/plugin_search_path.h"
#include "sdk/runtime/plugin/probe/probe.h"
#include "sdk/runtime/plugin/validation/validation.h"

namespace primset::plugin {

struct LoaderOptions {
  // Replaces the whole search path; for tests, and for programs that ship their plugins.
  std::optional<std::vector<std::filesystem::path>> path;
  // Used when there is no installed folder.
  std::vector<std::filesystem::path> fallback_folders;
  LogSink log = stderr_log();
  // Where plugins' compiled code is cached; null: nowhere.
  std::shared_ptr<const runtime::DiskCache> cache;
  // Says of the search path what is to be warned of.
  bool warn_of_path = true;
  // Lists devices with primset-probe, beside the folder of the SDK's own plugins. Where that
  // program is missing, in this process.
  bool probe = false;
  // The program, where it lies elsewhere; for tests.
  std::filesystem::path probe_program;
  // Interposes the validation layer. Empty: as PRIMSET_VALIDATE and PRIMSET_FAULTS say.
  std::optional<ValidationOptions> validation;
};

// Thread safe.
class Registry {
 public:
  explicit Registry(LoaderOptions options = {});
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // The plugin files found, in search order, with duplicates. Loads nothing.
  const std::vector<PluginFile>& files() const { return search_.files; }
  // The folders and files of the search path, for error messages and `primset devices`.
  const std::vector<SearchEntry>& path() const { return path_; }
  // Those folders of it that are not trusted, and why.
  const std::vector<SkippedFolder>& skipped() const { return search_.skipped; }
  // The plugin names found, each once, in search order. Loads nothing.
  std::vector<std::string> names() const;

  // Loads the plugin on first use and keeps it until the Registry and all its devices are gone.
  // Throws Error{plugin}: an unknown name, two files of one name, a file that does not load or
  // whose version does not match.
  std::shared_ptr<Plugin> plugin(std::string_view name);
  // Opens "acme:1" ("acme" means "acme:0").
  std::shared_ptr<PluginDevice> open(std::string_view device);
  // All devices of all plugins. Never throws for a broken plugin.
  std::vector<DeviceEntry> devices();

 private:
  void warn_of_path() const;
  bool is_stranger(const PluginFile& file);
  std::vector<DeviceEntry> devices_of(std::string_view name, std::chrono::milliseconds limit);
  std::shared_ptr<Plugin> load(const PluginFile& file) const;
  const PluginFile& find(std::string_view name) const;

  LoaderOptions options_;
  std::vector<SearchEntry> path_;
  PluginSearch search_;
  GoodPlugins good_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Plugin>, std::less<>> loaded_;
};

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_LOADER_H_
