#include "conformance/mutation/mutants.h"

namespace primset::conformance {
namespace {

// Both ways.
constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
    {"min", "max"},
    {"fmin", "fmax"},
    {"min", "fmin"},
    {"max", "fmax"},
    {"lt", "le"},
    {"lt", "eq"},
    {"add", "sub"},
    {"mul", "add"},
    {"mul", "div"},
    {"floor", "ceil"},
    {"floor", "trunc"},
    {"round_even", "floor"},
    {"rem", "remainder"},
    {"div", "floor_div"},
    {"bit_and", "bit_or"},
    {"bit_or", "bit_xor"},
    {"shift_left", "shift_right"},
    {"sin", "cos"},
    {"sinh", "cosh"},
    {"asin", "acos"},
    {"tan", "tanh"},
    {"atan", "tanh"},
    {"exp", "exp2"},
    {"exp", "expm1"},
    {"log", "log2"},
    {"log", "log1p"},
    {"log10", "log2"},
    {"sqrt", "rsqrt"},
    {"erf", "erfc"},
    {"sigmoid", "silu"},
    {"gelu", "silu"},
    {"neg", "abs"},
    {"sign", "neg"},
    {"asinh", "acosh"},
    {"atan2", "hypot"},
    {"pow", "mul"},
    {"reduce_sum", "reduce_prod"},
    {"reduce_min", "reduce_max"},
    {"reduce_and", "reduce_or"},
    {"reduce_xor", "reduce_or"},
    {"argmin", "argmax"},
    {"scan_sum", "scan_prod"},
    {"scan_min", "scan_max"},
    {"scatter", "scatter_add"},
    {"scatter_add", "scatter_mul"},
    {"scatter_min", "scatter_max"},
    {"real", "imag"},
    {"complex_mul", "complex_div"},
    {"complex_sin", "complex_cos"},
    {"softmax", "log_softmax"},
};

}  // namespace

std::vector<prims::Prim> siblings(prims::Prim p) {
  std::vector<prims::Prim> out;
  std::string_view self = prims::info(p).name;
  for (const auto& [a, b] : kPairs) {
    std::string_view other = a == self ? b : b == self ? a : std::string_view();
    if (other.empty()) continue;
    if (std::optional<prims::Prim> sibling = prims::prim_from_name(other)) {
      out.push_back(*sibling);
    }
  }
  return out;
}

}  // namespace primset::conformance
