#include "specs/bundle/schema.h"

#include <fmt/format.h>

namespace primset::specs {
namespace {

std::string alias_text(const AliasInfo& alias) {
  if (alias.letter == 0) return "";
  return fmt::format("({}{}{})", alias.letter, alias.writes ? "!" : "",
                     alias.wildcard ? " -> *" : "");
}

// "Tensor(a!)[]", "SymInt[2]?": the alias stands after the element type, the size in the brackets.
std::string type_text(ArgKind kind, bool optional, int32_t fixed_size, const AliasInfo& alias) {
  std::string_view element = spelling(kind);
  const bool list = is_list_kind(kind);
  if (list) element.remove_suffix(2);
  std::string text = fmt::format("{}{}", element, alias_text(alias));
  if (list) text += fixed_size > 0 ? fmt::format("[{}]", fixed_size) : "[]";
  if (optional) text += "?";
  return text;
}

std::string return_text(const Return& r) {
  std::string text = type_text(r.kind, false, 0, r.alias);
  return r.name.empty() ? text : fmt::format("{} {}", text, r.name);
}

}  // namespace

std::string_view spelling(ArgKind kind) {
  switch (kind) {
    case ArgKind::tensor:
      return "Tensor";
    case ArgKind::tensor_list:
      return "Tensor[]";
    case ArgKind::optional_tensor_list:
      return "Tensor?[]";
    case ArgKind::scalar:
      return "Scalar";
    case ArgKind::scalar_list:
      return "Scalar[]";
    case ArgKind::integer:
      return "int";
    case ArgKind::int_list:
      return "int[]";
    case ArgKind::sym_int:
      return "SymInt";
    case ArgKind::sym_int_list:
      return "SymInt[]";
    case ArgKind::floating:
      return "float";
    case ArgKind::float_list:
      return "float[]";
    case ArgKind::boolean:
      return "bool";
    case ArgKind::bool_list:
      return "bool[]";
    case ArgKind::string:
      return "str";
    case ArgKind::scalar_type:
      return "ScalarType";
    case ArgKind::layout:
      return "Layout";
    case ArgKind::device:
      return "Device";
    case ArgKind::memory_format:
      return "MemoryFormat";
    case ArgKind::generator:
      return "Generator";
    case ArgKind::storage:
      return "Storage";
  }
  return "?";
}

std::string print_schema(std::string_view qualified, const std::vector<Argument>& args,
                         const std::vector<Return>& returns) {
  std::string text = fmt::format("{}(", qualified);
  std::string_view separator;
  bool keyword = false;
  for (const Argument& a : args) {
    text += separator;
    if (a.keyword_only && !keyword) text += "*, ";
    keyword = keyword || a.keyword_only;
    text += fmt::format("{} {}", type_text(a.kind, a.optional, a.fixed_size, a.alias), a.name);
    if (a.default_value.present()) text += "=" + a.default_value.spelling;
    separator = ", ";
  }
  text += ") -> ";
  // A single result has no parentheses, named or not.
  if (returns.size() == 1) return text + return_text(returns[0]);
  text += "(";
  for (size_t i = 0; i < returns.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", return_text(returns[i]));
  }
  return text + ")";
}

}  // namespace primset::specs
