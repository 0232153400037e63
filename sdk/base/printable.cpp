#include "sdk/base/printable.h"

#include <cstddef>
#include <cstdint>

namespace primset {
namespace {

struct Character {
  size_t bytes = 0;  // 0: no UTF-8
  uint32_t code = 0;
};

// As RFC 3629 has it: shortest forms only, no surrogates, nothing beyond U+10FFFF.
Character decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t first = byte(0);
  if (first < 0x80) return {1, first};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
  return {bytes, code};
}

// C0, DEL, C1; marks that turn the direction of text around; what XML has no character for.
bool is_control(uint32_t c) {
  if (c == '\n' || c == '\t') return false;
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfffe || c == 0xffff;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr const char* kHex = "0123456789abcdef";
  for (char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = decode(text);
    const std::string_view bytes = text.substr(0, c.bytes == 0 ? 1 : c.bytes);
    if (c.bytes == 0 || is_control(c.code))
      append_escaped(out, bytes);
    else
      out += bytes;
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace primset
