#include "sdk/runtime/cache/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace primset::runtime {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

}  // namespace

void Sha256::block(const uint8_t* bytes) {
  std::array<uint32_t, 64> w;
  for (int i = 0; i < 16; ++i) w[i] = big_endian(bytes + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += add[i];
}

void Sha256::add(std::span<const uint8_t> bytes) {
  size_t fill = total_ % 64;
  total_ += bytes.size();
  while (!bytes.empty()) {
    if (fill == 0 && bytes.size() >= 64) {
      block(bytes.data());
      bytes = bytes.subspan(64);
      continue;
    }
    const size_t n = std::min(64 - fill, bytes.size());
    std::memcpy(pending_.data() + fill, bytes.data(), n);
    bytes = bytes.subspan(n);
    fill += n;
    if (fill == 64) {
      block(pending_.data());
      fill = 0;
    }
  }
}

void Sha256::add(std::string_view text) {
  add(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Digest Sha256::finish() {
  const uint64_t bits = total_ * 8;
  const uint8_t one = 0x80, zero = 0;
  add(std::span(&one, 1));
  while (total_ % 64 != 56) add(std::span(&zero, 1));
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  add(std::span(length, 8));
  Digest out;
  for (size_t i = 0; i < 32; ++i)
    out[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

HmacSha256::HmacSha256(const Digest& secret) {
  std::array<uint8_t, 64> inner_pad;
  inner_pad.fill(0x36);
  outer_pad_.fill(0x5c);
  for (size_t i = 0; i < secret.size(); ++i) {
    inner_pad[i] ^= secret[i];
    outer_pad_[i] ^= secret[i];
  }
  inner_.add(std::span<const uint8_t>(inner_pad));
}

Digest HmacSha256::finish() {
  Sha256 outer;
  outer.add(std::span<const uint8_t>(outer_pad_));
  outer.add(std::span<const uint8_t>(inner_.finish()));
  return outer.finish();
}

Digest sha256(std::span<const uint8_t> bytes) {
  Sha256 h;
  h.add(bytes);
  return h.finish();
}

std::string hex(const Digest& digest) {
  std::string out;
  for (uint8_t b : digest) out += fmt::format("{:02x}", b);
  return out;
}

std::optional<Digest> digest_of_hex(std::string_view digits) {
  Digest out;
  if (digits.size() != 2 * out.size()) return std::nullopt;
  for (size_t i = 0; i < out.size(); ++i) {
    const char* begin = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, out[i], 16);
    if (error != std::errc{} || end != begin + 2) return std::nullopt;
  }
  return out;
}

}  // namespace primset::runtime
