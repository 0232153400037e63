// Bounds the bytes of the files that outlive processes: the runtime's compiled kernels and what
// plugins keep beside them (plugin.h, cache_folder), all in one folder.
//
// Such a file is <folder>/<kernels or a plugin>/<two hexadecimal digits>/<more digits>.<suffix>; no
// other is ever removed. Its modification time says when it was used last.
//
// The sum of their bytes is in a file of its own, which a process locks to change. It is what the
// files had when they were last counted and what the runtime has written since. When it is above
// Options::max_disk_bytes the files are counted, and those not used for longest removed.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_CACHE_BOUND_H_
#define PRIMSET_SDK_RUNTIME_CACHE_CACHE_BOUND_H_

#include <cstdint>
#include <filesystem>

namespace primset::runtime {

// Thread safe, and safe beside other processes.
class CacheBound {
 public:
  explicit CacheBound(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // A file of so many bytes was written. Failing (a folder without permission) is not an error of
  // the caller's.
  void add(uint64_t bytes) const;

 private:
  uint64_t remove_unused(uint64_t limit) const;

  std::filesystem::path folder_;
};

// Says that the file was used now.
void touch(const std::filesystem::path& file);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_CACHE_BOUND_H_
