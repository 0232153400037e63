#include "sdk/runtime/plugin/plugin_search_path.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "sdk/base/folder.h"
#include "sdk/base/printable.h"
#include "sdk/runtime/files/trusted_folder.h"

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

// The library or, linked statically, the program that this code is in; empty when nobody knows.
fs::path own_file() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&default_plugin_path), &info) || !info.dli_fname)
    return {};
  // Of a program that was found in PATH, dladdr knows no more than the name that was typed.
  const bool has_folder = std::string_view(info.dli_fname).find('/') != std::string_view::npos;
  std::error_code error;
  const fs::path file = fs::canonical(has_folder ? info.dli_fname : "/proc/self/exe", error);
  return error ? fs::path() : file;
}

// primset/plugins beside the file this code is in: <prefix>/lib/libprimset.so, or, linked
// statically, <prefix>/bin/program.
fs::path installed_folder() {
  const fs::path folder = own_file().parent_path();
  if (folder.empty()) return {};
  std::error_code error;
  for (const char* relative : {"primset/plugins", "../lib/primset/plugins"}) {
    const fs::path candidate = (folder / relative).lexically_normal();
    if (fs::is_directory(candidate, error)) return candidate;
  }
  return {};
}

// The value of an environment variable; empty when it is not set, and for a program that has more
// rights than who set it.
fs::path path_from_environment(const char* variable) {
  const char* value = secure_getenv(variable);
  return value && *value ? fs::path(value) : fs::path();
}

// The files of an entry. A folder that is missing holds none; a file that is named expressly is
// taken whatever it is, so that its error is reported.
std::vector<fs::path> candidates(const fs::path& entry) {
  std::error_code error;
  if (!fs::is_directory(entry, error))
    return fs::exists(entry, error) ? std::vector{entry} : std::vector<fs::path>();
  std::vector<fs::path> found;
  for (const std::string& name : names_in(entry))
    if (!plugin_name_of(entry / name).empty()) found.push_back(entry / name);
  std::sort(found.begin(), found.end());  // the same order on every machine
  return found;
}

// What lies beside the library is as good as the library, whoever owns the installation: a build in
// a container of a folder that another user mounted, for example. Refused is what is more open.
std::string own_refusal(const fs::path& path) {
  struct stat s, library, folder;
  const fs::path self = own_file();
  if (stat(path.c_str(), &s) != 0 || stat(self.c_str(), &library) != 0 ||
      stat(self.parent_path().c_str(), &folder) != 0)
    return fmt::format("{}: {}", printable(path.string()),
                       std::error_code(errno, std::generic_category()).message());
  const bool owned = s.st_uid == geteuid() || s.st_uid == 0 || s.st_uid == library.st_uid;
  const bool open = !owned || runtime::others_may_write(s);
  if (!open || runtime::others_may_write(library) || runtime::others_may_write(folder)) return {};
  return fmt::format(
      "{} belongs to user {} and has mode {:04o}; expected the owner of {}, and "
      "nobody else to write it",
      printable(path.string()), s.st_uid, s.st_mode & 07777u, printable(self.string()));
}

class Search {
 public:
  explicit Search(std::span<const SearchEntry> search_path) {
    for (const SearchEntry& entry : search_path) add(entry);
    // A folder of the SDK's own is that by whichever entry its files were found.
    for (PluginFile& file : search_.files)
      file.own |= std::ranges::count(own_folders_, file.path.parent_path()) > 0;
  }
  PluginSearch take() { return std::move(search_); }

 private:
  void add(const SearchEntry& entry) {
    std::error_code error;
    if (!fs::exists(entry.path, error)) return;
    if (fs::is_directory(entry.path, error)) {
      const std::string refusal =
          entry.named == Named::own
              ? own_refusal(entry.path)
              : printable(std::string_view(
                    runtime::open_trusted_folder(entry.path, runtime::Missing::refuse).refusal));
      if (!refusal.empty() && entry.named != Named::expressly) {
        search_.skipped.push_back({entry.path, refusal});
        return;
      }
      if (!refusal.empty()) return warn_and_add(entry, refusal);
      if (entry.named == Named::own) own_folders_.push_back(fs::canonical(entry.path, error));
    }
    for (const fs::path& file : candidates(entry.path)) {
      const std::string refusal = add_file(file, entry.named);
      if (refusal.empty()) continue;
      if (entry.named == Named::expressly)
        warn(refusal);
      else
        search_.files.back().refusal = refusal;
    }
  }

  void warn_and_add(const SearchEntry& entry, const std::string& refusal) {
    warn(refusal);
    for (const fs::path& file : candidates(entry.path)) add_file(file, entry.named);
  }

  // What is to be said against the file; empty for one that is known already.
  std::string add_file(const fs::path& file, Named named) {
    std::error_code error;
    std::string name = plugin_name_of(file);
    if (name.empty()) name = printable(file.filename().string());
    const fs::path real = fs::weakly_canonical(file, error);
    for (const PluginFile& known : search_.files)
      if (known.path == real) return {};
    search_.files.push_back({std::move(name), real, false, {}});
    return named == Named::own ? own_refusal(real) : file_refusal(real);
  }

  void warn(const std::string& refusal) {
    search_.warnings.push_back(
        fmt::format("{}: whoever that is may run code here, as plugins of PRIMSET_PLUGIN_PATH are "
                    "loaded wherever they are",
                    refusal));
  }

  PluginSearch search_;
  std::vector<fs::path> own_folders_;
};

}  // namespace

std::string plugin_name_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.size() <= kPrefix.size() + kSuffix.size()) return {};
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
}

std::string file_refusal(const fs::path& file) {
  const runtime::TrustedFolder folder =
      runtime::open_trusted_folder(file.parent_path(), runtime::Missing::refuse);
  if (!folder) return printable(std::string_view(folder.refusal));
  const std::string shown = printable(file.string());
  struct stat s;
  if (fstatat(folder.descriptor.get(), file.filename().c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0)
    return fmt::format("{}: {}", shown, std::error_code(errno, std::generic_category()).message());
  if (!S_ISREG(s.st_mode)) return fmt::format("{} is no regular file", shown);
  if (s.st_uid != geteuid() && s.st_uid != 0)
    return fmt::format("{} belongs to user {}, not to user {}", shown, s.st_uid, geteuid());
  if (runtime::others_may_write(s))
    return fmt::format("{} may be written by others (mode {:04o})", shown, s.st_mode & 07777u);
  return {};
}

std::vector<SearchEntry> default_plugin_path(const std::vector<fs::path>& fallback_folders) {
  std::vector<SearchEntry> path;
  for (fs::path& entry : split_path(path_from_environment("PRIMSET_PLUGIN_PATH").string()))
    path.push_back({std::move(entry), Named::expressly});
  if (const fs::path data = path_from_environment("XDG_DATA_HOME"); !data.empty())
    path.push_back({data / "primset/plugins", Named::by_default});
  else if (const fs::path home = path_from_environment("HOME"); !home.empty())
    path.push_back({home / ".local/lib/primset/plugins", Named::by_default});
  if (const fs::path installed = installed_folder(); !installed.empty()) {
    path.push_back({installed, Named::own});
    return path;
  }
  for (const fs::path& folder : fallback_folders) path.push_back({folder, Named::own});
  return path;
}

PluginSearch find_plugin_files(std::span<const SearchEntry> search_path) {
  return Search(search_path).take();
}

}  // namespace primset::plugin
