// The tokenizer against what the real one gave (tokenizer_cases.h). The cases that need the model's
// vocabulary are in model_test.cpp.
#include "tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <stdexcept>

#include "tokenizer_cases.h"
#include "unicode_table.h"
#include "utf8.h"

namespace sentence_embedding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> words_of(std::string_view text) {
  const std::u32string normal = normalize(decode_utf8(text));
  std::vector<std::string> words;
  for (std::u32string_view word : split_words(normal)) words.push_back(encode_utf8(word));
  return words;
}

TEST(Utf8, RoundTrip) {
  const std::u32string all = {0,      'a',    0x7F,   0x80,    0x7FF,   0x800,
                              0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  EXPECT_EQ(decode_utf8(encode_utf8(all)), all);
  EXPECT_EQ(encode_utf8(U"é€😀"), "é€😀");
}

TEST(Utf8, MalformedBytesAreReplaced) {
  EXPECT_EQ(decode_utf8("a\xFF"
                        "b"),
            U"a\uFFFDb");
  EXPECT_EQ(decode_utf8("\x80"), U"\uFFFD");
  EXPECT_EQ(decode_utf8("\xC3"), U"\uFFFD");  // ends too early
  EXPECT_EQ(decode_utf8("\xC3"
                        "a"),
            U"\uFFFDa");
  EXPECT_EQ(decode_utf8("\xC0\xAF"), U"\uFFFD\uFFFD");  // overlong
  EXPECT_EQ(decode_utf8("\xE0\x80\xAF"), U"\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decode_utf8("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(decode_utf8("\xF4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD");  // above 10FFFF
}

TEST(UnicodeTable, Ascii) {
  for (int c = 0; c < 0x80; ++c) {
    const bool letter_or_digit = std::isalnum(c) != 0;
    EXPECT_EQ(is_control(static_cast<char32_t>(c)), c < 0x20 || c == 0x7F) << c;
    EXPECT_EQ(is_punctuation(static_cast<char32_t>(c)), c > 0x20 && c < 0x7F && !letter_or_digit)
        << c;
    EXPECT_FALSE(is_ideograph(static_cast<char32_t>(c))) << c;
  }
}

TEST(UnicodeTable, Folds) {
  const auto folded = [](char32_t c) {
    std::u32string out;
    append_folded(c, out);
    return out;
  };
  EXPECT_EQ(folded(U'Ǟ'), U"a");  // two accents
  EXPECT_EQ(folded(0x0301), U"");
  EXPECT_EQ(folded(0xAC00), U"\u1100\u1161");
  EXPECT_EQ(folded(0xD7A3), U"\u1112\u1175\u11C2");
  EXPECT_EQ(folded(0x0130), U"i");
  EXPECT_EQ(folded(0x10400), U"\U00010428");  // a letter above 16 bits
  EXPECT_EQ(folded(0x1D160), U"\U0001D158\U0001D165\U0001D16E");
  EXPECT_EQ(folded(0x10FFFF), U"\U0010FFFF");
}

TEST(Tokenizer, WordsAreThoseOfTheRealTokenizer) {
  for (const WordsCase& c : kWordsCases) EXPECT_EQ(words_of(c.text), c.words) << c.text;
}

TEST(Tokenizer, PiecesAreThoseOfTheRealTokenizer) {
  const Tokenizer tokenizer(kSmallVocabulary, 256);
  for (const IdsCase& c : kSmallCases) EXPECT_EQ(tokenizer.encode(c.text), c.ids) << c.text;
}

TEST(Tokenizer, MalformedTextIsLikeTextWithoutIt) {
  const Tokenizer tokenizer(kSmallVocabulary, 256);
  EXPECT_EQ(tokenizer.encode("a\xFF\xC3"
                             "b"),
            tokenizer.encode("ab"));
}

TEST(Tokenizer, CutsAtTheLimit) {
  const auto encode = [](size_t limit) {
    return Tokenizer(kSmallVocabulary, limit).encode("a b a");
  };
  EXPECT_THAT(encode(2), ElementsAre(2, 3));
  EXPECT_THAT(encode(4), ElementsAre(2, 5, 6, 3));
  EXPECT_THAT(encode(5), ElementsAre(2, 5, 6, 5, 3));
  EXPECT_THAT(encode(6), ElementsAre(2, 5, 6, 5, 3));
}

TEST(Tokenizer, RefusesABadVocabulary) {
  const auto make = [](std::vector<std::string> vocabulary) {
    return [vocabulary] { Tokenizer tokenizer(vocabulary, 8); };
  };
  EXPECT_THAT(make({"[PAD]", "[UNK]", "[CLS]", "[SEP]"}),
              ThrowsMessage<std::runtime_error>(HasSubstr("'[MASK]' is missing")));
  EXPECT_THAT(make({"[PAD]", "a", "b", "a"}),
              ThrowsMessage<std::runtime_error>(HasSubstr("'a' is on line 2 and again on line 4")));
  EXPECT_THAT([] { Tokenizer tokenizer(kSmallVocabulary, 1); },
              ThrowsMessage<std::runtime_error>(HasSubstr("max_tokens is 1")));
  EXPECT_THAT([] { Tokenizer::load("/nonexistent/vocab.txt", 8); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/nonexistent/vocab.txt")));
}

}  // namespace
}  // namespace sentence_embedding
