#include "sdk/runtime/plugin/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <primset/error.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace primset::plugin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "lib", kSuffix = "_primset.so";

fs::path env_path(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value) : fs::path();
}

std::vector<fs::path> split_path(std::string_view text) {
  std::vector<fs::path> parts;
  while (!text.empty()) {
    const size_t colon = std::min(text.find(':'), text.size());
    if (colon > 0) parts.emplace_back(text.substr(0, colon));
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return parts;
}

// primset/plugins beside the file this code is in: <prefix>/lib/libprimset.so, or, linked
// statically, <prefix>/bin/program.
fs::path installed_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&default_plugin_path), &info) || !info.dli_fname)
    return {};
  std::error_code error;
  const fs::path folder = fs::canonical(info.dli_fname, error).parent_path();
  if (error) return {};
  for (const char* relative : {"primset/plugins", "../lib/primset/plugins"}) {
    const fs::path candidate = (folder / relative).lexically_normal();
    if (fs::is_directory(candidate, error)) return candidate;
  }
  return {};
}

// Adds the plugins of one entry of the search path. A folder that is missing holds none; a file
// that is named expressly is taken whatever it is, so that its error is reported.
void add_files(const fs::path& entry, std::vector<PluginFile>& files) {
  std::error_code error;
  std::vector<fs::path> found;
  if (fs::is_directory(entry, error)) {
    for (const fs::directory_entry& file : fs::directory_iterator(entry, error))
      if (!plugin_name_of(file.path()).empty()) found.push_back(file.path());
    std::sort(found.begin(), found.end());  // the same order on every machine
  } else if (fs::exists(entry, error)) {
    found.push_back(entry);
  }
  for (const fs::path& file : found) {
    std::string name = plugin_name_of(file);
    if (name.empty()) name = file.filename().string();
    const fs::path real = fs::weakly_canonical(file, error);
    const bool known = std::any_of(files.begin(), files.end(),
                                   [&](const PluginFile& f) { return f.path == real; });
    if (!known) files.push_back({std::move(name), real});
  }
}

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

std::string plugin_name_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.size() <= kPrefix.size() + kSuffix.size()) return {};
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
}

std::vector<fs::path> default_plugin_path(const std::vector<fs::path>& fallback_folders) {
  std::vector<fs::path> path;
  if (const char* variable = std::getenv("PRIMSET_PLUGIN_PATH")) path = split_path(variable);
  if (const fs::path data = env_path("XDG_DATA_HOME"); !data.empty())
    path.push_back(data / "primset/plugins");
  else if (const fs::path home = env_path("HOME"); !home.empty())
    path.push_back(home / ".local/lib/primset/plugins");
  if (const fs::path installed = installed_folder(); !installed.empty())
    path.push_back(installed);
  else
    path.insert(path.end(), fallback_folders.begin(), fallback_folders.end());
  return path;
}

Registry::Registry(LoaderOptions options) : options_(std::move(options)) {
  path_ = options_.path ? *options_.path : default_plugin_path(options_.fallback_folders);
  if (!options_.validation) options_.validation = validation_from_environment();
  for (const fs::path& entry : path_) add_files(entry, files_);
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
