#include "primset/scalar.h"

#include <fmt/format.h>

#include <cmath>

namespace primset {
namespace {

// "2.5", "3.0": a whole number keeps its point, so that it reads as a floating one.
std::string floating_text(double v) {
  std::string text = fmt::format("{}", v);
  const bool plain = text.find_first_of(".en") == std::string::npos;
  return plain ? text + ".0" : text;
}

}  // namespace

std::string to_string(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::boolean:
      return s.to_bool() ? "true" : "false";
    case Scalar::Kind::integer:
      return std::to_string(s.to_int());
    case Scalar::Kind::floating:
      return floating_text(s.to_double());
    case Scalar::Kind::complex:
      return fmt::format("({}{:+}j)", s.to_double(), s.imag());
  }
  return {};
}

}  // namespace primset
