// SHA-256 (FIPS 180-4): names and checksums of files in the kernel cache.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_SHA256_H_
#define PRIMSET_SDK_RUNTIME_CACHE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace primset::runtime {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  void add(std::span<const uint8_t> bytes);
  void add(std::string_view text);
  Digest finish();  // the object is spent

 private:
  void block(const uint8_t* bytes);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  uint64_t total_ = 0;
};

Digest sha256(std::span<const uint8_t> bytes);
std::string hex(const Digest& digest);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_SHA256_H_
