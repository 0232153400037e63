// Content-addressed files: compiled kernels that outlive the process.
//
// They are executed, so nobody else's may be taken for ours. They lie in folders that only this
// user can change (sdk/runtime/files/trusted_folder.h), are this user's alone (0600), and begin
// with an HMAC-SHA256 of their kind, their key and their content under a secret of this user's,
// which is in the file `secret` beside them: a file that was changed, renamed, or made elsewhere
// counts as damaged, and is replaced. A folder that is not trusted is done without.
//
// A file is written under a random name and renamed, so that other processes see all of it or
// none. The total size is bounded (cache_bound.h).
#ifndef PRIMSET_SDK_RUNTIME_CACHE_DISK_CACHE_H_
#define PRIMSET_SDK_RUNTIME_CACHE_DISK_CACHE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/base/descriptor.h"
#include "sdk/runtime/cache/cache_bound.h"
#include "sdk/runtime/cache/kernel_packs.h"
#include "sdk/runtime/cache/sha256.h"

namespace primset::runtime {

// Thread safe, and safe beside other processes.
class DiskCache {
 public:
  struct Settings {
    std::function<uint64_t()> max_bytes;  // asked whenever something is stored; empty: 1 GiB
    // level: PRIMSET_LOG_* of plugin.h. Empty: nothing is told.
    std::function<void(uint32_t level, std::string_view text)> log;
    std::shared_ptr<KernelPacks> packs;  // looked into first; null: none
  };
  // Makes the folder when it is missing. Where it is not trusted, a warning says why and the cache
  // is off. An empty path: off.
  explicit DiskCache(std::filesystem::path folder, Settings settings = {});

  struct Found {
    std::vector<uint8_t> bytes;
    bool damaged = false;  // the file is not ours, or not intact; bytes are empty
    bool packed = false;   // it is from a pack
  };
  // kind: whose entries, a file name: "kernels" or a plugin's name. nullopt: there is no file, nor
  // is it in a pack, which a cache that is off may have as well.
  std::optional<Found> load(const std::string& kind, const Digest& key) const;
  // Never throws: a full disk or a folder without permission is not the caller's error.
  void store(const std::string& kind, const Digest& key, std::span<const uint8_t> bytes) const;

  std::filesystem::path path_of(const std::string& kind, const Digest& key) const;
  // Of the kind's files.
  std::vector<Digest> keys_of(const std::string& kind) const;
  KernelPacks* packs() const { return settings_.packs.get(); }
  bool enabled() const { return !folder_.empty(); }
  // Empty when the cache is off.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Bucket {
    Descriptor folder;
    std::string file;
  };
  Bucket open_bucket(const std::string& kind, const Digest& key, bool make, std::string* why) const;
  bool load_secret(const Descriptor& folder);
  std::optional<Found> load_file(const std::string& kind, const Digest& key) const;
  Digest code_of(std::string_view kind, const Digest& key, std::span<const uint8_t> bytes) const;
  void tell(uint32_t level, std::string_view text) const;

  std::filesystem::path folder_;
  Settings settings_;
  CacheBound bound_;
  Digest secret_{};
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_DISK_CACHE_H_
