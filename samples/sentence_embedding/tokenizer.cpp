#include "tokenizer.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "unicode_table.h"
#include "utf8.h"

namespace sentence_embedding {
namespace {

constexpr std::string_view kPad = "[PAD]", kUnknown = "[UNK]", kBegin = "[CLS]", kEnd = "[SEP]",
                           kMask = "[MASK]";
constexpr std::string_view kSpecial[] = {kPad, kUnknown, kBegin, kEnd, kMask};
// A longer word is unknown as a whole, as in the tokenizer the model was trained with.
constexpr size_t kMaxWordCharacters = 100;
constexpr std::string_view kContinued = "##";

// Where the next special token begins in `text`, and which; npos when there is none.
std::pair<size_t, std::string_view> find_special(std::string_view text) {
  for (size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1))
    for (std::string_view token : kSpecial)
      if (text.substr(at).starts_with(token)) return {at, token};
  return {std::string_view::npos, {}};
}

}  // namespace

std::u32string normalize(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (char32_t c : text) {
    if (c == '\t' || c == '\n' || c == '\r') {
      out += U' ';
    } else if (c == 0xFFFD || is_control(c)) {
      continue;
    } else if (is_space(c)) {
      out += U' ';
    } else if (is_ideograph(c)) {
      out += U' ';
      append_folded(c, out);
      out += U' ';
    } else {
      append_folded(c, out);
    }
  }
  return out;
}

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  size_t start = 0;
  const auto finish = [&](size_t end) {
    if (end > start) words.push_back(text.substr(start, end - start));
    start = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) {
      finish(i);
    } else if (is_punctuation(text[i])) {
      finish(i);
      words.push_back(text.substr(i, 1));
    }
  }
  finish(text.size());
  return words;
}

Tokenizer::Tokenizer(std::vector<std::string> vocabulary, size_t max_tokens)
    : words_(std::move(vocabulary)), max_tokens_(max_tokens) {
  if (max_tokens < 2)
    throw std::runtime_error("a sentence needs room for [CLS] and [SEP]; max_tokens is " +
                             std::to_string(max_tokens));
  ids_.reserve(words_.size());
  for (const std::string& word : words_) {
    const auto [it, added] = ids_.emplace(word, static_cast<int64_t>(ids_.size()));
    if (!added)
      throw std::runtime_error("vocabulary: '" + word + "' is on line " +
                               std::to_string(it->second + 1) + " and again on line " +
                               std::to_string(ids_.size() + 1));
  }
  for (std::string_view token : kSpecial) special(token);
  pad_ = special(kPad);
  unknown_ = special(kUnknown);
  begin_ = special(kBegin);
  end_ = special(kEnd);
}

Tokenizer Tokenizer::load(const std::filesystem::path& vocabulary, size_t max_tokens) {
  std::ifstream in(vocabulary, std::ios::binary);
  if (!in) throw std::runtime_error(vocabulary.string() + ": cannot be read");
  std::vector<std::string> words;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    words.push_back(std::move(line));
  }
  if (in.bad()) throw std::runtime_error(vocabulary.string() + ": reading failed");
  return Tokenizer(std::move(words), max_tokens);
}

int64_t Tokenizer::special(std::string_view word) const {
  const auto it = ids_.find(word);
  if (it == ids_.end())
    throw std::runtime_error("vocabulary: '" + std::string(word) + "' is missing");
  return it->second;
}

std::vector<int64_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids = {begin_};
  // Special tokens written out in the text are themselves, not words in brackets.
  while (!text.empty()) {
    const auto [at, token] = find_special(text);
    append_text(text.substr(0, at), ids);
    if (at == std::string_view::npos) break;
    ids.push_back(special(token));
    text.remove_prefix(at + token.size());
  }
  ids.resize(std::min(ids.size(), max_tokens_ - 1));
  ids.push_back(end_);
  return ids;
}

void Tokenizer::append_text(std::string_view text, std::vector<int64_t>& ids) const {
  const std::u32string normal = normalize(decode_utf8(text));
  for (std::u32string_view word : split_words(normal)) {
    if (ids.size() >= max_tokens_) return;  // a book as one sentence: the rest is cut off anyway
    append_word(word, ids);
  }
}

void Tokenizer::append_word(std::u32string_view word, std::vector<int64_t>& ids) const {
  if (word.size() > kMaxWordCharacters) {
    ids.push_back(unknown_);
    return;
  }
  const size_t before = ids.size();
  std::string rest = encode_utf8(word);
  while (!rest.empty() && rest != kContinued) {
    // The longest piece of the vocabulary that `rest` begins with, cut between characters.
    size_t end = rest.size();
    auto found = ids_.end();
    for (; end > 0 && (found = ids_.find(std::string_view(rest).substr(0, end))) == ids_.end();) {
      --end;
      while (end > 0 && (rest[end] & 0xC0) == 0x80) --end;
    }
    const bool continued = ids.size() > before;
    if (end <= (continued ? kContinued.size() : 0)) {
      ids.resize(before);
      ids.push_back(unknown_);
      return;
    }
    ids.push_back(found->second);
    rest.replace(0, end, kContinued);
  }
}

}  // namespace sentence_embedding
