// Stage 2, parse: the tokens of a formula.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_FORMULA_LEXER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_FORMULA_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace primset::specs {

enum class TokenKind : uint8_t {
  name,  // also op::name, with `rounded` set
  integer,
  floating,
  string,
  symbol,     // an operator, bracket, comma, colon or =, in `text`
  separator,  // ; or the end of a line that ends a statement
  end,
  bad,  // `text` says what is wrong
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  bool rounded = false;
  int64_t integer = 0;
  double floating = 0;
  size_t offset = 0;  // into the formula's text

  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
};

// The tokens, ended by one of kind `end`, or by the first `bad` one. A line's end separates
// statements unless a bracket is open, the line ends in an operator, or the next begins with one
// that cannot begin an expression. '#' begins a comment.
std::vector<Token> lex_formula(std::string_view text);

// "'x'", "the end of the formula": for messages.
std::string describe(const Token& token);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_FORMULA_LEXER_H_
