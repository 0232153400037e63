// Text of others (plugins, devices, their files) made safe to show: valid UTF-8 without control
// characters, for terminals, logs and JSON alike. What is not is written as \xNN, byte by byte.
#ifndef PRIMSET_SDK_BASE_PRINTABLE_H_
#define PRIMSET_SDK_BASE_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace primset {

enum class Newlines : unsigned char {
  escape,  // one line
  keep     // and tabs: what a compiler says has lines
};

// Escaped are: invalid UTF-8, control characters (C0, DEL and C1, so every escape sequence), line
// separators, and the characters that change the direction of text around them. Of more than
// `max_bytes` bytes the first are taken, and the result says how many are missing.
std::string printable(std::string_view text, size_t max_bytes = 4096,
                      Newlines newlines = Newlines::escape);

// The same of a C string, of which no more than max_bytes + 1 bytes are read; NULL is "".
std::string printable(const char* text, size_t max_bytes, Newlines newlines = Newlines::escape);

// Whole texts, with their newlines.
inline std::string printable_lines(std::string_view text) {
  return printable(text, SIZE_MAX, Newlines::keep);
}

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_PRINTABLE_H_
