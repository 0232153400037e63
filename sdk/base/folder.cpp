#include "sdk/base/folder.h"

#include <dirent.h>

#include <memory>
#include <string_view>

namespace primset {
namespace {

struct Close {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
  if (!open) return names;
  while (const dirent* entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace primset
