#include "sdk/testing/cpp_tokens.h"

#include <algorithm>
#include <cctype>

namespace primset::repository {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<CppToken> run() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }

  void skip(size_t n) {
    n = std::min(n, source_.size() - at_);
    line_ += static_cast<size_t>(std::ranges::count(source_.substr(at_, n), '\n'));
    at_ += n;
  }

  // To the end of the text that `end` ends.
  void skip_behind(std::string_view end, size_t from) {
    const size_t found = source_.find(end, at_ + from);
    skip(found == std::string_view::npos ? source_.size() : found + end.size() - at_);
  }

  void step() {
    const char c = source_[at_];
    if (c == '\n') starts_line_ = true;
    if (std::isspace(static_cast<unsigned char>(c))) return skip(1);
    if (rest().starts_with("//")) return skip_comment();
    if (rest().starts_with("/*")) return skip_behind("*/", 2);
    if (c == '#' && starts_line_) return skip_directive();
    starts_line_ = false;
    if (rest().starts_with("R\"")) return skip_raw();
    if (c == '"' || c == '\'') return skip_literal(c);
    if (is_word(c)) return take_word();
    take(rest().starts_with("::") ? 2 : 1);
  }

  void skip_comment() {
    skip_behind("\n", 0);
    starts_line_ = true;
  }

  void take(size_t n) {
    tokens_.push_back({std::string(source_.substr(at_, n)), line_});
    at_ += n;
  }

  void take_word() {
    size_t n = 0;
    // 1'000'000 is one word.
    const bool digits = std::isdigit(static_cast<unsigned char>(source_[at_])) != 0;
    while (at_ + n < source_.size() &&
           (is_word(source_[at_ + n]) || (digits && source_[at_ + n] == '\'')))
      ++n;
    take(n);
  }

  // A line that ends with '\' goes on.
  void skip_directive() {
    do {
      skip_behind("\n", 0);
    } while (at_ >= 2 && at_ < source_.size() && source_[at_ - 2] == '\\');
  }

  void skip_raw() {
    const size_t open = rest().find('(');
    skip_behind(")" + std::string(rest().substr(2, open - 2)) + "\"", open);
  }

  void skip_literal(char quote) {
    size_t n = 1;
    while (at_ + n < source_.size() && source_[at_ + n] != quote) {
      n += source_[at_ + n] == '\\' ? 2 : 1;
    }
    skip(n + 1);
  }

  std::string_view source_;
  std::vector<CppToken> tokens_;
  size_t at_ = 0, line_ = 1;
  bool starts_line_ = true;
};

}  // namespace

std::vector<CppToken> cpp_tokens(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace primset::repository
