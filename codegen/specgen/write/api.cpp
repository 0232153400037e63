#include "codegen/specgen/write/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "codegen/specgen/write/file_writer.h"
#include "codegen/specgen/write/prims.h"

namespace primset::specs {
namespace {

// The C++ type of a value of this kind, and how a parameter of it is declared.
struct ApiType {
  std::string value, parameter, optional_parameter;
};

ApiType by_reference(const std::string& value) {
  return {value, "const " + value + "&", "const std::optional<" + value + ">&"};
}

ApiType by_value(const std::string& value) {
  return {value, value, "std::optional<" + value + ">"};
}

ApiType list_of(const std::string& element) {
  const std::string vector = "std::vector<" + element + ">";
  if (element == "int64_t") return {vector, "IntList", "OptionalList<int64_t>"};
  return {vector, "List<" + element + ">", "OptionalList<" + element + ">"};
}

ApiType type_of(ArgKind kind) {
  switch (kind) {
    case ArgKind::tensor:
      return by_reference("Tensor");
    case ArgKind::tensor_list:
    case ArgKind::optional_tensor_list:
      return list_of("Tensor");
    case ArgKind::scalar:
      return by_reference("Scalar");
    case ArgKind::scalar_list:
      return list_of("Scalar");
    case ArgKind::integer:
    case ArgKind::sym_int:
      return by_value("int64_t");
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return list_of("int64_t");
    case ArgKind::floating:
      return by_value("double");
    case ArgKind::float_list:
      return list_of("double");
    case ArgKind::boolean:
      return by_value("bool");
    case ArgKind::bool_list:
      return list_of("bool");
    case ArgKind::string:
      return {"std::string", "std::string_view", "std::optional<std::string_view>"};
    case ArgKind::scalar_type:
      return by_value("DType");
    case ArgKind::layout:
      return by_value("Layout");
    case ArgKind::device:
      return by_value("Device");
    case ArgKind::memory_format:
      return by_value("MemoryFormat");
    case ArgKind::generator:
      return by_reference("Generator");
    case ArgKind::storage:
      return by_reference("Storage");
  }
  return {};
}

// "inf" and "1e-05" as C++ writes them.
std::string floating_text(double v) {
  if (std::isinf(v))
    return fmt::format("{}std::numeric_limits<double>::infinity()", v < 0 ? "-" : "");
  if (std::isnan(v)) return "std::numeric_limits<double>::quiet_NaN()";
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string enumeration_text(const Argument& a) {
  if (a.kind == ArgKind::integer || a.kind == ArgKind::sym_int)
    return fmt::format("{} /* {} */", a.default_value.integer, a.default_value.text);
  return fmt::format("{}{{{}}} /* {} */", type_of(a.kind).value, a.default_value.integer,
                     a.default_value.text);
}

// The default argument; the argument has one.
std::string default_text(const Argument& a) {
  const DefaultValue& d = a.default_value;
  if (is_list_kind(a.kind) && d.kind == DefaultKind::integer) {
    const auto count = static_cast<size_t>(std::max(a.fixed_size, 1));
    return fmt::format("{{{}}}", fmt::join(std::vector<int64_t>(count, d.integer), ", "));
  }
  switch (d.kind) {
    case DefaultKind::absent:
      break;
    case DefaultKind::none:
      return "std::nullopt";
    case DefaultKind::integer:
      return a.kind == ArgKind::floating ? fmt::format("{}.0", d.integer)
                                         : fmt::format("{}", d.integer);
    case DefaultKind::floating:
      return floating_text(d.floating);
    case DefaultKind::boolean:
      return d.integer ? "true" : "false";
    case DefaultKind::string:
      return fmt::format("\"{}\"", d.text);
    case DefaultKind::int_list:
      return fmt::format("{{{}}}", fmt::join(d.list, ", "));
    case DefaultKind::enumeration:
      return enumeration_text(a);
  }
  return "";
}

std::string parameter_type(const Argument& a) {
  const ApiType type = type_of(a.kind);
  return a.optional ? type.optional_parameter : type.parameter;
}

// The schema's arguments in the order of C++: the out= tensors first, as in ATen's C++ API.
std::vector<const Argument*> cpp_order(const Overload& o) {
  std::vector<const Argument*> order;
  for (const Argument& a : o.args) {
    if (a.is_out) order.push_back(&a);
  }
  for (const Argument& a : o.args) {
    if (!a.is_out) order.push_back(&a);
  }
  return order;
}

std::string parameters_text(const Overload& o) {
  const std::vector<const Argument*> order = cpp_order(o);
  // C++ wants a default on everything after the first default; ATen's keyword arguments may lack
  // one.
  size_t defaults_from = order.size();
  while (defaults_from > 0 && order[defaults_from - 1]->default_value.present()) --defaults_from;
  std::vector<std::string> list;
  for (size_t i = 0; i < order.size(); ++i) {
    std::string text = parameter_type(*order[i]) + " " + cpp_identifier(order[i]->name);
    if (i >= defaults_from) text += " = " + default_text(*order[i]);
    list.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

// What a caller can tell two functions of one name apart by.
std::string types_text(const Overload& o) {
  std::string text;
  for (const Argument* a : cpp_order(o)) text += parameter_type(*a) + ",";
  return text;
}

// The written argument that a return is, or null.
const Argument* written_argument(const Overload& o, const Return& r) {
  if (!r.alias.writes) return nullptr;
  for (const Argument& a : o.args) {
    if (a.alias.writes && a.alias.letter == r.alias.letter && a.kind == r.kind) return &a;
  }
  return nullptr;
}

std::string return_type(const Overload& o) {
  std::vector<std::string> types;
  for (const Return& r : o.returns) types.push_back(type_of(r.kind).value);
  if (types.empty()) return "void";
  if (types.size() == 1) return types[0];
  return fmt::format("std::tuple<{}>", fmt::join(types, ", "));
}

// The statements that call and return.
std::string call_text(const Overload& o) {
  const bool tensors =
      std::ranges::all_of(o.returns, [](const Return& r) { return r.kind == ArgKind::tensor; });
  const bool returns_arguments = tensors && std::ranges::all_of(o.returns, [&](const Return& r) {
                                   return written_argument(o, r);
                                 });
  if (returns_arguments) {  // of what is written, or of nothing
    std::vector<std::string> names;
    for (const Return& r : o.returns) names.push_back(cpp_identifier(written_argument(o, r)->name));
    std::string text = "  detail::call_void(op, args);\n";
    if (names.size() == 1) text += fmt::format("  return {};\n", names[0]);
    if (names.size() > 1) text += fmt::format("  return {{{}}};\n", fmt::join(names, ", "));
    return text;
  }
  if (tensors && o.returns.size() == 1) return "  return detail::call_tensor(op, args);\n";
  std::vector<std::string> parts;
  // results_: no argument of a schema ends in an underscore.
  if (tensors) {
    for (size_t i = 0; i < o.returns.size(); ++i)
      parts.push_back(fmt::format("std::move(results_[{}])", i));
    return fmt::format(
        "  Tensor results_[{}];\n  detail::call_tensors(op, args, results_);\n  return {{{}}};\n",
        parts.size(), fmt::join(parts, ", "));
  }
  if (o.returns.size() == 1)
    return fmt::format("  return detail::call_value(op, args).as<{}>();\n",
                       type_of(o.returns[0].kind).value);
  for (size_t i = 0; i < o.returns.size(); ++i)
    parts.push_back(fmt::format("results_[{}].as<{}>()", i, type_of(o.returns[i].kind).value));
  return fmt::format(
      "  const std::vector<Value> results_ = detail::call_values(op, args);\n  return {{{}}};\n",
      fmt::join(parts, ", "));
}

std::string function_text(const Overload& o, const std::string& name) {
  std::vector<std::string> names;
  for (const Argument& a : o.args) names.push_back(cpp_identifier(a.name));
  std::string text = fmt::format("// {}\ninline {} {}({}) {{\n", o.schema, return_type(o), name,
                                 parameters_text(o));
  text += fmt::format("  static const detail::Op op(\"{}\");\n", o.qualified);
  // Without arguments there is no array to make.
  text += names.empty()
              ? "  constexpr std::span<const detail::Arg> args;\n"
              : fmt::format("  const detail::Arg args[] = {{{}}};\n", fmt::join(names, ", "));
  return text + call_text(o) + "}\n\n";
}

constexpr std::string_view kApiIncludes = R"(
#include <primset/detail/call.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace primset {

)";

std::string header_text(const std::string& family, const std::string& body) {
  std::string guard = "PRIMSET_OPS_" + family + "_H_";
  std::ranges::transform(guard, guard.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(
      "{0}#ifndef {1}\n#define {1}\n{2}{3}}}  // namespace primset\n\n#endif  // {1}\n",
      kGeneratedNotice, guard, kApiIncludes, body);
}

// ATen's C++ name: the operator's, with _out for out= overloads. Overloads that C++ cannot tell
// apart get their overload name as well.
class Names {
 public:
  std::string name_for(const Overload& o) {
    std::string name = cpp_identifier(o.op);
    if (o.kind == OverloadKind::out) name = o.op + "_out";
    if (taken_.insert(name + "(" + types_text(o)).second) return name;
    name += "_" + o.overload;
    taken_.insert(name + "(" + types_text(o));
    return name;
  }

 private:
  std::set<std::string> taken_;
};

}  // namespace

std::map<std::string, std::string> emit_api(const Bundle& bundle) {
  std::map<std::string, std::string> bodies;
  Names names;
  for (const Overload& o : bundle.overloads) {
    if (o.internal) continue;
    std::string& body = bodies[o.family];
    if (o.status == Status::implemented) body += function_text(o, names.name_for(o));
  }
  std::map<std::string, std::string> files;
  std::string all(kGeneratedNotice);
  all += "// Every operator as a C++ function.\n";
  all += "#ifndef PRIMSET_OPS_H_\n#define PRIMSET_OPS_H_\n\n";
  for (const auto& [family, body] : bodies) {
    files["ops/" + family + ".h"] = header_text(family, body);
    all += fmt::format("#include <primset/ops/{}.h>\n", family);
  }
  files["ops.h"] = all + "\n#endif  // PRIMSET_OPS_H_\n";
  return files;
}

}  // namespace primset::specs
