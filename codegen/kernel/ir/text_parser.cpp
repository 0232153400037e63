// The parser of the textual form. It builds what the text says, sound or not: judging is the
// verifier's work, so that its tests can be written as text.
#include <bit>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>

#include "codegen/kernel/ir/text.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

constexpr int kMaxDepth = 256;  // of regions: far above any kernel

struct Token {
  enum Kind { Word, Number, String, ValueName, Punctuation, End } kind = End;
  std::string_view text;
  size_t offset = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token take() {
    Token t = token_;
    advance();
    return t;
  }

  [[noreturn]] void fail(const Token& at, const std::string& expected) const {
    size_t line = 1, column = 1;
    for (char c : text_.substr(0, at.offset)) {
      line += c == '\n' ? 1 : 0;
      column = c == '\n' ? 1 : column + 1;
    }
    const std::string saw = at.kind == Token::End ? "the end" : "'" + std::string(at.text) + "'";
    throw Error(ErrorCode::value, "kernel text: line " + std::to_string(line) + ", column " +
                                      std::to_string(column) + ": expected " + expected + ", saw " +
                                      saw);
  }

 private:
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  void skip_space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  void advance() {
    skip_space();
    const size_t start = at_;
    token_ = {Token::End, {}, start};
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
      token_.kind = Token::String;
      if (at_ >= text_.size()) fail(token_, "a closing quote");
      ++at_;
    } else if (c == '%') {
      token_.kind = Token::ValueName;
      for (++at_; at_ < text_.size() && is_word(text_[at_]);) ++at_;
    } else if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) {
      token_.kind = Token::Number;
      for (++at_; at_ < text_.size() && in_number(start);) ++at_;
    } else if (is_word(c)) {
      token_.kind = Token::Word;
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    } else {
      token_.kind = Token::Punctuation;
      ++at_;
    }
    token_.text = text_.substr(start, at_ - start);
  }

  // Digits, a point, 0x and hexadecimal digits, an exponent with its sign.
  bool in_number(size_t start) const {
    const char c = text_[at_];
    if (is_word(c) || c == '.') return true;
    return (c == '-' || c == '+') && text_[at_ - 1] == 'e' && text_.substr(start, 2) != "0x";
  }

  std::string_view text_;
  size_t at_ = 0;
  Token token_;
};

template <typename T>
bool read_number(std::string_view text, T& out, int base = 10) {
  const char *begin = text.data(), *end = begin + text.size();
  std::from_chars_result r{};
  if constexpr (std::is_floating_point_v<T>) {
    r = std::from_chars(begin, end, out);
  } else {
    r = std::from_chars(begin, end, out, base);
  }
  return r.ec == std::errc{} && r.ptr == end;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Kernel parse() {
    expect_word("kernel");
    expect("@");
    kernel_.name = name();
    expect("(");
    while (!accept(")")) {
      if (!kernel_.params.empty()) expect(",");
      kernel_.params.push_back(param());
    }
    expect_word("group_size");
    const char* before = "(";
    for (uint32_t& n : kernel_.group_size) {
      expect(std::exchange(before, ","));
      n = number();
    }
    expect(")");
    if (accept("resident")) {
      expect("(");
      kernel_.min_groups_per_multiprocessor = number();
      expect(")");
    }
    kernel_.blocks.emplace_back();
    block(0);
    if (lexer_.peek().kind != Token::End) lexer_.fail(lexer_.peek(), "the end");
    return std::move(kernel_);
  }

 private:
  // --- tokens ---
  bool accept(std::string_view text) {
    if (lexer_.peek().kind == Token::String || lexer_.peek().text != text) return false;
    lexer_.take();
    return true;
  }
  void expect(const char* text) {
    if (!accept(text)) lexer_.fail(lexer_.peek(), "'" + std::string(text) + "'");
  }
  void expect_word(const char* text) { expect(text); }
  uint32_t number() {
    uint32_t n = 0;
    if (!read_number(lexer_.peek().text, n)) lexer_.fail(lexer_.peek(), "a number");
    lexer_.take();
    return n;
  }
  std::string name() {
    const Token t = lexer_.take();
    if (t.kind == Token::Word) return std::string(t.text);
    if (t.kind != Token::String) lexer_.fail(t, "a name");
    std::string out;
    for (size_t i = 1; i + 1 < t.text.size(); ++i) {
      if (t.text[i] == '\\') ++i;
      out += t.text[i];
    }
    return out;
  }

  // --- types and values ---
  Scalar scalar() {
    const Token t = lexer_.take();
    Scalar s{};
    if (!parse_scalar(t.text, s)) lexer_.fail(t, "a scalar type");
    return s;
  }
  Type type() {
    if (accept("vec")) {
      expect("<");
      const Type t = element();
      expect(",");
      const Token at = lexer_.peek();
      const uint32_t lanes = number();
      if (lanes > UINT16_MAX) lexer_.fail(at, "a number of lanes");
      expect(">");
      return t.with_lanes(static_cast<uint16_t>(lanes));
    }
    return element();
  }
  Type element() {
    if (accept("ptr")) return pointer();
    if (accept("matrix")) return matrix();
    return {scalar()};
  }
  Type pointer() {
    expect("<");
    const Token at = lexer_.take();
    AddressSpace space{};
    if (!parse_address_space(at.text, space)) lexer_.fail(at, "global, group or private");
    expect(">");
    return Type::pointer(space);
  }
  Type matrix() {
    expect("<");
    const Scalar element = scalar();
    expect(",");
    const Token at = lexer_.take();
    MatrixUse use{};
    if (!parse_matrix_use(at.text, use)) lexer_.fail(at, "a, b or accumulator");
    expect(">");
    return Type::matrix(element, use);
  }
  Param param() {
    Param p;
    p.name = name();
    expect(":");
    p.type = type();
    p.read = accept("read");
    p.written = accept("write");
    p.invariant = accept("invariant");
    p.evict_last = accept("kept");
    return p;
  }
  Value define(const Token& t, Type type) {
    if (t.kind != Token::ValueName) lexer_.fail(t, "a %value");
    const Value v{static_cast<uint32_t>(kernel_.types.size())};
    if (!values_.emplace(t.text, v).second) lexer_.fail(t, "a value not defined before");
    kernel_.types.push_back(type);
    return v;
  }
  Value use() {
    const Token t = lexer_.take();
    const auto found = values_.find(t.text);
    if (t.kind != Token::ValueName || found == values_.end()) {
      lexer_.fail(t, "a %value defined before");
    }
    return found->second;
  }

  // --- instructions ---
  void block(BlockId id) {
    expect("{");
    while (!accept("}")) instruction(id);
  }

  void instruction(BlockId into) {
    std::vector<Token> results;
    while (lexer_.peek().kind == Token::ValueName) {
      results.push_back(lexer_.take());
      if (!accept(",")) break;
    }
    if (!results.empty()) expect("=");
    const Token at = lexer_.take();
    Inst inst;
    if (at.kind != Token::Word || !parse_op(at.text, inst.op)) lexer_.fail(at, "an operation");
    Token constant;
    if (inst.op == Op::Const) constant = lexer_.take();
    if (accept("[")) immediate(inst);
    // Without operands, a %name that is new belongs to the next line's results.
    if (values_.find(lexer_.peek().text) != values_.end()) {
      do inst.operands.push_back(use());
      while (accept(","));
    }
    if (accept("align")) inst.imm.align = number();
    for (size_t i = 0; i < results.size(); ++i) {
      expect(i == 0 ? ":" : ",");
      inst.results.push_back(define(results[i], type()));
    }
    if (inst.op == Op::Const) {
      const Scalar s = inst.results.empty() ? Scalar::i64 : kernel_.type(inst.results[0]).scalar;
      inst.imm.bits = constant_bits(constant, s);
    }
    // The line's place is taken before its regions', which come later in the text.
    const auto id = static_cast<InstId>(kernel_.insts.size());
    kernel_.blocks[into].insts.push_back(id);
    kernel_.insts.push_back(std::move(inst));
    while (accept("then") || accept("else") || accept("do") || accept("cond")) {
      const BlockId block = region();
      kernel_.insts[id].regions.push_back(block);
    }
  }

  BlockId region() {
    // Regions in regions are calls in calls, here and in all that walks a kernel.
    if (++depth_ > kMaxDepth) lexer_.fail(lexer_.peek(), "fewer nested regions");
    const auto id = static_cast<BlockId>(kernel_.blocks.size());
    kernel_.blocks.emplace_back();
    if (accept("(")) {
      while (!accept(")")) {
        if (!kernel_.blocks[id].params.empty()) expect(",");
        const Token at = lexer_.take();
        expect(":");
        kernel_.blocks[id].params.push_back(define(at, type()));
      }
    }
    block(id);
    --depth_;
    return id;
  }

  // What stands between the brackets after the operation.
  void immediate(Inst& inst) {
    switch (inst.op) {
      case Op::CooperativeLoad:
        inst.imm.index = number();
        expect(",");
        inst.imm.count = number();
        break;
      case Op::CooperativeStore:
        inst.imm.count = number();
        break;
      case Op::AtomicRmw: {
        const Token t = lexer_.take();
        if (!parse_rmw(t.text, inst.imm.rmw)) lexer_.fail(t, "an atomic operation");
        break;
      }
      case Op::GroupAlloc:
      case Op::PrivateAlloc:
      case Op::Prefetch:
      case Op::PrefetchWrite:
      case Op::CopyAsync:
        inst.imm.elem = scalar();
        expect("x");
        inst.imm.count = number();
        break;
      case Op::Shuffle:
        while (lexer_.peek().text != "]") {
          if (!inst.imm.lanes.empty()) expect(",");
          inst.imm.lanes.push_back(static_cast<uint16_t>(number()));
        }
        break;
      default:
        inst.imm.index = number();
    }
    expect("]");
  }

  uint64_t constant_bits(const Token& t, Scalar s) {
    uint64_t bits = 0;
    if (t.text.substr(0, 2) == "0x" && read_number(t.text.substr(2), bits, 16)) return bits;
    float f = 0;
    double d = 0;
    int64_t i = 0;
    if (s == Scalar::i1 && (t.text == "true" || t.text == "false")) return t.text == "true";
    if (s == Scalar::f32 && read_number(t.text, f)) return std::bit_cast<uint32_t>(f);
    if (s == Scalar::f64 && read_number(t.text, d)) return std::bit_cast<uint64_t>(d);
    const int unused = 64 - width(s);
    if (is_int(s) && read_number(t.text, i) &&
        (i >> (width(s) - 1) == 0 || i >> (width(s) - 1) == -1)) {
      return static_cast<uint64_t>(i) << unused >> unused;
    }
    lexer_.fail(t, "a constant of type " + std::string(kir::name(s)));
  }

  Lexer lexer_;
  Kernel kernel_;
  std::map<std::string_view, Value> values_;
  int depth_ = 0;
};

}  // namespace

Kernel parse(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace primset::kir
