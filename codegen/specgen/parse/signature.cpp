#include "codegen/specgen/parse/signature.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <system_error>

#include "codegen/specgen/read/cursor.h"

namespace primset::specs {
namespace {

constexpr std::array kAttributeTypes = {
    AttributeType::dtype, AttributeType::integer, AttributeType::ints,   AttributeType::size,
    AttributeType::sizes, AttributeType::scalar,  AttributeType::string, AttributeType::boolean};

class SignatureParser {
 public:
  SignatureParser(const YamlNode& scalar, Signature& signature)
      : at_(scalar), signature_(signature) {}

  void run() {
    at_.expect("(");
    skip_and_until(";)", [this] { operand(); });
    if (at_.take(";")) skip_and_until(")", [this] { attribute(); });
    at_.expect(")");
    at_.skip_spaces();
    at_.expect("->");
    at_.skip_spaces();
    if (at_.take("(")) {
      skip_and_until(")", [this] { result(); });
      at_.expect(")");
    } else {
      result();
    }
    at_.skip_spaces();
    if (!at_.at_end()) at_.fail_expecting("the end of the signature");
  }

 private:
  // Elements separated by commas, up to one of `ends`.
  template <typename Element>
  void skip_and_until(std::string_view ends, Element element) {
    at_.skip_spaces();
    while (!at_.at_end() && ends.find(at_.peek()) == std::string_view::npos) {
      element();
      at_.skip_spaces();
      if (!at_.take(",")) break;
      at_.skip_spaces();
    }
    if (at_.at_end() || ends.find(at_.peek()) == std::string_view::npos) {
      at_.fail_expecting(ends.size() == 1 ? "',' or ')'" : "',', ';' or ')'");
    }
  }

  void operand() {
    OperandText o;
    const size_t begin = at_.offset();
    o.position = at_.position();
    o.operand.name = at_.expect_name("an operand's name");
    refuse_repeated(o.operand.name, begin);
    o.operand.variadic = at_.take("...");
    o.operand.optional = at_.take("?");
    if (at_.take(":")) {
      o.dtypes_position = at_.position();
      o.dtypes = at_.expect_name("a dtype or set");
    }
    signature_.operands.push_back(std::move(o));
  }

  void attribute() {
    Attribute a;
    const size_t begin = at_.offset();
    a.name = at_.expect_name("an attribute's name");
    refuse_repeated(a.name, begin);
    at_.expect(":");
    a.type = attribute_type();
    if (at_.take("=")) a.default_value = default_value(a.type);
    signature_.attributes.push_back(std::move(a));
  }

  AttributeType attribute_type() {
    const size_t begin = at_.offset();
    const std::string_view name = at_.expect_name("an attribute's type");
    std::vector<std::string_view> names;
    for (AttributeType type : kAttributeTypes) {
      if (spelling(type) == name) return type;
      names.push_back(spelling(type));
    }
    at_.fail(begin, fmt::format("unknown attribute type {}", quote_with_suggestion(name, names)),
             one_of(names));
  }

  void result() {
    PrimResult r;
    signature_.result_positions.push_back(at_.position());
    r.name = at_.expect_name("a result's name");
    r.variadic = at_.take("...");
    if (at_.take(":")) {
      const size_t begin = at_.offset();
      at_.expect_name("an operand, a dtype attribute or a dtype");
      if (at_.take("(")) {
        at_.expect_name("an operand");
        at_.expect(")");
      }
      r.dtype = at_.since(begin);
    } else if (!signature_.operands.empty()) {
      r.dtype = signature_.operands[0].operand.name;
    }
    signature_.results.push_back(std::move(r));
  }

  void refuse_repeated(std::string_view name, size_t begin) const {
    bool repeated = false;
    for (const OperandText& o : signature_.operands) repeated |= o.operand.name == name;
    for (const Attribute& a : signature_.attributes) repeated |= a.name == name;
    if (repeated) at_.fail(begin, fmt::format("'{}' is declared twice", name));
  }

  DefaultValue default_value(AttributeType type) {
    DefaultValue value;
    const size_t begin = at_.offset();
    value.spelling = at_.until(",; )");
    const std::string& text = value.spelling;
    const char* last = text.data() + text.size();
    auto number = [&](auto& target) {
      const auto [end, error] = std::from_chars(text.data(), last, target);
      return error == std::errc() && end == last && !text.empty();
    };
    if (text == "none") {
      value.kind = DefaultKind::none;
    } else if (type == AttributeType::boolean && (text == "true" || text == "false")) {
      value.kind = DefaultKind::boolean;
      value.integer = text == "true";
    } else if (is_integer(type) && number(value.integer)) {
      value.kind = DefaultKind::integer;
    } else if (type == AttributeType::scalar && number(value.floating)) {
      value.kind = DefaultKind::floating;
    } else if (type == AttributeType::string && text.size() >= 2 && text.front() == '"') {
      value.kind = DefaultKind::string;
      value.text = text.substr(1, text.size() - 2);
    } else if (is_list(type) && parse_list(text, value.list)) {
      value.kind = DefaultKind::int_list;
    } else {
      at_.fail(begin, fmt::format("'{}' is no default for type {}", text, spelling(type)),
               "a value of that type or none");
    }
    return value;
  }

  static bool is_integer(AttributeType type) {
    return type == AttributeType::integer || type == AttributeType::size ||
           type == AttributeType::scalar;
  }
  static bool is_list(AttributeType type) {
    return type == AttributeType::ints || type == AttributeType::sizes;
  }

  // [1,2]
  static bool parse_list(std::string_view text, std::vector<int64_t>& list) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc()) return false;
      list.push_back(value);
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      if (!text.empty() && text.front() != ',') return false;
      if (!text.empty()) text.remove_prefix(1);
    }
    return true;
  }

  Cursor at_;
  Signature& signature_;
};

}  // namespace

Signature parse_signature(const YamlNode& scalar, Diagnostics& diagnostics) {
  Signature signature;
  try {
    SignatureParser(scalar, signature).run();
  } catch (const ParseError& error) {
    diagnostics.error(error.position, error.what, error.expected);
  }
  return signature;
}

std::string_view spelling(AttributeType type) {
  switch (type) {
    case AttributeType::dtype:
      return "dtype";
    case AttributeType::integer:
      return "int";
    case AttributeType::ints:
      return "ints";
    case AttributeType::size:
      return "size";
    case AttributeType::sizes:
      return "sizes";
    case AttributeType::scalar:
      return "scalar";
    case AttributeType::string:
      return "string";
    case AttributeType::boolean:
      return "bool";
  }
  return "?";
}

}  // namespace primset::specs
