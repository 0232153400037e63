// SHA-256 (FIPS 180-4): names and authentication codes of files in the kernel cache.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_SHA256_H_
#define PRIMSET_SDK_RUNTIME_CACHE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

// HMAC (RFC 2104, FIPS 198-1) of SHA-256 under a secret of 32 bytes.
class HmacSha256 {
 public:
  explicit HmacSha256(const Digest& secret);
  void add(std::span<const uint8_t> bytes) { inner_.add(bytes); }
  Digest finish();  // the object is spent

 private:
  std::array<uint8_t, 64> outer_pad_;
  Sha256 inner_;
};

Digest sha256(std::span<const uint8_t> bytes);
std::string hex(const Digest& digest);
// The inverse of hex(); nullopt for other text.
std::optional<Digest> digest_of_hex(std::string_view digits);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_SHA256_H_
