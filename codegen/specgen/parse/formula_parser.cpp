#include "codegen/specgen/parse/formula_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codegen/specgen/parse/formula_lexer.h"

namespace primset::specs {
namespace {

struct BinaryOperator {
  std::string_view symbol;
  FormulaOp op;
  int level;  // a higher one binds tighter
};

constexpr int kComparison = 3;  // its operators do not chain
constexpr std::array<BinaryOperator, 18> kBinary = {{
    {"||", FormulaOp::logical_or, 1},
    {"&&", FormulaOp::logical_and, 2},
    {"==", FormulaOp::equal, 3},
    {"!=", FormulaOp::not_equal, 3},
    {"<", FormulaOp::less, 3},
    {"<=", FormulaOp::less_equal, 3},
    {">", FormulaOp::greater, 3},
    {">=", FormulaOp::greater_equal, 3},
    {"|", FormulaOp::bit_or, 4},
    {"^", FormulaOp::bit_xor, 5},
    {"&", FormulaOp::bit_and, 6},
    {"<<", FormulaOp::shift_left, 7},
    {">>", FormulaOp::shift_right, 7},
    {"+", FormulaOp::add, 8},
    {"-", FormulaOp::sub, 8},
    {"*", FormulaOp::mul, 9},
    {"/", FormulaOp::div, 9},
    {"%", FormulaOp::remainder, 9},
}};

const BinaryOperator* binary_operator(const Token& token) {
  if (token.kind != TokenKind::symbol) return nullptr;
  for (const BinaryOperator& b : kBinary) {
    if (b.symbol == token.text) return &b;
  }
  return nullptr;
}

// Leaves a formula at its first mistake; caught in parse_formula and nowhere else.
struct SyntaxError {
  size_t offset;
  std::string what;
  std::string expected;
};

class Parser {
 public:
  explicit Parser(const YamlNode& source) : source_(source), tokens_(lex_formula(source.text)) {
    formula_.text = source.text;
    while (!formula_.text.empty() && formula_.text.back() == '\n') formula_.text.pop_back();
  }

  Formula program() {
    while (begins_assignment()) {
      assignment();
      if (current().kind == TokenKind::end)
        fail("no result", "an expression behind the assignments");
      if (current().kind != TokenKind::separator)
        fail("", "a line end or ';' behind the assignment");
      ++position_;
    }
    do {
      result();
    } while (take(","));
    if (current().kind != TokenKind::end) fail("", "an operator or the end of the formula");
    return std::move(formula_);
  }

 private:
  // One level of recursion; keeps deep nesting an error rather than an overflow.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxFormulaDepth) {
        throw SyntaxError{parser_.current().offset, "nested too deeply",
                          fmt::format("at most {} levels", kMaxFormulaDepth)};
      }
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  const Token& current() const { return tokens_[position_]; }
  const Token& ahead(size_t count) const {
    return tokens_[std::min(position_ + count, tokens_.size() - 1)];
  }

  [[noreturn]] void fail(std::string what, std::string expected) const {
    const Token& token = current();
    if (token.kind == TokenKind::bad) throw SyntaxError{token.offset, token.text, ""};
    if (what.empty()) what = "unexpected " + describe(token);
    throw SyntaxError{token.offset, std::move(what), std::move(expected)};
  }

  bool take(std::string_view symbol) {
    if (!current().is(symbol)) return false;
    ++position_;
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail("", fmt::format("'{}'", symbol));
  }

  // Token by token, names separated by commas and then '='.
  bool begins_assignment() const {
    for (size_t i = 0;; i += 2) {
      if (ahead(i).kind != TokenKind::name || ahead(i).rounded) return false;
      if (ahead(i + 1).is("=")) return true;
      if (!ahead(i + 1).is(",")) return false;
    }
  }

  void assignment() {
    FormulaAssignment a;
    const Position place = source_.place(current().offset);
    a.line = place.line;
    a.column = place.column;
    do {
      a.names.push_back(current().text);
      ++position_;
    } while (take(","));
    if (a.names.size() > 16) fail("too many names", "at most 16");
    expect("=");
    a.node = expression();
    formula_.assignments.push_back(std::move(a));
  }

  void result() {
    FormulaResult r;
    if (current().kind == TokenKind::name && !current().rounded && ahead(1).is(":")) {
      r.name = current().text;
      position_ += 2;
    }
    r.node = expression();
    formula_.results.push_back(std::move(r));
  }

  uint32_t expression() {
    Nested nested(*this);
    const uint32_t condition = binary(1);
    const Token at = current();
    if (!take("?")) return condition;
    const uint32_t then = expression();
    expect(":");
    const uint32_t otherwise = expression();
    return add(NodeKind::ternary, at, {condition, then, otherwise});
  }

  uint32_t binary(int level) {
    Nested nested(*this);
    uint32_t left = unary();
    for (;;) {
      const BinaryOperator* b = binary_operator(current());
      if (b == nullptr || b->level < level) return left;
      const Token at = current();
      ++position_;
      const uint32_t right = binary(b->level + 1);
      left = add(NodeKind::binary, at, {left, right});
      formula_.nodes[left].op = b->op;
      const BinaryOperator* next = binary_operator(current());
      if (b->level == kComparison && next != nullptr && next->level == kComparison) {
        fail("comparisons do not chain", "a < b && b < c, or parentheses");
      }
    }
  }

  uint32_t unary() {
    Nested nested(*this);
    const Token at = current();
    std::optional<FormulaOp> op;
    if (at.is("-")) op = FormulaOp::negate;
    if (at.is("!")) op = FormulaOp::logical_not;
    if (at.is("~")) op = FormulaOp::bit_not;
    if (!op) return power();
    ++position_;
    const uint32_t node = add(NodeKind::unary, at, {unary()});
    formula_.nodes[node].op = *op;
    return node;
  }

  uint32_t power() {
    const uint32_t base = primary();
    const Token at = current();
    if (!take("**")) return base;
    const uint32_t node = add(NodeKind::binary, at, {base, unary()});
    formula_.nodes[node].op = FormulaOp::power;
    return node;
  }

  uint32_t primary() {
    const Token at = current();
    switch (at.kind) {
      case TokenKind::integer:
      case TokenKind::floating:
      case TokenKind::string:
        ++position_;
        return literal(at);
      case TokenKind::name:
        ++position_;
        return current().is("(") ? call(at) : name(at);
      default:
        break;
    }
    if (take("(")) {
      const uint32_t inner = expression();
      expect(")");
      return inner;
    }
    if (take("[")) return list(at);
    fail("", "a value");
  }

  uint32_t literal(const Token& at) {
    const NodeKind kind = at.kind == TokenKind::integer    ? NodeKind::integer
                          : at.kind == TokenKind::floating ? NodeKind::floating
                                                           : NodeKind::string;
    const uint32_t node = add(kind, at, {});
    formula_.nodes[node].integer = at.integer;
    formula_.nodes[node].floating = at.floating;
    if (kind == NodeKind::string) formula_.nodes[node].text = at.text;
    return node;
  }

  uint32_t name(const Token& at) {
    if (at.rounded) fail("", fmt::format("'(' behind op::{}", at.text));
    const uint32_t node = add(NodeKind::argument, at, {});
    formula_.nodes[node].text = at.text;
    formula_.nodes[node].integer = -1;
    return node;
  }

  uint32_t call(const Token& at) {
    expect("(");
    std::vector<uint32_t> arguments;
    bool keyword_seen = false;
    while (!current().is(")")) {
      const bool keyword = current().kind == TokenKind::name && ahead(1).is("=");
      if (keyword_seen && !keyword) fail("a positional argument behind a keyword", "name=value");
      keyword_seen = keyword;
      arguments.push_back(keyword ? this->keyword() : expression());
      if (!take(",")) break;
    }
    expect(")");
    const uint32_t node = add(NodeKind::call, at, arguments);
    formula_.nodes[node].text = at.text;
    formula_.nodes[node].callee = at.rounded ? Callee::rounded_op : Callee::builtin;
    return node;
  }

  uint32_t keyword() {
    const Token at = current();
    position_ += 2;
    const uint32_t node = add(NodeKind::keyword, at, {expression()});
    formula_.nodes[node].text = at.text;
    return node;
  }

  uint32_t list(const Token& at) {
    std::vector<uint32_t> elements;
    while (!current().is("]")) {
      elements.push_back(expression());
      if (!take(",")) break;
    }
    expect("]");
    return add(NodeKind::list, at, elements);
  }

  uint32_t add(NodeKind kind, const Token& at, const std::vector<uint32_t>& children) {
    FormulaNode node;
    node.kind = kind;
    const Position place = source_.place(at.offset);
    node.line = place.line;
    node.column = place.column;
    node.first_child = static_cast<uint32_t>(formula_.child_index.size());
    node.child_count = static_cast<uint32_t>(children.size());
    uint32_t depth = 1;
    for (uint32_t child : children) {
      formula_.child_index.push_back(child);
      depth = std::max(depth, depth_[child] + 1);
    }
    if (depth > kMaxFormulaDepth) {
      throw SyntaxError{at.offset, "nested too deeply",
                        fmt::format("at most {} levels", kMaxFormulaDepth)};
    }
    depth_.push_back(depth);
    formula_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(formula_.nodes.size() - 1);
  }

  const YamlNode& source_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  uint32_t nesting_ = 0;
  Formula formula_;
  std::vector<uint32_t> depth_;  // of each node's tree
};

}  // namespace

Formula parse_formula(const YamlNode& scalar, Diagnostics& diagnostics) {
  try {
    return Parser(scalar).program();
  } catch (const SyntaxError& error) {
    diagnostics.error(scalar.place(error.offset), error.what, error.expected);
    return {};
  }
}

}  // namespace primset::specs
