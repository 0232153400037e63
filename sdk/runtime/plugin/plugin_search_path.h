// Where plugins are searched, and the files found there. Loads nothing.
//
// The search path, in this order:
//   1. PRIMSET_PLUGIN_PATH: folders and files, separated by colons
//   2. the user's folder: $XDG_DATA_HOME/primset/plugins where that is set, else
//      ~/.local/lib/primset/plugins
//   3. the installed folder: primset/plugins beside the SDK's library or, where there is none, the
//      fallback folders that the caller names (a build tree)
// A plugin is a file lib<name>_primset.so. It is executed, so 2. and 3. are only searched where
// nobody but this user, or root, can have put anything (sdk/runtime/files/trusted_folder.h); nor is
// a file there taken that others may write. 1. is the user's own word and taken as it is, with a
// warning. A program of more rights than its user's (set-user-ID) does without 1. and 2.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_PLUGIN_SEARCH_PATH_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_PLUGIN_SEARCH_PATH_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace primset::plugin {

// Whose word an entry of the search path is.
enum class Named : uint8_t {
  expressly,   // the user's or the program's, for this purpose
  by_default,  // a folder of the user's
  own          // the folder of the plugins that come with the SDK
};

struct SearchEntry {
  std::filesystem::path path;
  Named named = Named::expressly;
};

// A file found, not yet loaded.
struct PluginFile {
  std::string name;  // "acme"
  std::filesystem::path path;
  bool own = false;     // it came with the SDK
  std::string refusal;  // why it is not to be loaded; empty: it may be
};

// A folder of the path that was not searched.
struct SkippedFolder {
  std::filesystem::path path;
  std::string reason;  // "/tmp/shared may be written by others (mode 0777)"
};

struct PluginSearch {
  std::vector<PluginFile> files;  // in the path's order, each once; two may have one name
  std::vector<SkippedFolder> skipped;
  std::vector<std::string> warnings;
};

// The default search path, as described above.
std::vector<SearchEntry> default_plugin_path(
    const std::vector<std::filesystem::path>& fallback_folders);
PluginSearch find_plugin_files(std::span<const SearchEntry> search_path);
// The name in lib<name>_primset.so; empty when the file name has another form.
std::string plugin_name_of(const std::filesystem::path& file);
// Why others may have changed a file that is to be executed; empty: they cannot have.
std::string file_refusal(const std::filesystem::path& file);

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_PLUGIN_SEARCH_PATH_H_
