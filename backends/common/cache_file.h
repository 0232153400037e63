// Files that back ends keep between processes: compiled pipelines and modules. Drivers trust what
// they are given, so damage must show here.
#ifndef PRIMSET_BACKENDS_COMMON_CACHE_FILE_H_
#define PRIMSET_BACKENDS_COMMON_CACHE_FILE_H_

#include <primset/plugin.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace primset_backend {

// FNV-1a: against accidents, not against attackers.
uint64_t hash_of(std::string_view bytes, uint64_t seed = 0xcbf29ce484222325);

// The path of `name` in the folder that the host gives for caches; empty when it gives none.
std::string cache_path(const primset_host* host, std::string_view name);

// magic: eight characters that say what is inside, and in which version.
class CacheFile {
 public:
  CacheFile(std::string path, std::string_view magic) : path_(std::move(path)), magic_(magic) {}

  // Empty when there is no file, or it is not whole.
  std::vector<char> read() const;
  // Under a name of its own, then renamed, so that other processes see the old file or the new one.
  // Throws std::runtime_error.
  void write(std::string_view bytes) const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string magic_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_CACHE_FILE_H_
