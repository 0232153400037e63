#include "sdk/runtime/plugin/loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <primset/error.h>

#include <algorithm>
#include <charconv>

#include "sdk/base/exception_text.h"
#include "sdk/base/printable.h"

namespace primset::plugin {
namespace {

namespace fs = std::filesystem;

// "acme:1" to ("acme", 1).
std::pair<std::string_view, uint32_t> parse_device(std::string_view device) {
  const size_t colon = device.find(':');
  if (colon == std::string_view::npos) return {device, 0};
  const std::string_view digits = device.substr(colon + 1);
  uint32_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw Error(ErrorCode::plugin,
                fmt::format("\"{}\" is no device name; expected a form like acme:0", device));
  return {device.substr(0, colon), index};
}

// primset-probe lies above the folder of the SDK's own plugins; empty where it does not, or where
// others could have changed it.
fs::path installed_probe(const std::vector<SearchEntry>& path) {
  for (const SearchEntry& entry : path) {
    if (entry.named != Named::own) continue;
    std::error_code error;
    const fs::path program =
        fs::canonical(entry.path.lexically_normal().parent_path() / "primset-probe", error);
    if (!error && file_refusal(program).empty()) return program;
  }
  return {};
}

}  // namespace

Registry::Registry(LoaderOptions options) : options_(std::move(options)), good_(options_.cache) {
  if (options_.path) {
    for (const fs::path& entry : *options_.path) path_.push_back({entry, Named::expressly});
  } else {
    path_ = default_plugin_path(options_.fallback_folders);
  }
  if (!options_.validation) options_.validation = validation_from_environment();
  search_ = find_plugin_files(path_);
  if (options_.probe && options_.probe_program.empty())
    options_.probe_program = installed_probe(path_);
  if (options_.warn_of_path && options_.log) warn_of_path();
}

void Registry::warn_of_path() const {
  for (const std::string& warning : search_.warnings) options_.log(PRIMSET_LOG_WARNING, warning);
  for (const SkippedFolder& folder : search_.skipped)
    options_.log(PRIMSET_LOG_WARNING, fmt::format("no plugins are taken from {}: {}",
                                                  printable(folder.path.string()), folder.reason));
}

Registry::~Registry() = default;

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const PluginFile& file : search_.files)
    if (std::find(names.begin(), names.end(), file.name) == names.end()) names.push_back(file.name);
  return names;
}

const PluginFile& Registry::find(std::string_view name) const {
  const PluginFile* found = nullptr;
  for (const PluginFile& file : search_.files) {
    if (file.name != name) continue;
    if (found)
      throw Error(
          ErrorCode::plugin,
          fmt::format("two plugins are named {}: {} and {}; remove one, or take its folder "
                      "out of PRIMSET_PLUGIN_PATH",
                      name, printable(found->path.string()), printable(file.path.string())));
    found = &file;
  }
  if (found) return *found;
  std::vector<std::string> searched;
  for (const SearchEntry& entry : path_) searched.push_back(printable(entry.path.string()));
  std::string skipped;
  for (const SkippedFolder& folder : search_.skipped)
    skipped += fmt::format("; not searched, as {}", folder.reason);
  const std::vector<std::string> known = names();
  throw Error(ErrorCode::plugin,
              fmt::format("no plugin named {}; found: {}; searched: {} (set PRIMSET_PLUGIN_PATH to "
                          "add folders){}",
                          name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")),
                          fmt::join(searched, ", "), skipped));
}

std::shared_ptr<Plugin> Registry::load(const PluginFile& file) const {
  if (plugin_name_of(file.path).empty())
    throw Error(ErrorCode::plugin, fmt::format("plugin {}: is not named lib<name>_primset.so",
                                               printable(file.path.string())));
  if (!file.refusal.empty())
    throw Error(ErrorCode::plugin, fmt::format("plugin {}: is not loaded: {}",
                                               printable(file.path.string()), file.refusal));
  auto library =
      std::make_shared<PluginLibrary>(file.path, file.name, options_.log, options_.cache);
  const primset_plugin* table = library->query(file.name);
  std::unique_ptr<ValidationLayer> layer;
  if (options_.validation)
    layer = ValidationLayer::wrap(table, library->host().get(), *options_.validation);
  return std::make_shared<Plugin>(std::move(library), table, std::move(layer), file.path);
}

std::shared_ptr<Plugin> Registry::plugin(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto it = loaded_.find(name); it != loaded_.end()) return it->second;
  std::shared_ptr<Plugin> plugin = load(find(name));
  loaded_.emplace(std::string(name), plugin);
  return plugin;
}

std::shared_ptr<PluginDevice> Registry::open(std::string_view device) {
  const auto [name, index] = parse_device(device);
  return plugin(name)->open(index);
}

// --- lists ---------------------------------------------------------------------------------------

std::vector<DeviceEntry> Registry::devices() {
  const auto limit = options_.probe ? probe_limit() : std::chrono::milliseconds(0);
  std::vector<DeviceEntry> entries;
  for (const std::string& name : names()) {
    try {
      for (DeviceEntry& entry : devices_of(name, limit)) entries.push_back(std::move(entry));
    } catch (const std::exception& e) {
      const auto file = std::ranges::find(search_.files, name, &PluginFile::name);
      entries.push_back({name, file->path, text_of(e), {}});
    }
  }
  return entries;
}

std::vector<DeviceEntry> Registry::devices_of(std::string_view name,
                                              std::chrono::milliseconds limit) {
  const PluginFile& file = find(name);
  if (is_stranger(file)) {
    // Of the file before it runs: one that is exchanged meanwhile is not remembered.
    const auto key = good_.key_of(file.path);
    if (!good_.contains(key)) {
      Probed probed = probe_plugin(options_.probe_program, file, limit, options_.log);
      if (!probed.error.empty()) throw Error(ErrorCode::plugin, probed.error);
      good_.add(key);
      return std::move(probed.devices);
    }
  }
  const uint32_t count = plugin(name)->device_count();
  std::vector<DeviceEntry> entries;
  for (uint32_t i = 0; i < count; ++i)
    entries.push_back({fmt::format("{}:{}", name, i), file.path, {}, {}});
  return entries;
}

// Whether the plugin is probed unless it has behaved before. A file that is not to be loaded, or is
// none that could be, has its error without being run.
bool Registry::is_stranger(const PluginFile& file) {
  if (!options_.probe || file.own || !file.refusal.empty() || plugin_name_of(file.path).empty())
    return false;
  {
    const std::lock_guard lock(mutex_);
    if (loaded_.contains(file.name)) return false;
  }
  if (options_.probe_program.empty()) {
    if (options_.log)
      options_.log(
          PRIMSET_LOG_INFO,
          fmt::format("primset-probe is missing beside the SDK's own plugins: plugin {} is "
                      "loaded to list its devices",
                      file.name));
    return false;
  }
  return true;
}

}  // namespace primset::plugin
