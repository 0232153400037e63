#include "sdk/python/signature.h"

#include <primset/error.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace primset::python {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 14> kKinds = {{
    {"Tensor", Kind::tensor},
    {"Scalar", Kind::scalar},
    {"SymInt", Kind::integer},
    {"int", Kind::integer},
    {"float", Kind::floating},
    {"bool", Kind::boolean},
    {"SymBool", Kind::boolean},
    {"str", Kind::string},
    {"ScalarType", Kind::dtype},
    {"Layout", Kind::layout},
    {"MemoryFormat", Kind::memory_format},
    {"Device", Kind::device},
    {"Generator", Kind::generator},
    {"Storage", Kind::storage},
}};

class Parser {
 public:
  explicit Parser(std::string_view schema) : text_(schema), rest_(schema) {}

  void parse(Signature& s) {
    s.schema = text_;
    parse_name(s);
    expect("(");
    bool keyword_only = false;
    while (!take(")")) {
      if (take("*")) {
        keyword_only = true;
      } else {
        s.parameters.push_back(parameter(keyword_only));
      }
      take(",");
    }
    expect("->");
    parse_returns(s);
    s.positional = static_cast<size_t>(
        std::ranges::count_if(s.parameters, [](const Parameter& p) { return !p.keyword_only; }));
    s.writes = std::ranges::any_of(s.parameters, &Parameter::writes);
    s.has_outs = std::ranges::any_of(s.parameters, [](const Parameter& p) {
      return p.keyword_only && p.writes && p.fallback.empty();
    });
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw Error(ErrorCode::internal, "schema '" + std::string(text_) + "': expected " +
                                         std::string(expected) + " at '" + std::string(rest_) +
                                         "'");
  }
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(token);
  }
  std::string word() {
    skip_spaces();
    size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_'))
      ++n;
    if (n == 0) fail("a name");
    std::string out(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return out;
  }

  void parse_name(Signature& s) {
    s.base = word();
    if (take("::")) s.base = word();
    if (take(".")) s.overload = word();
  }

  Type type() {
    Type t;
    const std::string_view from = rest_;
    const std::string name = word();
    const auto* known = std::ranges::find(kKinds, name, [](const auto& k) { return k.first; });
    if (known == kKinds.end()) fail("a type");
    t.kind = known->second;
    t.text = name;
    if (take("(")) {
      t.alias = word();
      if (take("|")) t.alias += "|" + word();
      t.writes = take("!");
      while (!take(")")) rest_.remove_prefix(1);  // "-> *"
    }
    if (take("?")) {
      t.optional = true;
      t.text += "?";
    }
    if (take("[")) {
      t.list = true;
      t.optional_element = std::exchange(t.optional, false);
      if (!take("]")) {
        t.fixed_size = std::stoi(word());
        expect("]");
      }
      t.text += t.fixed_size ? "[" + std::to_string(t.fixed_size) + "]" : "[]";
      if (take("?")) {
        t.optional = true;
        t.text += "?";
      }
    }
    if (rest_.size() == from.size()) fail("a type");
    return t;
  }

  Parameter parameter(bool keyword_only) {
    Parameter p;
    static_cast<Type&>(p) = type();
    p.name = word();
    p.interned = PyUnicode_InternFromString(p.name.c_str());
    p.keyword_only = keyword_only;
    if (take("=")) p.fallback = default_text();
    return p;
  }

  // Up to the next comma or the closing parenthesis; brackets and quotes nest.
  std::string default_text() {
    size_t n = 0;
    int depth = 0;
    char quote = 0;
    for (; n < rest_.size(); ++n) {
      const char c = rest_[n];
      if (quote) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[' || c == '(') {
        ++depth;
      } else if (depth > 0 && (c == ']' || c == ')')) {
        --depth;
      } else if (depth == 0 && (c == ',' || c == ')')) {
        break;
      }
    }
    std::string out(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return out;
  }

  void parse_returns(Signature& s) {
    if (take("()")) return;
    const bool many = take("(");
    do {
      s.returns.push_back(type());
      skip_spaces();
      if (!rest_.empty() && rest_.front() != ',' && rest_.front() != ')') word();  // its name
    } while (take(","));
    if (many) expect(")");
  }

  std::string_view text_, rest_;
};

}  // namespace

Signature::Signature(std::string_view text) {
  Parser(text).parse(*this);
}

}  // namespace primset::python
