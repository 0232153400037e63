// Content-addressed files: compiled kernels that outlive the process.
//
// A file holds a header (magic, size, SHA-256 of the payload) and the payload. It is written under
// a temporary name and renamed, so that other processes see all of it or none. A damaged file
// counts as absent and is replaced. Their total size is bounded (cache_bound.h).
#ifndef PRIMSET_SDK_RUNTIME_CACHE_DISK_CACHE_H_
#define PRIMSET_SDK_RUNTIME_CACHE_DISK_CACHE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "sdk/runtime/cache/cache_bound.h"
#include "sdk/runtime/cache/sha256.h"

namespace primset::runtime {

// Thread safe, and safe beside other processes.
class DiskCache {
 public:
  // An empty folder: nothing is stored.
  explicit DiskCache(std::filesystem::path folder) : folder_(std::move(folder)), bound_(folder_) {}

  struct Found {
    std::vector<uint8_t> bytes;
    bool damaged = false;  // the file is not intact; bytes are empty
  };
  // nullopt: there is no file.
  std::optional<Found> load(const Digest& key) const;
  // Never throws: a full disk or a folder without permission is not the caller's error.
  void store(const Digest& key, std::span<const uint8_t> bytes) const;

  std::filesystem::path path_of(const Digest& key) const;
  bool enabled() const { return !folder_.empty(); }

 private:
  std::filesystem::path folder_;
  CacheBound bound_;
};

// $PRIMSET_CACHE, else $XDG_CACHE_HOME/primset, else ~/.cache/primset; empty for PRIMSET_CACHE=off.
std::filesystem::path cache_folder();

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_DISK_CACHE_H_
