#include "codegen/specgen/parse/formula_lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <system_error>

namespace primset::specs {
namespace {

// Longest first, so that ** is not read as two *.
constexpr std::array<std::string_view, 32> kSymbols = {
    "**", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "+", "-", "*", "/", "%", "<", ">",
    "!",  "~",  "&",  "|",  "^",  "?",  ":",  "=",  "(",  ")", "[", "]", ",", "{", "}", "."};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// May an expression go on behind this symbol? Then a line ending in it does.
bool continues_after(const Token& t) {
  return t.kind == TokenKind::symbol && t.text != ")" && t.text != "]";
}
// Can no expression begin with it? Then it continues the line before.
bool continues_before(const Token& t) {
  return t.kind == TokenKind::symbol && t.text != "(" && t.text != "[" && t.text != "-" &&
         t.text != "!" && t.text != "~";
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    for (;;) {
      Token token = next();
      const bool last = token.kind == TokenKind::end || token.kind == TokenKind::bad;
      add(std::move(token));
      if (last) return std::move(tokens_);
    }
  }

 private:
  char at(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  // Appends a token, keeping only the line ends that separate statements.
  void add(Token token) {
    if (token.is("(") || token.is("[")) ++brackets_;
    if (token.is(")") || token.is("]")) --brackets_;
    const bool after_separator = tokens_.empty() || tokens_.back().kind == TokenKind::separator;
    if (token.kind == TokenKind::separator) {
      if (after_separator) return;
      if (token.text == "\n" && (brackets_ > 0 || continues_after(tokens_.back()))) return;
    } else if (!tokens_.empty() && tokens_.back().kind == TokenKind::separator &&
               (token.kind == TokenKind::end ||
                (tokens_.back().text == "\n" && continues_before(token)))) {
      tokens_.pop_back();
    }
    tokens_.push_back(std::move(token));
  }

  void skip_blanks() {
    while (at() == ' ' || at() == '\t' || at() == '\r' || at() == '#') {
      if (at() == '#') {
        while (position_ < text_.size() && at() != '\n') ++position_;
      } else {
        ++position_;
      }
    }
  }

  Token make(TokenKind kind, size_t begin) const {
    Token token;
    token.kind = kind;
    token.offset = begin;
    token.text = std::string(text_.substr(begin, position_ - begin));
    return token;
  }

  Token bad(size_t begin, std::string what) const {
    Token token = make(TokenKind::bad, begin);
    token.text = std::move(what);
    return token;
  }

  Token next() {
    skip_blanks();
    const size_t begin = position_;
    if (position_ >= text_.size()) return make(TokenKind::end, begin);
    if (at() == '\n' || at() == ';') {
      ++position_;
      return make(TokenKind::separator, begin);
    }
    if (is_digit(at()) || (at() == '.' && is_digit(at(1)))) return number(begin);
    if (is_letter(at())) return name(begin);
    if (at() == '"' || at() == '\'') return string(begin);
    for (std::string_view symbol : kSymbols) {
      if (text_.substr(position_, symbol.size()) == symbol) {
        position_ += symbol.size();
        return make(TokenKind::symbol, begin);
      }
    }
    return bad(begin, fmt::format("unexpected character {}", printable(at())));
  }

  static std::string printable(char c) {
    if (c > ' ' && c < '\x7f') return fmt::format("'{}'", c);
    return fmt::format("0x{:02x}", static_cast<unsigned char>(c));
  }

  Token name(size_t begin) {
    while (is_letter(at()) || is_digit(at())) ++position_;
    Token token = make(TokenKind::name, begin);
    if (at() != ':' || at(1) != ':') return token;
    if (token.text != "op" || !is_letter(at(2))) {
      return bad(begin, fmt::format("'{}::' is not known", token.text));
    }
    position_ += 2;
    const size_t called = position_;
    while (is_letter(at()) || is_digit(at())) ++position_;
    token = make(TokenKind::name, called);
    token.rounded = true;
    token.offset = begin;
    return token;
  }

  Token number(size_t begin) {
    const bool hex = at() == '0' && (at(1) == 'x' || at(1) == 'X');
    bool floating = false;
    if (hex) position_ += 2;
    while (is_digit(at()) || is_letter(at()) || at() == '.' ||
           (!hex && (at() == '+' || at() == '-') && (at_exponent()))) {
      floating = floating || (!hex && (at() == '.' || at() == 'e' || at() == 'E'));
      ++position_;
    }
    Token token = make(floating ? TokenKind::floating : TokenKind::integer, begin);
    const char* first = token.text.data() + (hex ? 2 : 0);
    const char* last = token.text.data() + token.text.size();
    const auto [end, error] = floating ? std::from_chars(first, last, token.floating)
                                       : std::from_chars(first, last, token.integer, hex ? 16 : 10);
    if (error == std::errc::result_out_of_range) {
      return bad(begin, fmt::format("number '{}' is out of range", token.text));
    }
    if (error != std::errc() || end != last) {
      return bad(begin, fmt::format("'{}' is not a number", token.text));
    }
    return token;
  }

  // A sign belongs to a number only right behind its exponent's e.
  bool at_exponent() const {
    return position_ > 0 && (text_[position_ - 1] == 'e' || text_[position_ - 1] == 'E');
  }

  Token string(size_t begin) {
    const char quote = at();
    ++position_;
    while (position_ < text_.size() && at() != quote && at() != '\n') ++position_;
    if (at() != quote) return bad(begin, "a string that does not end");
    ++position_;
    Token token = make(TokenKind::string, begin);
    token.text = token.text.substr(1, token.text.size() - 2);
    return token;
  }

  std::string_view text_;
  size_t position_ = 0;
  int brackets_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex_formula(std::string_view text) {
  return Lexer(text).run();
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the formula";
    case TokenKind::separator:
      return token.text == ";" ? "';'" : "the end of the line";
    case TokenKind::string:
      return fmt::format("\"{}\"", token.text);
    default:
      return fmt::format("'{}'", token.text);
  }
}

}  // namespace primset::specs
