#include "sdk/base/printable.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <iterator>

namespace primset {
namespace {

struct Character {
  char32_t code = 0;
  size_t bytes = 0;  // 0: the text does not begin with a character
};

// The first character of a text that is not empty, as RFC 3629 defines UTF-8: no overlong forms, no
// surrogates, nothing above U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

bool is_control(char32_t c) {
  const bool ends_line = c == 0x2028 || c == 0x2029;
  const bool turns_text =
      c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  const bool xml_has_none = c == 0xfffe || c == 0xffff;
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || ends_line || turns_text || xml_has_none;
}

}  // namespace

std::string printable(std::string_view text, size_t max_bytes, Newlines newlines) {
  std::string out;
  size_t at = 0;
  while (at < text.size() && at < max_bytes) {
    const Character c = first_character(text.substr(at));
    if (c.bytes > 0 && at + c.bytes > max_bytes) break;  // no half characters
    const bool kept = newlines == Newlines::keep && (c.code == '\n' || c.code == '\t');
    const size_t bytes = c.bytes > 0 ? c.bytes : 1;
    if (c.bytes > 0 && (kept || !is_control(c.code))) {
      out.append(text, at, bytes);
    } else {
      for (size_t i = at; i < at + bytes; ++i)
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint8_t>(text[i]));
    }
    at += bytes;
  }
  if (at < text.size())
    fmt::format_to(std::back_inserter(out), "... ({} more bytes)", text.size() - at);
  return out;
}

std::string printable(const char* text, size_t max_bytes, Newlines newlines) {
  if (!text) return {};
  // The text may have no end: one byte beyond the limit tells that there is more.
  const size_t bytes = strnlen(text, max_bytes + 1);
  if (bytes <= max_bytes) return printable(std::string_view(text, bytes), max_bytes, newlines);
  // A character that the limit cuts in two is dropped like what follows it.
  size_t whole = max_bytes;
  for (size_t back = 0; back < 4 && whole > 0; ++back) {
    if ((static_cast<uint8_t>(text[whole]) & 0xc0) != 0x80) break;
    --whole;
  }
  return printable(std::string_view(text, whole), max_bytes, newlines) + "... (cut)";
}

}  // namespace primset
