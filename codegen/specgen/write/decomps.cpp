#include "codegen/specgen/write/decomps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "codegen/specgen/write/file_writer.h"
#include "codegen/specgen/write/prims.h"

namespace primset::specs {
namespace {

// A parameter's type as a value; `by_reference` says whether it is passed as const T&.
struct DecompType {
  std::string value;
  bool by_reference = true;
};

DecompType value_type(ArgKind kind, Role role) {
  switch (kind) {
    case ArgKind::tensor:
      return {"Val"};
    case ArgKind::tensor_list:
      return {"std::vector<Val>"};
    case ArgKind::optional_tensor_list:
      return {"std::vector<std::optional<Val>>"};
    case ArgKind::scalar:
      return {"ScalarArg"};
    case ArgKind::scalar_list:
      return {"std::vector<ScalarArg>"};
    case ArgKind::integer:
      return {"int64_t", false};
    case ArgKind::int_list:
      return {"std::vector<int64_t>"};
    case ArgKind::sym_int:
      return {"SymInt", false};
    case ArgKind::sym_int_list:
      return {"SymInts"};
    case ArgKind::floating:
      if (role == Role::runtime) return {"ScalarArg"};
      return {"double", false};
    case ArgKind::float_list:
      return {role == Role::runtime ? "std::vector<ScalarArg>" : "std::vector<double>"};
    case ArgKind::boolean:
      return {"bool", false};
    case ArgKind::bool_list:
      return {"std::vector<bool>"};
    case ArgKind::string:
      return {"std::string"};
    case ArgKind::scalar_type:
      return {"DType", false};
    case ArgKind::layout:
      return {"Layout", false};
    case ArgKind::device:
      return {"DeviceArg"};
    case ArgKind::memory_format:
      return {"MemoryFormat", false};
    case ArgKind::generator:
      return {"RngArg"};
    case ArgKind::storage:
      return {"StorageArg"};
  }
  return {"void"};
}

DecompType value_type(AttributeType type) {
  switch (type) {
    case AttributeType::dtype:
      return {"DType", false};
    case AttributeType::integer:
      return {"int64_t", false};
    case AttributeType::ints:
      return {"std::vector<int64_t>"};
    case AttributeType::size:
      return {"SymInt", false};
    case AttributeType::sizes:
      return {"SymInts"};
    case AttributeType::scalar:
      return {"ScalarArg"};
    case AttributeType::string:
      return {"std::string"};
    case AttributeType::boolean:
      return {"bool", false};
  }
  return {"void"};
}

std::string parameter(const DecompType& type, bool optional, const std::string& name) {
  if (optional) return fmt::format("const std::optional<{}>& {}", type.value, cpp_identifier(name));
  if (type.by_reference) return fmt::format("const {}& {}", type.value, cpp_identifier(name));
  return fmt::format("{} {}", type.value, cpp_identifier(name));
}

std::string parameter(const Argument& a) {
  // A Generator? that is absent is the default generator, which RngArg can say itself.
  const bool optional = a.optional && a.kind != ArgKind::generator;
  return parameter(value_type(a.kind, a.role), optional, a.name);
}

std::string parameter(const Operand& o) {
  if (o.variadic) return parameter({"std::vector<Val>"}, false, o.name);
  return parameter({"Val"}, o.optional, o.name);
}

std::string parameter(const Attribute& a) {
  return parameter(value_type(a.type), a.default_value.kind == DefaultKind::none, a.name);
}

std::string return_type(const std::vector<std::string>& values) {
  if (values.empty()) return "void";
  if (values.size() == 1) return values[0];
  return fmt::format("std::tuple<{}>", fmt::join(values, ", "));
}

std::string signature_text(const std::vector<std::string>& results,
                           const std::vector<std::string>& parameters) {
  std::string text = return_type(results) + " decompose(Tracer& t";
  for (const std::string& p : parameters) text += ", " + p;
  return text + ")";
}

// A number is traced as a value of rank 0.
std::string result_type(const Return& r) {
  return is_list_kind(r.kind) ? value_type(r.kind, Role::runtime).value : "Val";
}

std::vector<std::string> result_types(const Overload& o) {
  std::vector<std::string> types;
  if (o.kind == OverloadKind::functional) {
    for (const Return& r : o.returns) types.push_back(result_type(r));
    return types;
  }
  for (const Argument& a : o.args) {
    if (a.alias.writes) types.push_back(value_type(a.kind, a.role).value);
  }
  // What a mutable operator returns besides what it writes.
  for (const Return& r : o.returns) {
    if (!r.alias.writes) types.push_back(result_type(r));
  }
  return types;
}

constexpr std::string_view kDecompIncludes = R"(
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "decomps/engine/decomposition.h"
)";

// One header under construction.
struct Header {
  std::set<std::string> includes;  // of headers that declare a function used here too
  std::string body;
};

std::string wrap_header(const std::string& file, const Header& header, std::string_view space) {
  std::string guard = "PRIMSET_GENERATED_DECOMPS_" + file;
  std::ranges::transform(guard, guard.begin(), [](char c) {
    if (c == '.' || c == '/') return '_';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  std::string text(kGeneratedNotice);
  text += fmt::format("#ifndef {0}_\n#define {0}_\n{1}", guard, kDecompIncludes);
  for (const std::string& include : header.includes) {
    text += fmt::format("#include \"decomps/{}\"\n", include);
  }
  text += fmt::format("\nnamespace {0} {{\n\n{1}}}  // namespace {0}\n\n#endif  // {2}_\n", space,
                      header.body, guard);
  return text;
}

// The names of functions, with the files that declare them.
using Functions = std::map<std::string, std::string>;

// Declares a function in the header of the first entry that names it.
void declare(const std::string& function, const std::string& signature, const std::string& comment,
             const std::string& file, std::map<std::string, Header>& headers,
             Functions& declared_in) {
  const auto [it, is_new] = declared_in.try_emplace(function, file);
  if (!is_new) {
    if (it->second != file) headers[file].includes.insert(it->second);
    return;
  }
  headers[file].body += fmt::format("// {}\nstruct {} {{\n  static {};\n}};\n\n", comment,
                                    cpp_identifier(function), signature);
}

std::string registry_text(const Functions& ops, const Functions& prims,
                          const std::set<std::string>& views) {
  std::string text(kGeneratedNotice);
  text +=
      "// PRIMSET_DECOMP(type, \"function\"): primset::decomps::type::decompose, of operators\n"
      "// PRIMSET_PRIM_DECOMP(type, \"function\"): primset::decomps::prim::type::decompose\n"
      "// PRIMSET_VIEW(\"function\"): the view functions\n"
      "// Define what is wanted; the rest expands to nothing, and all are undefined at the end.\n";
  constexpr const char* kMacros[] = {"PRIMSET_DECOMP", "PRIMSET_PRIM_DECOMP", "PRIMSET_VIEW"};
  for (const char* macro : kMacros)
    text += fmt::format("#ifndef {0}\n#define {0}(...)\n#endif\n", macro);
  for (const auto& [function, file] : ops) {
    text += fmt::format("PRIMSET_DECOMP({}, \"{}\")\n", cpp_identifier(function), function);
  }
  for (const auto& [function, file] : prims) {
    text += fmt::format("PRIMSET_PRIM_DECOMP({}, \"{}\")\n", cpp_identifier(function), function);
  }
  for (const std::string& view : views) text += fmt::format("PRIMSET_VIEW(\"{}\")\n", view);
  for (const char* macro : kMacros) text += fmt::format("#undef {}\n", macro);
  return text;
}

}  // namespace

std::string cpp_signature(const Overload& o) {
  std::vector<std::string> parameters;
  for (const Argument& a : o.args) {
    if (!a.is_out) parameters.push_back(parameter(a));
  }
  return signature_text(result_types(o), parameters);
}

std::string cpp_signature(const Primitive& p) {
  std::vector<std::string> parameters;
  for (const Operand& o : p.operands) parameters.push_back(parameter(o));
  for (const Attribute& a : p.attributes) parameters.push_back(parameter(a));
  std::vector<std::string> results;
  for (const PrimResult& r : p.results) results.push_back(r.variadic ? "std::vector<Val>" : "Val");
  return signature_text(results, parameters);
}

std::map<std::string, std::string> emit_decomps(const Bundle& bundle) {
  std::map<std::string, Header> ops;
  std::map<std::string, Header> prims;
  Functions op_functions;
  Functions prim_functions;
  std::set<std::string> views;
  for (const Primitive& p : bundle.primitives) {
    const std::string file = fmt::format("primitives/{}.h", p.category);
    prims.try_emplace(
        file);  // also without functions, so that the list of files is that of the YAML
    if (p.decomposition.kind != ImplKind::function) continue;
    declare(p.decomposition.function, cpp_signature(p), p.name, file, prims, prim_functions);
  }
  for (const Overload& o : bundle.overloads) {
    const std::string file = fmt::format("operators/{}.h", o.family);
    ops.try_emplace(file);
    if (o.implementation.kind == ImplKind::view) views.insert(o.implementation.function);
    if (o.implementation.kind != ImplKind::function) continue;
    declare(o.implementation.function, cpp_signature(o), o.schema, file, ops, op_functions);
  }

  std::map<std::string, std::string> files;
  std::string all(kGeneratedNotice);
  all += "#ifndef PRIMSET_GENERATED_DECOMPS_ALL_H_\n#define PRIMSET_GENERATED_DECOMPS_ALL_H_\n\n";
  for (const auto& [file, header] : ops) {
    files[file] = wrap_header(file, header, "primset::decomps");
    all += fmt::format("#include \"decomps/{}\"\n", file);
  }
  for (const auto& [file, header] : prims) {
    files[file] = wrap_header(file, header, "primset::decomps::prim");
    all += fmt::format("#include \"decomps/{}\"\n", file);
  }
  files["all.h"] = all + "\n#endif  // PRIMSET_GENERATED_DECOMPS_ALL_H_\n";

  files["registry.inc"] = registry_text(op_functions, prim_functions, views);
  return files;
}

}  // namespace primset::specs
