// The packs of kernels that this process uses (kernel_pack.h): those that PRIMSET_PACK names,
// lib<name>_primset.pack or lib<name>_primset.*.pack beside a plugin's file, and what a program
// adds.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_KERNEL_PACKS_H_
#define PRIMSET_SDK_RUNTIME_CACHE_KERNEL_PACKS_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/runtime/cache/kernel_pack.h"

namespace primset::runtime {

// Thread safe.
class KernelPacks {
 public:
  struct Settings {
    std::vector<std::filesystem::path> named;  // by the user
    bool off = false;                          // none at all
    // level: PRIMSET_LOG_* of plugin.h. Empty: nothing is told.
    std::function<void(uint32_t level, std::string_view text)> log;
  };
  explicit KernelPacks(Settings settings) : settings_(std::move(settings)) {}

  // Whether there are packs that a device of the plugin in this file may take up.
  bool may_serve(const std::filesystem::path& plugin_file) const;
  // Takes up those that are for the device. Of the others an error says why not, where they were
  // meant to be: a damaged one, one of another build, and one that the user named.
  void open_for(const PackIdentity& here, const std::filesystem::path& plugin_file);
  // Takes up one. Why not; empty: it is in use.
  std::string add(const std::filesystem::path& file, const PackIdentity& here);

  // Of the kind and key of the cache on disk.
  std::optional<std::vector<uint8_t>> find(std::string_view kind, const Digest& key) const;

 private:
  using Pack = std::shared_ptr<const KernelPack>;
  struct Opened {
    Pack pack;
    std::string refusal;
  };
  std::vector<std::filesystem::path> candidates(const std::filesystem::path& plugin_file) const;
  Opened open(const std::filesystem::path& file) const;
  Pack known(const std::filesystem::path& file) const;
  void use(Pack pack, const PackIdentity& here);
  void refuse(const std::filesystem::path& file, std::string_view why) const;
  void tell(uint32_t level, std::string_view text) const;

  const Settings settings_;
  mutable std::mutex mutex_;
  std::vector<Pack> packs_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_KERNEL_PACKS_H_
