#include "sdk/base/printable.h"

#include <gtest/gtest.h>

namespace primset {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "NVIDIA H200", "a \"b\" \\ <c>", "\u00b5 \u4e2d \U0001f600"})
    EXPECT_EQ(printable(std::string_view(text)), text);
}

TEST(Printable, WhatIsNoTextIsEscaped) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"a\x1b[31mb", "a\\x1b[31mb"},
      {{"a\0b", 3}, "a\\x00b"},
      {"a\r\n\tb\x7f", "a\\x0d\\x0a\\x09b\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m"},                             // C1: CSI in one character
      {"\xe2\x80\xae", "\\xe2\\x80\\xae"},           // right-to-left override
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},           // line separator
      {"\xff\xfe", "\\xff\\xfe"},                    // no UTF-8 at all
      {"\xc0\x9b", "\\xc0\\x9b"},                    // overlong
      {"\xe0\x80\x9b", "\\xe0\\x80\\x9b"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above U+10FFFF
      {"\xe4\xb8", "\\xe4\\xb8"},                    // ends too early
      {"\xe4\xb8\xc3\xa4", "\\xe4\\xb8\xc3\xa4"},    // goes on after the mistake
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(printable(text), expected);
}

TEST(Printable, LinesOfACompilerAreKept) {
  EXPECT_EQ(printable("a\n\tb\r\x1b", 100, Newlines::keep), "a\n\tb\\x0d\\x1b");
}

TEST(Printable, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(printable(std::string_view("abcdef"), 4), "abcd... (2 more bytes)");
  EXPECT_EQ(printable(std::string_view("abc\u4e2d"), 4), "abc... (3 more bytes)");
  EXPECT_EQ(printable(std::string_view("abcd"), 4), "abcd");
  EXPECT_EQ(printable("abcdef", size_t{4}), "abcd... (cut)");
  EXPECT_EQ(printable("abc\u4e2d", size_t{4}), "abc... (cut)");
  EXPECT_EQ(printable("abcd", size_t{4}), "abcd");
  EXPECT_EQ(printable(nullptr, size_t{4}), "");
}

TEST(PrintableLines, TextStaysAsItIs) {
  for (const char* text : {"", "a line\nand\ta tab", "\"<&>\\", "\u00e9 \u4e2d \U0001f600"})
    EXPECT_EQ(printable_lines(text), text);
}

TEST(PrintableLines, ControlsAreWrittenOut) {
  EXPECT_EQ(printable_lines("\x1b[31mred\x07\r"), "\\x1b[31mred\\x07\\x0d");
  EXPECT_EQ(printable_lines(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable_lines("\u009b"), "\\xc2\\x9b") << "CSI as one character";
  EXPECT_EQ(printable_lines("a\u202eb"), "a\\xe2\\x80\\xaeb") << "from right to left";
}

TEST(PrintableLines, WhatIsNoUtf8IsWrittenOut) {
  EXPECT_EQ(printable_lines("a\xff"), "a\\xff");
  EXPECT_EQ(printable_lines("\xc3("), "\\xc3(");
  EXPECT_EQ(printable_lines("\xe4\xb8"), "\\xe4\\xb8") << "cut short";
  EXPECT_EQ(printable_lines("\xc0\xaf"), "\\xc0\\xaf") << "not the shortest form";
  EXPECT_EQ(printable_lines("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable_lines("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

}  // namespace
}  // namespace primset
