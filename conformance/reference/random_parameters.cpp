#include "conformance/reference/random_parameters.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

// The arguments that give the first and the second parameter, whatever the operator.
constexpr std::string_view kFirst[] = {"mean", "from", "low", "p", "lambd", "median", "count"};
constexpr std::string_view kSecond[] = {"std", "to", "high", "sigma", "prob"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The one value of all elements.
std::optional<double> common_value(const Array& a) {
  if (a.data.empty() || is_complex(a.dtype)) return std::nullopt;
  auto number = [&](const Element& e) {
    bool integer = is_integral(a.dtype) || is_bool(a.dtype);
    return integer ? static_cast<double>(e.integer) : static_cast<double>(e.re);
  };
  double first = number(a.data[0]);
  bool same = std::ranges::all_of(a.data, [&](const Element& e) { return number(e) == first; });
  return same ? std::optional(first) : std::nullopt;
}

std::optional<double> number_of(const TestCase& test, const ArgValue& v) {
  if (auto* d = std::get_if<double>(&v)) return *d;
  if (auto* s = std::get_if<Scalar>(&v)) return s->to_double();
  if (auto* n = std::get_if<int64_t>(&v)) return static_cast<double>(*n);
  if (auto* t = std::get_if<HostTensor>(&v)) return common_value(read(test.storages, *t));
  return std::nullopt;
}

// random() without an upper end: up to the greatest number that stands beside all lesser ones.
std::optional<double> open_end(DType t) {
  if (is_bool(t)) return 2;
  if (is_floating(t)) return 2 / static_cast<double>(2 * prims::reference::unit_roundoff(t)) + 1;
  if (bits(t) == 64) return std::nullopt;
  return static_cast<double>(prims::reference::max_integer(t)) + 1;
}

}  // namespace

std::optional<Parameters> parameters_of(const specs::Overload& overload, const TestCase& test,
                                        DType dtype) {
  Parameters p;
  // These draw from what self holds.
  const bool of_self = overload.op == "poisson" || overload.op == "_standard_gamma";
  bool second = false;
  for (size_t i = 0; i < overload.args.size(); ++i) {
    std::string_view name = overload.args[i].name;
    bool is_first = is_one_of(kFirst, name) || (of_self && i == 0),
         is_second = is_one_of(kSecond, name);
    if (!is_first && !is_second) continue;
    if (std::holds_alternative<std::monostate>(test.args.at(i))) continue;
    std::optional<double> v = number_of(test, test.args[i]);
    if (!v) return std::nullopt;
    (is_first ? p.a : p.b) = *v;
    second = second || is_second;
  }
  if (overload.op.starts_with("bernoulli") && overload.find_arg("p") < 0) return std::nullopt;
  if (overload.op.starts_with("random") && !second) {
    std::optional<double> end = open_end(dtype);
    if (!end) return std::nullopt;
    p.b = *end;
  }
  // The variance of a complex number is shared by its parts.
  bool normal = overload.op.starts_with("normal") || overload.op.starts_with("randn");
  if (normal && is_complex(dtype)) p.b *= std::sqrt(0.5);
  return p;
}

}  // namespace primset::conformance
