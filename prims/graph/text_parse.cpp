#include <charconv>
#include <unordered_map>

#include "prims/graph/intern.h"
#include "prims/graph/signature.h"
#include "prims/graph/text.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

// Nesting of regions and of symbolic expressions, so that hostile text cannot exhaust the stack.
constexpr int kMaxDepth = 64;

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) { skip_space(); }

  [[noreturn]] void fail(const std::string& expected) const {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n';
    }
    std::string seen =
        at_ < text_.size() ? "'" + std::string(text_.substr(at_, 1)) + "'" : "the end";
    throw Error(ErrorCode::value, std::to_string(line) + ":" + std::to_string(column) + ": found " +
                                      seen + "; expected " + expected);
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool accept(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    if (is_word(token.back()) && is_word(next(token.size()))) return false;
    at_ += token.size();
    skip_space();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("'" + std::string(token) + "'");
  }
  bool at_negative_number() const { return peek() == '-' && std::isdigit(next(1)); }
  bool at_word() const { return std::isalpha(static_cast<unsigned char>(peek())) || peek() == '_'; }

  std::string_view word(const char* what) {
    if (!at_word()) fail(what);
    size_t n = 0;
    while (is_word(next(n))) ++n;
    return take(n);
  }
  int64_t integer() {
    int64_t v = 0;
    const char* begin = text_.data() + at_;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), v);
    if (error != std::errc()) fail("an integer of 64 bits");
    take(static_cast<size_t>(end - begin));
    return v;
  }
  // A number's characters; "inf" and "nan" too.
  double number(bool* is_integer, int64_t* integer_value) {
    size_t n = next(0) == '-' || next(0) == '+' ? 1 : 0;
    while (is_word(next(n)) || next(n) == '.' ||
           ((next(n) == '-' || next(n) == '+') && (next(n - 1) == 'e'))) {
      ++n;
    }
    std::string token(text_.substr(at_, n));
    auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), *integer_value);
    *is_integer = error == std::errc() && end == token.data() + token.size() && n > 0;
    double v = 0;
    const char *begin = token.data() + token.starts_with('+'), *last = token.data() + token.size();
    const auto [stop, bad] = std::from_chars(begin, last, v);
    if (bad != std::errc() || stop != last) fail("a number");
    take(n);
    return v;
  }
  std::string string() {
    if (peek() != '"') fail("a string");
    std::string out;
    size_t n = 1;
    for (; next(n) != '"'; ++n) {
      if (at_ + n >= text_.size()) fail("a closing quote");
      if (next(n) != '\\') {
        out += next(n);
      } else if (next(n + 1) == 'x') {
        unsigned v = 0;
        const char* hex = text_.data() + at_ + n + 2;
        if (at_ + n + 4 > text_.size()) fail("two hexadecimal digits");
        if (std::from_chars(hex, hex + 2, v, 16).ptr != hex + 2) fail("two hexadecimal digits");
        out += static_cast<char>(v);
        n += 3;
      } else {
        out += next(++n);
      }
    }
    take(n + 1);
    return out;
  }

 private:
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  char next(size_t n) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
  std::string_view take(size_t n) {
    std::string_view s = text_.substr(at_, n);
    at_ += n;
    skip_space();
    return s;
  }
  void skip_space() {
    while (!at_end() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Graph parse() {
    while (in_.accept("symbol")) symbol();
    while (in_.accept("guard")) guard();
    in_.expect("graph");
    in_.expect("(");
    if (!in_.accept(")")) {
      do input();
      while (in_.accept(","));
      in_.expect(")");
    }
    in_.expect("{");
    while (!in_.accept("return")) g_.body.nodes.push_back(node());
    if (in_.peek() == '%') {
      do output();
      while (in_.accept(","));
    }
    in_.expect("}");
    if (!in_.at_end()) in_.fail("the end");
    // Only now, so that they do not simplify what they guard.
    for (auto& [poly, relation] : guards_) g_.context().add_guard(poly, relation, 0);
    return std::move(g_);
  }

 private:
  void symbol() {
    std::string name(in_.word("a symbol's name"));
    if (symbols_.contains(name)) in_.fail("a symbol not declared before");
    in_.expect("=");
    int64_t hint = in_.integer();
    int64_t lower = in_.accept("min") ? in_.integer() : INT64_MIN;
    symbols_.emplace(name, g_.context().symbol(name, hint, lower));
  }

  void guard() {
    SymInt poly = expression(0);
    Guard::Relation relation = Guard::Relation::eq;
    if (in_.accept("=="))
      relation = Guard::Relation::eq;
    else if (in_.accept("!="))
      relation = Guard::Relation::ne;
    else if (in_.accept(">="))
      relation = Guard::Relation::ge;
    else if (in_.accept("<"))
      relation = Guard::Relation::lt;
    else
      in_.fail("==, !=, < or >=");
    in_.expect("0");
    guards_.emplace_back(poly, relation);
  }

  SymInt expression(int depth) {
    if (depth > kMaxDepth) in_.fail("fewer nested expressions");
    // A minus before digits belongs to the number, so that the least integer can be read.
    bool negative = !in_.at_negative_number() && in_.accept("-");
    SymInt sum = negative ? -term(depth) : term(depth);
    while (true) {
      if (in_.accept("+"))
        sum += term(depth);
      else if (in_.accept("-"))
        sum -= term(depth);
      else
        return sum;
    }
  }

  SymInt term(int depth) {
    SymInt product = factor(depth);
    while (in_.accept("*")) product *= factor(depth);
    return product;
  }

  SymInt factor(int depth) {
    if (!in_.at_word()) return in_.integer();
    std::string name(in_.word("a symbol"));
    if (!in_.accept("(")) {
      auto it = symbols_.find(name);
      if (it == symbols_.end()) in_.fail("a declared symbol before this, not '" + name + "'");
      return it->second;
    }
    SymInt a = expression(depth + 1);
    if (name == "ceil_log2") {
      in_.expect(")");
      return ceil_log2(a);
    }
    in_.expect(",");
    SymInt b = expression(depth + 1);
    in_.expect(")");
    if ((name == "floor_div" || name == "mod") && b.is_constant() && b.constant() == 0) {
      in_.fail("a divisor other than 0");
    }
    if (name == "floor_div") return floor_div(a, b);
    if (name == "mod") return mod(a, b);
    if (name == "min") return min(a, b);
    if (name == "max") return max(a, b);
    in_.fail("floor_div, mod, min, max or ceil_log2 before this, not '" + name + "'");
  }

  std::optional<DType> dtype(std::string_view word) { return dtype_from_name(word); }
  DType expect_dtype() {
    std::optional<DType> t = dtype(in_.word("a dtype"));
    if (!t) in_.fail("a dtype before this");
    return *t;
  }

  SymInts symints() {
    SymInts xs;
    in_.expect("[");
    if (in_.accept("]")) return xs;
    do xs.push_back(expression(0));
    while (in_.accept(","));
    in_.expect("]");
    return xs;
  }

  ValueType type() {
    DType t = expect_dtype();
    return {t, symints()};
  }

  int64_t value_number() {
    in_.expect("%");
    return in_.integer();
  }
  void define(int64_t number, ValueId v) {
    if (!values_.emplace(number, v).second) in_.fail("a value not defined before");
  }
  ValueId use() {
    auto it = values_.find(value_number());
    if (it == values_.end()) in_.fail("a defined value before this");
    return it->second;
  }

  std::string any_name() {
    return in_.peek() == '"' ? in_.string() : std::string(in_.word("a name"));
  }

  void input() {
    int64_t number = value_number();
    std::string name = any_name();
    in_.expect(":");
    ValueType t{expect_dtype(), {}};
    bool scalar = in_.accept("scalar");
    if (!scalar) t.shape = symints();
    ValueId v = g_.new_value(std::move(t), Graph::kNoNode);
    define(number, v);
    auto kind = scalar ? Input::Kind::scalar : Input::Kind::tensor;
    g_.inputs.push_back({kind, v, std::move(name)});
    g_.body.params.push_back(v);
  }

  void output() {
    ValueId v = use();
    std::string name = any_name();
    std::optional<uint32_t> writes;
    if (in_.accept("writes")) {
      int64_t i = in_.integer();
      if (i < 0 || i >= static_cast<int64_t>(g_.inputs.size())) in_.fail("an input's index");
      writes = static_cast<uint32_t>(i);
    }
    g_.outputs.push_back({v, std::move(name), writes});
    g_.body.results.push_back(v);
  }

  NodeId node() {
    std::vector<std::pair<int64_t, ValueType>> results;
    if (in_.peek() == '%') {
      do {
        int64_t number = value_number();
        in_.expect(":");
        results.emplace_back(number, type());
      } while (in_.accept(","));
      in_.expect("=");
    }
    std::optional<Prim> prim = prim_from_name(in_.word("a primitive"));
    if (!prim) in_.fail("a primitive's name before this");
    Node n{*prim, {}, {}, {}, {}};
    n.operands.assign(operands());
    if (in_.accept("{")) n.attrs = attrs();
    normalize_attrs(n.prim, n.attrs);
    while (in_.accept("region")) n.regions.push_back(region());
    auto id = static_cast<NodeId>(g_.node_count());
    for (auto& [number, t] : results) {
      n.results.push_back(g_.new_value(std::move(t), id));
      define(number, n.results.back());
    }
    return g_.new_node(std::move(n));
  }

  std::vector<ValueId> operands() {
    std::vector<ValueId> values;
    in_.expect("(");
    if (in_.accept(")")) return values;
    do values.push_back(in_.accept("none") ? kNoValue : use());
    while (in_.accept(","));
    in_.expect(")");
    return values;
  }

  std::vector<Attr> attrs() {
    std::vector<Attr> attrs;
    do {
      std::string_view name = intern(in_.word("an attribute's name"));
      in_.expect("=");
      attrs.push_back({name, attr_value()});
    } while (in_.accept(","));
    in_.expect("}");
    return attrs;
  }

  decltype(Attr::value) attr_value() {
    if (in_.peek() == '"') return in_.string();
    if (in_.peek() == '[') return symints();
    if (in_.accept("(")) return ints();
    if (in_.accept("#")) return scalar();
    if (in_.accept("<")) {
      SymInt s = expression(0);
      in_.expect(">");
      return s;
    }
    if (in_.accept("true")) return true;
    if (in_.accept("false")) return false;
    if (in_.at_word()) return expect_dtype();
    return in_.integer();
  }

  Attr::Ints ints() {
    Attr::Ints xs;
    if (in_.accept(")")) return xs;
    do xs.push_back(in_.integer());
    while (in_.accept(","));
    in_.expect(")");
    return xs;
  }

  Scalar scalar() {
    bool is_integer = false;
    int64_t integer = 0;
    if (in_.accept("true")) return Scalar(true);
    if (in_.accept("false")) return Scalar(false);
    if (in_.accept("(")) {
      double re = in_.number(&is_integer, &integer);
      in_.expect(",");
      double im = in_.number(&is_integer, &integer);
      in_.expect(")");
      return Scalar(std::complex<double>(re, im));
    }
    double v = in_.number(&is_integer, &integer);
    return is_integer ? Scalar(integer) : Scalar(v);
  }

  Region region() {
    if (++depth_ > kMaxDepth) in_.fail("fewer nested regions");
    Region r;
    in_.expect("(");
    if (!in_.accept(")")) {
      do {
        int64_t number = value_number();
        in_.expect(":");
        r.params.push_back(g_.new_value(type(), Graph::kNoNode));
        define(number, r.params.back());
      } while (in_.accept(","));
      in_.expect(")");
    }
    in_.expect("{");
    while (!in_.accept("return")) r.nodes.push_back(node());
    if (in_.peek() == '%') {
      do r.results.push_back(use());
      while (in_.accept(","));
    }
    in_.expect("}");
    --depth_;
    return r;
  }

  Cursor in_;
  Graph g_;
  std::unordered_map<std::string, SymInt> symbols_;
  std::unordered_map<int64_t, ValueId> values_;
  std::vector<std::pair<SymInt, Guard::Relation>> guards_;
  int depth_ = 0;
};

}  // namespace

Graph parse(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace primset::prims
