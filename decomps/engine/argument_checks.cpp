#include "decomps/engine/argument_checks.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "decomps/engine/engine.h"

namespace primset::decomps {
namespace {

using specs::Overload;

std::optional<DType> dtype_of(const Tracer::Argument& a) {
  if (auto* v = std::get_if<Val>(&a.value)) return v->dtype();
  if (auto* s = std::get_if<ScalarArg>(&a.value))
    return s->kind == Scalar::Kind::boolean ? DType::boolean : DType::f32;
  return std::nullopt;
}

bool is_bool_argument(const Tracer::Argument& a) {
  return dtype_of(a) == DType::boolean;
}

void check_sub(const Overload& o, const Arguments& args) {
  const bool a = is_bool_argument(args[0]), b = is_bool_argument(args[1]);
  require(!(a && b), ErrorCode::runtime,
          "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
          "`logical_xor()` operator instead.");
  require(!a && !b, ErrorCode::runtime,
          "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
          "to invert a mask, use the `~` or `logical_not()` operator instead.");
}

void check_neg(const Overload& o, const Arguments& args) {
  require(!is_bool_argument(args[0]), ErrorCode::runtime,
          "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
          "invert a mask, use the `~` or `logical_not()` operator instead.");
}

// alpha and beta: no fractions for integers, no bools for numbers.
void check_factor(const Overload& o, const Arguments& args) {
  for (const std::string_view name : {"alpha", "beta"}) {
    const int at = o.find_arg(name);
    if (at < 0) continue;
    const auto* s = std::get_if<ScalarArg>(&args[static_cast<size_t>(at)].value);
    if (!s) continue;
    const DType common = promotion_of(o, args).common;
    require(s->kind != Scalar::Kind::boolean || is_bool(common), ErrorCode::runtime,
            fmt::format("Boolean {} only supported for Boolean results.", name));
    const bool fractional = s->kind >= Scalar::Kind::floating;
    require(!fractional || is_floating(common) || is_complex(common), ErrorCode::runtime,
            fmt::format("For integral input tensors, argument {} must not be a floating point "
                        "number.",
                        name));
    require(s->kind != Scalar::Kind::complex || is_complex(common), ErrorCode::runtime,
            fmt::format("For non-complex input tensors, argument {} must not be a complex number.",
                        name));
  }
}

void check_add(const Overload& o, const Arguments& args) {
  check_factor(o, args);
}
void check_sub_and_factor(const Overload& o, const Arguments& args) {
  check_sub(o, args);
  check_factor(o, args);
}

void check_clamp(const Overload& o, const Arguments& args) {
  require(!args[1].is_none() || !args[2].is_none(), ErrorCode::runtime,
          "torch.clamp: At least one of 'min' or 'max' must not be None");
}

// As C++ spells the type.
std::string_view cpp_type(DType t) {
  if (t == DType::f32) return "float";
  return t == DType::f64 ? "double" : info(t).torch_name;
}

void check_lerp(const Overload& o, const Arguments& args) {
  const auto self = dtype_of(args[0]), end = dtype_of(args[1]);
  require(
      self == end, ErrorCode::runtime,
      fmt::format("expected dtype {} for `end` but got dtype {}", cpp_type(*self), cpp_type(*end)));
  const auto* weight = std::get_if<Val>(&args[2].value);
  require(!weight || weight->dtype() == *self, ErrorCode::runtime,
          fmt::format("expected dtype {} for `weight` but got dtype {}", cpp_type(*self),
                      cpp_type(weight ? weight->dtype() : *self)));
}

void check_gelu(const Overload& o, const Arguments& args) {
  const auto* s = std::get_if<std::string>(&args.back().value);
  require(!s || *s == "none" || *s == "tanh", ErrorCode::runtime,
          "approximate argument must be either none or tanh.");
}

void check_where(const Overload& o, const Arguments& args) {
  const auto* condition = std::get_if<Val>(&args[0].value);
  if (!condition || args.size() < 3) return;
  const DType t = condition->dtype();
  require(is_bool(t) || t == DType::u8, ErrorCode::runtime,
          fmt::format("where expected condition to be a boolean tensor, but got a tensor with "
                      "dtype {}",
                      aten_name(t)));
}

struct NamedCheck {
  std::string_view op;
  void (*check)(const Overload&, const Arguments&);
};
constexpr std::array kChecks = {
    NamedCheck{"add", check_add},
    NamedCheck{"clamp", check_clamp},
    NamedCheck{"gelu", check_gelu},
    NamedCheck{"gelu_backward", check_gelu},
    NamedCheck{"lerp", check_lerp},
    NamedCheck{"neg", check_neg},
    NamedCheck{"rsub", check_sub_and_factor},
    NamedCheck{"sub", check_sub_and_factor},
    NamedCheck{"where", check_where},
};

}  // namespace

void check_arguments(const Overload& overload, const Arguments& args) {
  for (const NamedCheck& c : kChecks) {
    if (c.op == overload.op) c.check(overload, args);
  }
}

void check_written(const Overload& overload, DType self, DType result) {
  if (overload.op != "float_power_") return;
  require(self == result, ErrorCode::runtime,
          fmt::format("the base given to float_power_ has dtype {} but the operation's result "
                      "requires dtype {}",
                      aten_name(self), aten_name(result)));
}

}  // namespace primset::decomps
