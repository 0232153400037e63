#include "prims/graph/intern.h"

#include <mutex>
#include <set>
#include <string>

namespace primset::prims {

std::string_view intern(std::string_view s) {
  static auto* names =
      new std::set<std::string, std::less<>>;  // never freed: views outlive statics
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto it = names->find(s);
  if (it == names->end()) it = names->emplace(s).first;
  return *it;
}

}  // namespace primset::prims
