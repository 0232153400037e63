#include "sdk/runtime/plugin/loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <primset/error.h>

#include <algorithm>
#include <charconv>

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

}  // namespace

Registry::Registry(LoaderOptions options) : options_(std::move(options)) {
  path_ = options_.path ? *options_.path : default_plugin_path(options_.fallback_folders);
  if (!options_.validation) options_.validation = validation_from_environment();
  files_ = find_plugin_files(path_);
}

Registry::~Registry() = default;

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const PluginFile& file : files_)
    if (std::find(names.begin(), names.end(), file.name) == names.end()) names.push_back(file.name);
  return names;
}

const PluginFile& Registry::find(std::string_view name) const {
  const PluginFile* found = nullptr;
  for (const PluginFile& file : files_) {
    if (file.name != name) continue;
    if (found)
      throw Error(ErrorCode::plugin,
                  fmt::format("two plugins are named {}: {} and {}; remove one, or take its folder "
                              "out of PRIMSET_PLUGIN_PATH",
                              name, found->path.string(), file.path.string()));
    found = &file;
  }
  if (found) return *found;
  std::vector<std::string> searched;
  for (const fs::path& entry : path_) searched.push_back(entry.string());
  const std::vector<std::string> known = names();
  throw Error(ErrorCode::plugin,
              fmt::format("no plugin named {}; found: {}; searched: {} (set PRIMSET_PLUGIN_PATH to "
                          "add folders)",
                          name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")),
                          fmt::join(searched, ", ")));
}

std::shared_ptr<Plugin> Registry::load(const PluginFile& file) const {
  if (plugin_name_of(file.path).empty())
    throw Error(ErrorCode::plugin,
                fmt::format("plugin {}: is not named lib<name>_primset.so", file.path.string()));
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

std::vector<DeviceEntry> Registry::devices() {
  std::vector<DeviceEntry> entries;
  for (const std::string& name : names()) {
    fs::path file;
    for (const PluginFile& f : files_)
      if (f.name == name) file = f.path;
    try {
      const std::shared_ptr<Plugin> loaded = plugin(name);
      const uint32_t count = loaded->device_count();
      for (uint32_t i = 0; i < count; ++i)
        entries.push_back({fmt::format("{}:{}", name, i), file, {}});
    } catch (const Error& e) {
      entries.push_back({name, file, e.what()});
    }
  }
  return entries;
}

}  // namespace primset::plugin
