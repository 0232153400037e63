// Bounds the total size of cached files: the runtime's compiled kernels and what plugins keep
// beside them (plugin.h, cache_folder), all in one folder (docs/decisions/kernel_cache.md).
//
// Such a file is <folder>/<kernels or a plugin>/<two hexadecimal digits>/<more digits>.<suffix>; no
// other file is ever removed. Its modification time is that of its last use.
//
// The sum of their sizes is in a file of its own, which a process locks to change: the sizes at the
// last count plus what the runtime has written since. When it exceeds the limit the
// files are counted again, and the least recently used are removed.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_CACHE_BOUND_H_
#define PRIMSET_SDK_RUNTIME_CACHE_CACHE_BOUND_H_

#include <cstdint>
#include <filesystem>

namespace primset::runtime {

// Thread safe, and safe beside other processes.
class CacheBound {
 public:
  explicit CacheBound(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Accounts for a file of so many bytes that was written, and keeps the sum of all below the
  // limit. Returns how many files were removed for that. Never throws: a folder without permission
  // is not the caller's error.
  size_t add(uint64_t bytes, uint64_t limit) const;

 private:
  uint64_t remove_unused(uint64_t limit, size_t& removed) const;

  std::filesystem::path folder_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_CACHE_BOUND_H_
