#include "utf8.h"

namespace sentence_embedding {
namespace {

// The code point at text[at], which moves on; U+FFFD for one malformed byte.
char32_t decode_one(std::string_view text, size_t& at) {
  constexpr char32_t kReplacement = 0xFFFD;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at++);
  if (lead < 0x80) return lead;
  const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || at + more > text.size()) return kReplacement;
  char32_t c = lead & (0x3F >> more);
  for (size_t i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return kReplacement;
    c = c << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0x80, 0x800, 0x10000};
  if (c < kSmallest[more - 1] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return kReplacement;
  at += more;
  return c;
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) out += decode_one(text, at);
  return out;
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char32_t c : text) {
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out += static_cast<char>((0xF00 >> (more + 1) & 0xFF) | c >> (6 * more));
    for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
  }
  return out;
}

}  // namespace sentence_embedding
