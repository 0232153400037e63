#include "codegen/specgen/parse/schema_parser.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include "codegen/specgen/read/cursor.h"
#include "primset/dtype.h"

namespace primset::specs {
namespace {

// An element type with the kind it has alone and as a list.
struct TypeName {
  std::string_view name;
  ArgKind kind;
  std::optional<ArgKind> list;
};

constexpr std::array<TypeName, 13> kTypes = {{
    {"Tensor", ArgKind::tensor, ArgKind::tensor_list},
    {"Scalar", ArgKind::scalar, ArgKind::scalar_list},
    {"int", ArgKind::integer, ArgKind::int_list},
    {"SymInt", ArgKind::sym_int, ArgKind::sym_int_list},
    {"float", ArgKind::floating, ArgKind::float_list},
    {"bool", ArgKind::boolean, ArgKind::bool_list},
    {"str", ArgKind::string, {}},
    {"ScalarType", ArgKind::scalar_type, {}},
    {"Layout", ArgKind::layout, {}},
    {"Device", ArgKind::device, {}},
    {"MemoryFormat", ArgKind::memory_format, {}},
    {"Generator", ArgKind::generator, {}},
    {"Storage", ArgKind::storage, {}},
}};

// Names that ATen's defaults use, with their codes there.
struct EnumName {
  std::string_view name;
  ArgKind kind;
  int64_t code;
};
constexpr std::array<EnumName, 3> kEnumNames = {{
    {"Mean", ArgKind::integer, 1},  // at::Reduction
    {"long", ArgKind::scalar_type, static_cast<int64_t>(DType::i64)},
    {"contiguous_format", ArgKind::memory_format, 0},
}};

template <typename Number>
bool whole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

struct Type {
  ArgKind kind = ArgKind::tensor;
  bool optional = false;
  int32_t fixed_size = 0;
  AliasInfo alias;
};

class SchemaParser {
 public:
  SchemaParser(const YamlNode& scalar, Schema& schema) : at_(scalar), schema_(schema) {}

  void run() {
    at_.expect("(");
    at_.skip_spaces();
    if (!at_.take(")")) {
      do {
        at_.skip_spaces();
        argument();
      } while (at_.take(","));
      at_.expect(")");
    }
    at_.skip_spaces();
    at_.expect("->");
    at_.skip_spaces();
    returns();
    at_.skip_spaces();
    if (!at_.at_end()) at_.fail_expecting("the end of the schema");
    mark_out_arguments();
    schema_.ok = true;
  }

 private:
  void argument() {
    if (at_.peek() == '*') {
      if (keyword_only_) at_.fail_expecting("an argument: '*' came before");
      at_.expect("*");
      keyword_only_ = true;
      return;
    }
    Argument a;
    const Type t = type();
    a.kind = t.kind;
    if (is_tensor_kind(a.kind)) a.rounding = ScalarRounding::storage;
    a.optional = t.optional;
    a.fixed_size = t.fixed_size;
    a.alias = t.alias;
    at_.skip_spaces();
    const size_t begin = at_.offset();
    a.name = at_.expect_name("the argument's name");
    for (const Argument& earlier : schema_.args) {
      if (earlier.name == a.name) at_.fail(begin, fmt::format("'{}' is declared twice", a.name));
    }
    if (at_.take("=")) a.default_value = default_value(a);
    a.keyword_only = keyword_only_;
    const bool given_anyway = a.kind == ArgKind::generator || a.alias.writes || keyword_only_;
    if (!a.default_value.present() && default_seen_ && !given_anyway) {
      at_.fail(begin,
               fmt::format("'{}' has no default, but an argument before it has one", a.name));
    }
    default_seen_ = default_seen_ || (a.default_value.present() && !keyword_only_);
    a.role = may_be_runtime(a.kind) ? Role::runtime : Role::structural;
    schema_.args.push_back(std::move(a));
  }

  Type type() {
    Type t;
    const size_t begin = at_.offset();
    const std::string_view name = at_.expect_name("a type");
    const TypeName* found = nullptr;
    std::vector<std::string_view> names;
    for (const TypeName& type : kTypes) {
      if (type.name == name) found = &type;
      names.push_back(type.name);
    }
    if (found == nullptr) {
      at_.fail(begin, fmt::format("unknown type {}", quote_with_suggestion(name, names)),
               one_of(names));
    }
    t.kind = found->kind;
    if (at_.peek() == '(') t.alias = alias();
    const bool optional_element = at_.looking_at("?[");
    if (optional_element) at_.expect("?");
    if (at_.take("[")) {
      if (!found->list) at_.fail(begin, fmt::format("there are no lists of {}", name));
      t.kind = *found->list;
      if (const auto size = at_.integer()) t.fixed_size = static_cast<int32_t>(*size);
      at_.expect("]");
    }
    if (optional_element) {
      if (t.kind != ArgKind::tensor_list) at_.fail(begin, "only Tensor?[] has optional elements");
      t.kind = ArgKind::optional_tensor_list;
    }
    t.optional = at_.take("?");
    return t;
  }

  AliasInfo alias() {
    AliasInfo info;
    at_.expect("(");
    info.letter = at_.peek();
    if (info.letter < 'a' || info.letter > 'z') at_.fail_expecting("a letter");
    at_.expect(std::string_view(&info.letter, 1));
    info.writes = at_.take("!");
    info.wildcard = at_.take(" -> *");
    at_.expect(")");
    return info;
  }

  void returns() {
    if (!at_.take("(")) {
      schema_.returns.push_back(one_return());
      return;
    }
    at_.skip_spaces();
    if (at_.take(")")) return;
    do {
      at_.skip_spaces();
      schema_.returns.push_back(one_return());
    } while (at_.take(","));
    at_.expect(")");
  }

  Return one_return() {
    Return r;
    const Type t = type();
    r.kind = t.kind;
    r.alias = t.alias;
    if (at_.peek() == ' ') {
      at_.skip_spaces();
      r.name = at_.name();
    }
    return r;
  }

  DefaultValue default_value(const Argument& a) {
    DefaultValue v;
    const size_t begin = at_.offset();
    v.spelling = at_.until(",)");
    const std::string_view text = v.spelling;
    if (text == "None" && (a.optional || a.kind == ArgKind::optional_tensor_list)) {
      v.kind = DefaultKind::none;
    } else if (a.kind == ArgKind::boolean && (text == "True" || text == "False")) {
      v.kind = DefaultKind::boolean;
      v.integer = text == "True";
    } else if (a.kind == ArgKind::string && text.size() >= 2 && text.front() == text.back() &&
               (text.front() == '"' || text.front() == '\'')) {
      v.kind = DefaultKind::string;
      v.text = text.substr(1, text.size() - 2);
    } else if (!number(a, text, v) && !list(a, text, v) && !enumeration(a, text, v)) {
      at_.fail(begin, fmt::format("'{}' is no default for {}", text, spelling(a.kind)));
    }
    return v;
  }

  static bool number(const Argument& a, std::string_view text, DefaultValue& v) {
    const bool integral = a.kind == ArgKind::integer || a.kind == ArgKind::sym_int;
    if ((integral || a.kind == ArgKind::scalar) && whole(text, v.integer)) {
      v.kind = DefaultKind::integer;
      return true;
    }
    if ((a.kind == ArgKind::floating || a.kind == ArgKind::scalar) && whole(text, v.floating)) {
      v.kind = DefaultKind::floating;
      return true;
    }
    return false;
  }

  // [1,2], or a number that stands for each element of a list of fixed size.
  static bool list(const Argument& a, std::string_view text, DefaultValue& v) {
    if (a.kind != ArgKind::int_list && a.kind != ArgKind::sym_int_list) return false;
    int64_t value = 0;
    v.kind = DefaultKind::int_list;
    if (whole(text, value)) {
      v.list.assign(static_cast<size_t>(a.fixed_size > 0 ? a.fixed_size : 1), value);
      return true;
    }
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      const size_t comma = std::min(text.find(','), text.size());
      if (!whole(text.substr(0, comma), value)) return false;
      v.list.push_back(value);
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return true;
  }

  static bool enumeration(const Argument& a, std::string_view text, DefaultValue& v) {
    for (const EnumName& e : kEnumNames) {
      if (e.name != text || e.kind != a.kind) continue;
      v.kind = DefaultKind::enumeration;
      v.text = text;
      v.integer = e.code;
      return true;
    }
    return false;
  }

  // The keyword-only arguments that are written, up to the end, are the out= arguments.
  void mark_out_arguments() {
    for (auto a = schema_.args.rbegin(); a != schema_.args.rend(); ++a) {
      if (!a->keyword_only || !a->alias.writes) return;
      a->is_out = true;
    }
  }

  Cursor at_;
  Schema& schema_;
  bool keyword_only_ = false;
  bool default_seen_ = false;
};

}  // namespace

Schema parse_schema(const YamlNode& scalar, Diagnostics& diagnostics) {
  Schema schema;
  try {
    SchemaParser(scalar, schema).run();
  } catch (const ParseError& error) {
    diagnostics.error(error.position, error.what, error.expected);
  }
  return schema;
}

bool may_be_runtime(ArgKind kind) {
  switch (kind) {
    case ArgKind::tensor:
    case ArgKind::tensor_list:
    case ArgKind::optional_tensor_list:
    case ArgKind::scalar:
    case ArgKind::scalar_list:
    case ArgKind::sym_int:
    case ArgKind::sym_int_list:
    case ArgKind::floating:
    case ArgKind::float_list:
    case ArgKind::generator:
      return true;
    default:
      return false;
  }
}

}  // namespace primset::specs
