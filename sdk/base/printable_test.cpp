#include "sdk/base/printable.h"

#include <gtest/gtest.h>

namespace primset {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "a line\nand\ta tab", "\"<&>\\", "\u00e9 \u4e2d \U0001f600"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlsAreWrittenOut) {
  EXPECT_EQ(printable("\x1b[31mred\x07\r"), "\\x1b[31mred\\x07\\x0d");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("\u009b"), "\\xc2\\x9b") << "CSI as one character";
  EXPECT_EQ(printable("a\u202eb"), "a\\xe2\\x80\\xaeb") << "from right to left";
}

TEST(Printable, WhatIsNoUtf8IsWrittenOut) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xe4\xb8"), "\\xe4\\xb8") << "cut short";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "not the shortest form";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

}  // namespace
}  // namespace primset
