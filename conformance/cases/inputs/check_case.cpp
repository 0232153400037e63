#include "conformance/cases/inputs/check_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace primset::conformance {
namespace {

using specs::ArgKind;

[[noreturn]] void wrong(const std::string& where, const std::string& found,
                        const std::string& expected) {
  throw Error(ErrorCode::corrupt, fmt::format("{}: found {}; expected {}", where, found, expected));
}

// In the order of ArgValue's alternatives.
constexpr const char* kAlternatives[] = {
    "null", "tensor", "tensors", "scalar", "scalars", "int",           "ints",   "float", "floats",
    "bool", "bools",  "string",  "dtype",  "layout",  "memory_format", "device", "seed",  "out"};
static_assert(std::size(kAlternatives) == std::variant_size_v<ArgValue::Alternatives>);

bool all_defined(const TensorList& list) {
  return std::ranges::all_of(list, [](const auto& t) { return t.has_value(); });
}

template <typename T>
bool is(const ArgValue& v) {
  return std::holds_alternative<T>(v);
}

bool has_kind(const ArgValue& v, ArgKind kind) {
  switch (kind) {
    case ArgKind::tensor:
      return is<HostTensor>(v);
    case ArgKind::tensor_list:
      return is<TensorList>(v) && all_defined(std::get<TensorList>(v));
    case ArgKind::optional_tensor_list:
      return is<TensorList>(v);
    case ArgKind::scalar:
      return is<Scalar>(v);
    case ArgKind::scalar_list:
      return is<std::vector<Scalar>>(v);
    case ArgKind::integer:
    case ArgKind::sym_int:
      return is<int64_t>(v);
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return is<std::vector<int64_t>>(v);
    case ArgKind::floating:
      return is<double>(v);
    case ArgKind::float_list:
      return is<std::vector<double>>(v);
    case ArgKind::boolean:
      return is<bool>(v);
    case ArgKind::bool_list:
      return is<std::vector<bool>>(v);
    case ArgKind::string:
      return is<std::string>(v);
    case ArgKind::scalar_type:
      return is<DType>(v);
    case ArgKind::layout:
      return is<Layout>(v);
    case ArgKind::memory_format:
      return is<MemoryFormat>(v);
    case ArgKind::device:
      return is<DeviceUnderTest>(v);
    case ArgKind::generator:
      return is<RngState>(v);
    case ArgKind::storage:
      return is<HostTensor>(v);  // whose storage is meant
  }
  return false;
}

void check_operator(const specs::Bundle& bundle, const TestCase& test) {
  const specs::Overload* overload = bundle.find_overload(test.id.subject);
  if (!overload) wrong("id", test.id.subject, "the name of an operator");
  if (overload->status != specs::Status::implemented)
    wrong("id", test.id.subject, "an operator that is implemented");
  if (!test.inputs.empty())
    wrong("inputs", fmt::format("{} of an operator", test.inputs.size()), "none");
  if (test.args.size() != overload->args.size())
    wrong("args", std::to_string(test.args.size()),
          fmt::format("{}: {}", overload->args.size(), overload->schema));
  for (size_t i = 0; i < test.args.size(); ++i) {
    const specs::Argument& a = overload->args[i];
    if (is<std::monostate>(test.args[i]) && a.optional) continue;
    if (has_kind(test.args[i], a.kind)) continue;
    wrong(fmt::format("args[{}]", i), kAlternatives[test.args[i].index()],
          fmt::format("{}{} for '{}' of {}", specs::spelling(a.kind), a.optional ? "?" : "", a.name,
                      overload->schema));
  }
}

// The graph's sizes are symbols or numbers; the case is the one that they are hints of.
bool fits(const HostTensor& t, const prims::ValueType& type) {
  return t.dtype == type.dtype && !t.is_sparse() &&
         std::ranges::equal(t.sizes, type.shape,
                            [](int64_t n, const prims::SymInt& s) { return n == s.hint(); });
}

void check_primitive(const specs::Bundle& bundle, const TestCase& test) {
  if (!bundle.find_primitive(test.id.subject))
    wrong("id", test.id.subject, "the name of a primitive");
  if (!test.args.empty()) wrong("args", fmt::format("{} of a primitive", test.args.size()), "none");
  const prims::Graph& graph = *test.graph;
  if (test.inputs.size() != graph.inputs.size())
    wrong("inputs", std::to_string(test.inputs.size()),
          fmt::format("{}, as the graph has", graph.inputs.size()));
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const HostTensor& t = test.inputs[i];
    const prims::ValueType& type = graph.type(graph.inputs[i].value);
    if (fits(t, type)) continue;
    std::vector<int64_t> sizes;
    for (const prims::SymInt& s : type.shape) sizes.push_back(s.hint());
    wrong(fmt::format("inputs[{}]", i),
          fmt::format("{}[{}]", name(t.dtype), fmt::join(t.sizes, ", ")),
          fmt::format("{}[{}], as the graph has", name(type.dtype), fmt::join(sizes, ", ")));
  }
}

}  // namespace

void check_case(const specs::Bundle& bundle, const TestCase& test) {
  test.id.level == Level::op ? check_operator(bundle, test) : check_primitive(bundle, test);
}

}  // namespace primset::conformance
