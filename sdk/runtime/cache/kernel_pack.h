// Kernels compiled ahead of time, in one file: `primset pack` writes it, and a bundle or a vendor
// ships it (docs/decisions/kernel_packs.md).
//
//   header   magic "PSPACK01", bytes of the file, number of entries, bytes of the identity,
//   checksum identity four lines: plugin, device, build, target index    for each entry, in the
//   order of names: name, offset, bytes, checksum content
//
// All numbers are little-endian words of 8 bytes. Checksums are SHA-256: the header's is of the
// header itself (with zeros in its place), the identity and the index; an entry's is of its
// content. A name is the SHA-256 of an entry's kind and key, as in the cache on disk.
//
// What is in a pack is executed. So a file that others could have written is not opened; what is
// read is checked before anything looks at it, and content whenever it is handed out, on bytes that
// nobody can change any more.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_KERNEL_PACK_H_
#define PRIMSET_SDK_RUNTIME_CACHE_KERNEL_PACK_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/base/descriptor.h"
#include "sdk/runtime/cache/sha256.h"

namespace primset::runtime {

// What a pack was made by and for.
struct PackIdentity {
  std::string plugin;  // "acme"
  std::string device;  // "NVIDIA H200", for people
  std::string build;   // of Primset's emitters (emit::emitter_version)
  std::string target;  // all that kernels depend on of a device (describe)
};

// Why a pack of `pack` holds nothing for `here`; empty: it does.
std::string difference(const PackIdentity& pack, const PackIdentity& here);

// Of the kind ("kernels", or a plugin's name) and key that a compiled kernel is cached under.
Digest pack_name(std::string_view kind, const Digest& key);

struct PackEntry {
  Digest name;
  std::vector<uint8_t> content;
};
// Whole or not at all; readable by everybody. Throws std::system_error.
void write_pack(const std::filesystem::path& file, const PackIdentity& identity,
                std::vector<PackEntry> entries);

// Thread safe.
class KernelPack {
 public:
  // Null when the file is damaged, or may have been written by others; `refusal` says why.
  static std::shared_ptr<const KernelPack> open(const std::filesystem::path& file,
                                                std::string& refusal);

  const std::filesystem::path& file() const { return file_; }
  const PackIdentity& identity() const { return identity_; }
  size_t size() const { return index_.size(); }
  uint64_t bytes() const { return bytes_; }

  // The content of the entry; nullopt: there is none, or the pack is damaged, which `damage` then
  // says once. A damaged pack hands out nothing any more.
  std::optional<std::vector<uint8_t>> find(const Digest& name, std::string& damage) const;
  // Reads and checks everything. What is wrong; empty: nothing.
  std::string check() const;

 private:
  struct Place {
    Digest name;
    uint64_t offset = 0, bytes = 0;
    Digest checksum;
  };
  KernelPack() = default;
  std::string read();
  bool read_index(std::span<const uint8_t> index, uint64_t begin);
  std::optional<std::vector<uint8_t>> content_of(const Place& place) const;

  std::filesystem::path file_;
  Descriptor descriptor_;
  PackIdentity identity_;
  std::vector<Place> index_;
  uint64_t bytes_ = 0;
  mutable std::atomic<bool> damaged_ = false;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_KERNEL_PACK_H_
