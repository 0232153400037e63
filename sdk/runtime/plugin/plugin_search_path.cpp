#include "sdk/runtime/plugin/plugin_search_path.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace primset::plugin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "lib", kSuffix = "_primset.so";

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

}  // namespace

fs::path path_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value) : fs::path();
}

std::string plugin_name_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.size() <= kPrefix.size() + kSuffix.size()) return {};
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
}

std::vector<fs::path> default_plugin_path(const std::vector<fs::path>& fallback_folders) {
  std::vector<fs::path> path;
  if (const char* variable = std::getenv("PRIMSET_PLUGIN_PATH")) path = split_path(variable);
  if (const fs::path data = path_from_environment("XDG_DATA_HOME"); !data.empty())
    path.push_back(data / "primset/plugins");
  else if (const fs::path home = path_from_environment("HOME"); !home.empty())
    path.push_back(home / ".local/lib/primset/plugins");
  if (const fs::path installed = installed_folder(); !installed.empty())
    path.push_back(installed);
  else
    path.insert(path.end(), fallback_folders.begin(), fallback_folders.end());
  return path;
}

std::vector<PluginFile> find_plugin_files(const std::vector<fs::path>& search_path) {
  std::vector<PluginFile> files;
  for (const fs::path& entry : search_path) add_files(entry, files);
  return files;
}

}  // namespace primset::plugin
