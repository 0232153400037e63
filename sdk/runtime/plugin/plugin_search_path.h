// Where plugins are searched, and the files found there. Loads nothing.
//
// The search path, in this order:
//   1. PRIMSET_PLUGIN_PATH: folders and files, separated by colons
//   2. the user's folder: $XDG_DATA_HOME/primset/plugins where that is set, else
//      ~/.local/lib/primset/plugins
//   3. the installed folder: primset/plugins beside the SDK's library or, where there is none, the
//      fallback folders that the caller names (a build tree)
// A plugin is a file lib<name>_primset.so.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_PLUGIN_SEARCH_PATH_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_PLUGIN_SEARCH_PATH_H_

#include <filesystem>
#include <string>
#include <vector>

namespace primset::plugin {

// A file found, not yet loaded.
struct PluginFile {
  std::string name;  // "acme"
  std::filesystem::path path;
};

// The default search path, as described above.
std::vector<std::filesystem::path> default_plugin_path(
    const std::vector<std::filesystem::path>& fallback_folders);
// The plugins of a search path, in its order, each file once. Two files may have one name.
std::vector<PluginFile> find_plugin_files(const std::vector<std::filesystem::path>& search_path);
// The name in lib<name>_primset.so; empty when the file name has another form.
std::string plugin_name_of(const std::filesystem::path& file);
// The value of an environment variable; empty when it is not set.
std::filesystem::path path_from_environment(const char* variable);

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_PLUGIN_SEARCH_PATH_H_
