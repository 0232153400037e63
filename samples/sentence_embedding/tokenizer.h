// BERT's uncased WordPiece tokenizer: text to the numbers of words and pieces of words.
//
//   Tokenizer tokenizer = Tokenizer::load("vocab.txt", 256);
//   std::vector<int64_t> ids = tokenizer.encode("Hello, naïve world!");
//   // [CLS] hello , naive world ! [SEP]
//
// The steps are those of the tokenizer the model was trained with: clean, put blanks around
// ideographs, strip accents, lower-case, split at blanks and punctuation, cut each word greedily
// into the longest pieces the vocabulary has.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_TOKENIZER_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_TOKENIZER_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sentence_embedding {

// Cleaned, without accents, in lower case, with blanks around ideographs.
std::u32string normalize(std::u32string_view text);
// Words without blanks; every punctuation character is a word of its own. Views of `text`.
std::vector<std::u32string_view> split_words(std::u32string_view text);

// Immutable after construction: any number of threads may encode.
class Tokenizer {
 public:
  // Word i of the vocabulary has the number i. Throws std::runtime_error for one that appears twice
  // and when one of the five special ones is missing. A sentence gets at most `max_tokens` tokens,
  // [CLS] and [SEP] included.
  Tokenizer(std::vector<std::string> vocabulary, size_t max_tokens);
  // One word a line.
  static Tokenizer load(const std::filesystem::path& vocabulary, size_t max_tokens);
  Tokenizer(Tokenizer&&) = default;
  Tokenizer(const Tokenizer&) = delete;  // ids_ looks into words_
  Tokenizer& operator=(const Tokenizer&) = delete;

  // [CLS], the pieces, [SEP].
  std::vector<int64_t> encode(std::string_view text) const;
  const std::string& word(int64_t id) const { return words_.at(static_cast<size_t>(id)); }
  size_t size() const { return words_.size(); }
  int64_t pad_id() const { return pad_; }

 private:
  int64_t special(std::string_view word) const;
  // Text that has no special token in it.
  void append_text(std::string_view text, std::vector<int64_t>& ids) const;
  void append_word(std::u32string_view word, std::vector<int64_t>& ids) const;

  std::vector<std::string> words_;
  std::unordered_map<std::string_view, int64_t> ids_;
  size_t max_tokens_;
  int64_t pad_, unknown_, begin_, end_;
};

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_TOKENIZER_H_
