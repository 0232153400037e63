// libFuzzer: arbitrary bytes as a sentence for the tokenizer; behind a zero byte, as words of its
// vocabulary too. Tokens are of the vocabulary, and no more than were asked for.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer.h"

namespace {

constexpr size_t kMaxTokens = 64;

std::vector<std::string> vocabulary(std::string_view more) {
  std::vector<std::string> words = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",      "a",
                                    "##b",   "hello", "##llo", "!",     "\xe4\xb8\xad"};
  while (!more.empty()) {
    const size_t end = more.find('\n');
    words.emplace_back(more.substr(0, end));
    more.remove_prefix(end == std::string_view::npos ? more.size() : end + 1);
  }
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = std::min(input.find('\0'), input.size());
  try {
    const sentence_embedding::Tokenizer tokenizer(
        vocabulary(input.substr(std::min(cut + 1, input.size()))), kMaxTokens);
    const std::vector<int64_t> ids = tokenizer.encode(input.substr(0, cut));
    if (ids.size() < 2 || ids.size() > kMaxTokens) std::abort();
    for (const int64_t id : ids)
      if (id < 0 || static_cast<size_t>(id) >= tokenizer.size()) std::abort();
  } catch (const std::runtime_error&) {
    // A word that is there twice.
  }
  return 0;
}
