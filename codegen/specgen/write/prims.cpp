#include "codegen/specgen/write/prims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "codegen/specgen/write/file_writer.h"

namespace primset::specs {
namespace {

// Keywords and alternative tokens of C++20, sorted.
constexpr std::array<std::string_view, 92> kReserved = {
    "alignas",       "alignof",     "and",
    "and_eq",        "asm",         "auto",
    "bitand",        "bitor",       "bool",
    "break",         "case",        "catch",
    "char",          "char16_t",    "char32_t",
    "char8_t",       "class",       "co_await",
    "co_return",     "co_yield",    "compl",
    "concept",       "const",       "const_cast",
    "consteval",     "constexpr",   "constinit",
    "continue",      "decltype",    "default",
    "delete",        "do",          "double",
    "dynamic_cast",  "else",        "enum",
    "explicit",      "export",      "extern",
    "false",         "float",       "for",
    "friend",        "goto",        "if",
    "inline",        "int",         "long",
    "mutable",       "namespace",   "new",
    "noexcept",      "not",         "not_eq",
    "nullptr",       "operator",    "or",
    "or_eq",         "private",     "protected",
    "public",        "register",    "reinterpret_cast",
    "requires",      "return",      "short",
    "signed",        "sizeof",      "static",
    "static_assert", "static_cast", "struct",
    "switch",        "template",    "this",
    "thread_local",  "throw",       "true",
    "try",           "typedef",     "typeid",
    "typename",      "union",       "unsigned",
    "using",         "virtual",     "void",
    "volatile",      "wchar_t",     "while",
    "xor",           "xor_eq"};

std::string_view type_name(AttributeType type) {
  switch (type) {
    case AttributeType::dtype:
      return "dtype";
    case AttributeType::integer:
      return "integer";
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
      return "boolean";
  }
  return "?";
}

bool any_variadic(const Primitive& p) {
  return std::any_of(p.operands.begin(), p.operands.end(),
                     [](const Operand& o) { return o.variadic; });
}

bool variadic_results(const Primitive& p) {
  return std::any_of(p.results.begin(), p.results.end(),
                     [](const PrimResult& r) { return r.variadic; });
}

// The macros of the table, so that one file serves a reader of any one of them.
constexpr std::string_view kTableHead = R"(
// PRIMSET_PRIM_OPERAND(id, index, "name", variadic, optional, dtype_mask)
// PRIMSET_PRIM_ATTRIBUTE(id, index, "name", type, has_default), type an enumerator of AttributeType
// PRIMSET_PRIM_RESULT(id, index, "name", variadic, "dtype rule")
// PRIMSET_PRIM_DONATES(id, operand_index)
// Define what is wanted; the rest expands to nothing, and all are undefined at the end.
#ifndef PRIMSET_PRIM_OPERAND
#define PRIMSET_PRIM_OPERAND(...)
#endif
#ifndef PRIMSET_PRIM_ATTRIBUTE
#define PRIMSET_PRIM_ATTRIBUTE(...)
#endif
#ifndef PRIMSET_PRIM_RESULT
#define PRIMSET_PRIM_RESULT(...)
#endif
#ifndef PRIMSET_PRIM_DONATES
#define PRIMSET_PRIM_DONATES(...)
#endif

)";
constexpr std::string_view kTableTail = R"(
#undef PRIMSET_PRIM_OPERAND
#undef PRIMSET_PRIM_ATTRIBUTE
#undef PRIMSET_PRIM_RESULT
#undef PRIMSET_PRIM_DONATES
)";

constexpr std::string_view kTraitsHead = R"(
// PRIMSET_PRIM_TRAITS(id, initializers of specs::PrimTraits), in the order of the bundle
// PRIMSET_PRIM_SIBLING(id, other id)
// Define what is wanted; the rest expands to nothing, and both are undefined at the end.
#ifndef PRIMSET_PRIM_TRAITS
#define PRIMSET_PRIM_TRAITS(...)
#endif
#ifndef PRIMSET_PRIM_SIBLING
#define PRIMSET_PRIM_SIBLING(...)
#endif

)";
constexpr std::string_view kTraitsTail = R"(
#undef PRIMSET_PRIM_TRAITS
#undef PRIMSET_PRIM_SIBLING
)";

std::string table_rows(const Primitive& p) {
  const std::string id = cpp_identifier(p.name);
  std::string out;
  for (size_t i = 0; i < p.operands.size(); ++i) {
    const Operand& o = p.operands[i];
    out += fmt::format("PRIMSET_PRIM_OPERAND({}, {}, \"{}\", {}, {}, 0x{:x})\n", id, i, o.name,
                       o.variadic, o.optional, o.dtypes.mask());
  }
  for (size_t i = 0; i < p.attributes.size(); ++i) {
    const Attribute& a = p.attributes[i];
    out += fmt::format("PRIMSET_PRIM_ATTRIBUTE({}, {}, \"{}\", {}, {})\n", id, i, a.name,
                       type_name(a.type), a.default_value.present());
  }
  for (size_t i = 0; i < p.results.size(); ++i) {
    const PrimResult& r = p.results[i];
    out += fmt::format("PRIMSET_PRIM_RESULT({}, {}, \"{}\", {}, \"{}\")\n", id, i, r.name,
                       r.variadic, r.dtype);
  }
  for (uint32_t operand : p.donates) {
    out += fmt::format("PRIMSET_PRIM_DONATES({}, {})\n", id, operand);
  }
  return out;
}

std::string initializer(std::string_view name, bool value) {
  return fmt::format(".{} = {}", name, value);
}

template <typename Enum>
std::string initializer(std::string_view name, Enum value) {
  return fmt::format(".{} = {}::{}", name, TraitNames<Enum>::type, trait_name(value));
}

// Initialisers of all members of PrimTraits, in their order.
std::string trait_initializers(const PrimTraits& traits) {
  std::string out;
  const auto write = [&](std::string_view name, auto value) {
    out += ", " + initializer(name, value);
  };
  each_stated_trait(traits, write);
  each_derived_trait(traits, write);
  return out;
}

}  // namespace

std::string cpp_identifier(const std::string& name) {
  const bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
  return reserved ? name + "_" : name;
}

std::string emit_prim_list(const Bundle& bundle) {
  std::string out(kGeneratedNotice);
  out +=
      "// PRIMSET_PRIM(id, \"name\", tier, \"category\", operands, variadic, results, regions)\n"
      "// in the order of the bundle, so that a primitive's place here is its index there.\n"
      "// `operands` and `results` count those declared; `variadic` says that one stands for any\n"
      "// number; `results` is -1 when one of them does.\n";
  for (const Primitive& p : bundle.primitives) {
    out += fmt::format("PRIMSET_PRIM({}, \"{}\", {}, \"{}\", {}, {}, {}, {})\n",
                       cpp_identifier(p.name), p.name, trait_name(p.tier), p.category,
                       p.operands.size(), any_variadic(p),
                       variadic_results(p) ? -1 : static_cast<int>(p.results.size()), p.regions);
  }
  return out + "#undef PRIMSET_PRIM\n";
}

std::string emit_prim_table(const Bundle& bundle) {
  std::string out(kGeneratedNotice);
  out += kTableHead;
  for (const Primitive& p : bundle.primitives) out += table_rows(p);
  return out + std::string(kTableTail);
}

std::string emit_prim_traits(const Bundle& bundle) {
  std::string out(kGeneratedNotice);
  out += kTraitsHead;
  for (const Primitive& p : bundle.primitives) {
    out += fmt::format("PRIMSET_PRIM_TRAITS({}{})\n", cpp_identifier(p.name),
                       trait_initializers(p.traits));
  }
  for (const Primitive& p : bundle.primitives) {
    for (uint32_t sibling : p.siblings) {
      out += fmt::format("PRIMSET_PRIM_SIBLING({}, {})\n", cpp_identifier(p.name),
                         cpp_identifier(bundle.primitives[sibling].name));
    }
  }
  return out + std::string(kTraitsTail);
}

}  // namespace primset::specs
