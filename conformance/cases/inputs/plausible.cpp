// Values for arguments that must be given and that nobody said anything about.
#include <algorithm>

#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

using specs::ArgKind;
using specs::Argument;

struct NamedValue {
  std::string_view name;
  std::string_view value;
};
// By the argument's name, where a kind alone would give nonsense.
constexpr NamedValue kByName[] = {
    {"dim", "0"},
    {"dim0", "0"},
    {"dim1", "1"},
    {"keepdim", "false"},
    {"eps", "1e-5"},
    {"p", "0.5"},
    {"momentum", "0.1"},
    {"training", "true"},
    {"train", "true"},
    {"num_groups", "1"},
    {"k", "2"},
    {"index", "0"},
    {"start", "0"},
    {"end", "3"},
    {"step", "1"},
    {"length", "2"},
    {"n", "3"},
    {"m", "3"},
    {"diagonal", "0"},
    {"offset", "0"},
    {"size", "[3,4]"},
    {"chunks", "2"},
    {"split_size", "2"},
    {"shifts", "[1]"},
    {"dims", "[0]"},
    {"repeats", "[2]"},
    {"kernel_size", "[2]"},
    {"reduction", "1"},
    {"delta", "1.0"},
    {"beta", "1"},
    {"threshold", "0.5"},
    {"lambd", "0.5"},
    {"negative_slope", "0.1"},
    {"alpha", "1"},
    {"min", "-1"},
    {"max", "1"},
    {"min_val", "-1"},
    {"max_val", "1"},
    {"approximate", "\"tanh\""},
    {"rounding_mode", "\"floor\""},
    {"reduce", "\"sum\""},
    {"ord", "2"},
    {"repeat", "2"},
    {"self_is_result", "false"},
};

// Tensors that are not of the case's dtype.
constexpr NamedValue kTensorByName[] = {
    {"index", "i64[3]{0..2}"},
    {"indices", "i64[3]{0..2}"},
    {"mask", "bool[3,4]"},
    {"condition", "bool[3,4]"},
    {"target", "T[3,4]"},
    {"batch_sizes", "i64[3]{1..2}"},
    {"min", "T[]"},
    {"max", "T[]"},
};

template <size_t N>
std::string_view lookup(const NamedValue (&table)[N], std::string_view name) {
  for (const NamedValue& v : table) {
    if (v.name == name) return v.value;
  }
  return {};
}

std::string as_list(std::string_view value, const Argument& a) {
  if (value.starts_with('[')) return std::string(value);
  std::string out = "[" + std::string(value);
  for (int i = 1; i < a.fixed_size; ++i) out += "," + std::string(value);
  return out + "]";
}

std::string value_of(const Argument& a, DType dtype) {
  std::string_view named = lookup(kByName, a.name);
  switch (a.kind) {
    case ArgKind::tensor: {
      std::string_view tensor = lookup(kTensorByName, a.name);
      return tensor.empty() ? "T[3,4]" : std::string(tensor);
    }
    case ArgKind::tensor_list:
      return "(T[3,4],T[3,4])";
    case ArgKind::optional_tensor_list:
      return "(i64[3]{0..2})";
    case ArgKind::scalar:
      if (!named.empty() && !named.starts_with('[')) return std::string(named);
      return is_floating(dtype) || is_complex(dtype) ? "2.5" : is_bool(dtype) ? "true" : "2";
    case ArgKind::scalar_list:
      return "[2,3,2]";
    case ArgKind::integer:
    case ArgKind::sym_int:
      return named.empty() || named.starts_with('[') ? "1" : std::string(named);
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return as_list(named.empty() ? "1" : named, a);
    case ArgKind::floating:
      return named.empty() ? "0.5" : std::string(named);
    case ArgKind::float_list:
      return as_list("0.5", a);
    case ArgKind::boolean:
      return named.empty() ? "true" : std::string(named);
    case ArgKind::bool_list:
      return as_list("true", a);
    case ArgKind::string:
      return named.empty() ? "\"none\"" : std::string(named);
    case ArgKind::scalar_type:  // one that the case's dtype fits into
      return dtype == DType::f64 ? "f64" : "f32";
    case ArgKind::memory_format:
      return "contiguous";
    case ArgKind::generator:
      return "rng(7,3)";
    default:
      return "none";
  }
}

}  // namespace

namespace {

// A generator is always stated, so that reference and device draw from one place. One of the bounds
// of clamp must be given, though neither of them.
bool is_wanted(const specs::Overload& overload, const Argument& a) {
  if (a.kind == ArgKind::generator) return true;
  if (overload.op == "clamp" || overload.op == "clip") return true;
  return !a.default_value.present() && !a.optional;
}

// A default that is no number of the dtype: -1 beside unsigned ones.
bool is_no_default(const Argument& a, DType dtype) {
  return a.kind == ArgKind::scalar && is_unsigned_integer(dtype) &&
         a.default_value.kind == specs::DefaultKind::integer && a.default_value.integer < 0;
}

}  // namespace

std::string plausible_arguments(const specs::Overload& overload, DType dtype,
                                std::span<const std::string> known) {
  std::string out;
  for (const Argument& a : overload.args) {
    if (std::find(known.begin(), known.end(), a.name) != known.end() || a.is_out) continue;
    if (is_wanted(overload, a)) out += " " + a.name + "=" + value_of(a, dtype);
    if (is_no_default(a, dtype)) out += " " + a.name + "=0";
  }
  return out;
}

}  // namespace primset::conformance
