#include "decomps/engine/argument_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "decomps/engine/engine.h"

namespace primset::decomps {

using specs::Overload;

// What there are is in specs/host_functions.yaml; which operator has which is in specs/ops.
namespace checks {
#define PRIMSET_CHECK(name) static void name(const Overload& o, const Arguments& args);
#define PRIMSET_WRITTEN_CHECK(name) static void name(const Overload& o, DType self, DType result);
#include "specs/host_functions.inc"
}  // namespace checks

namespace {

std::optional<DType> dtype_of(const Tracer::Argument& a) {
  if (auto* v = std::get_if<Val>(&a.value)) return v->dtype();
  if (auto* s = std::get_if<ScalarArg>(&a.value))
    return s->kind == Scalar::Kind::boolean ? DType::boolean : DType::f32;
  return std::nullopt;
}

bool is_bool_argument(const Tracer::Argument& a) {
  return dtype_of(a) == DType::boolean;
}

// As C++ spells the type.
std::string_view cpp_type(DType t) {
  if (t == DType::f32) return "float";
  return t == DType::f64 ? "double" : info(t).torch_name;
}

}  // namespace

void checks::no_bool_subtraction(const Overload&, const Arguments& args) {
  const bool a = is_bool_argument(args[0]), b = is_bool_argument(args[1]);
  require(!(a && b), ErrorCode::runtime,
          "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
          "`logical_xor()` operator instead.");
  require(!a && !b, ErrorCode::runtime,
          "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
          "to invert a mask, use the `~` or `logical_not()` operator instead.");
}

void checks::no_bool_negation(const Overload&, const Arguments& args) {
  require(!is_bool_argument(args[0]), ErrorCode::runtime,
          "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
          "invert a mask, use the `~` or `logical_not()` operator instead.");
}

// alpha and beta: no fractions for integers, no bools for numbers.
void checks::factor_fits_dtype(const Overload& o, const Arguments& args) {
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

void checks::some_bound(const Overload&, const Arguments& args) {
  require(!args[1].is_none() || !args[2].is_none(), ErrorCode::runtime,
          "torch.clamp: At least one of 'min' or 'max' must not be None");
}

void checks::same_dtypes_to_interpolate(const Overload&, const Arguments& args) {
  const auto self = dtype_of(args[0]), end = dtype_of(args[1]);
  require(
      self == end, ErrorCode::runtime,
      fmt::format("expected dtype {} for `end` but got dtype {}", cpp_type(*self), cpp_type(*end)));
  const auto* weight = std::get_if<Val>(&args[2].value);
  require(!weight || weight->dtype() == *self, ErrorCode::runtime,
          fmt::format("expected dtype {} for `weight` but got dtype {}", cpp_type(*self),
                      cpp_type(weight ? weight->dtype() : *self)));
}

void checks::known_approximation(const Overload&, const Arguments& args) {
  const auto* s = std::get_if<std::string>(&args.back().value);
  require(!s || *s == "none" || *s == "tanh", ErrorCode::runtime,
          fmt::format("approximate argument must be either none or tanh. Found '{}'", s ? *s : ""));
}

void checks::bool_condition(const Overload&, const Arguments& args) {
  const auto* condition = std::get_if<Val>(&args[0].value);
  if (!condition || args.size() < 3) return;
  const DType t = condition->dtype();
  require(is_bool(t) || t == DType::u8, ErrorCode::runtime,
          fmt::format("where expected condition to be a boolean tensor, but got a tensor with "
                      "dtype {}",
                      aten_name(t)));
}

// Promotion would make floats of integers.
void checks::no_integers(const Overload& o, const Arguments& args) {
  for (uint32_t at : o.promote.args) {
    const DType t = std::get<Val>(args[at].value).dtype();
    require(is_floating(t) || is_complex(t), ErrorCode::runtime,
            fmt::format("{}: Integral inputs not supported. Expected {} of floats, but got {}",
                        o.op, o.args[at].name, aten_name(t)));
  }
}

// A window of floats does not make a signal of integers one.
void checks::fractional_signal(const Overload& o, const Arguments& args) {
  const DType t = std::get<Val>(args[0].value).dtype();
  require(is_floating(t) || is_complex(t), ErrorCode::runtime,
          fmt::format("{}: expected a tensor of floating point or complex values, but got {}", o.op,
                      aten_name(t)));
}

void checks::base_has_result_dtype(const Overload& o, DType self, DType result) {
  require(self == result, ErrorCode::runtime,
          fmt::format("the base given to {} has dtype {} but the operation's result "
                      "requires dtype {}",
                      o.op, aten_name(self), aten_name(result)));
}

void checks::no_real_result_in_complex(const Overload& o, DType self, DType result) {
  require(!is_complex(self) || is_complex(result), ErrorCode::runtime,
          fmt::format("In-place {} is not supported for complex tensors.",
                      std::string_view(o.op).substr(0, o.op.find_last_not_of('_') + 1)));
}

namespace {

template <typename Function>
struct Named {
  std::string_view name;
  Function* function;
};

constexpr Named<void(const Overload&, const Arguments&)> kChecks[] = {
#define PRIMSET_CHECK(name) {#name, checks::name},
#include "specs/host_functions.inc"
};
constexpr Named<void(const Overload&, DType, DType)> kWrittenChecks[] = {
#define PRIMSET_WRITTEN_CHECK(name) {#name, checks::name},
#include "specs/host_functions.inc"
};

// Specs read at run time may name what another library has.
template <typename Function, size_t N>
Function& find(const Named<Function> (&table)[N], const Overload& o, std::string_view name) {
  const auto* found = std::ranges::find(table, name, &Named<Function>::name);
  require(found != std::end(table), ErrorCode::not_implemented,
          fmt::format("{} has the check '{}', which this library lacks; expected a name of "
                      "specs/host_functions.yaml",
                      o.qualified, name));
  return *found->function;
}

}  // namespace

namespace {

// ATen's accessors of data and iterators want the dtype that the kernel was chosen for.
void require_one_dtype_of_named(const Overload& o, const Arguments& args) {
  std::optional<DType> wanted;
  const auto require_wanted = [&](const Val& v, uint32_t at) {
    if (!wanted) wanted = v.dtype();
    require(v.dtype() == *wanted, ErrorCode::runtime,
            fmt::format("expected scalar type {} but found {}; expected {} to have the dtype of {}",
                        aten_name(*wanted), aten_name(v.dtype()), o.args[at].name,
                        o.args[o.one_dtype[0]].name));
  };
  for (uint32_t at : o.one_dtype) {
    if (auto* v = std::get_if<Val>(&args[at].value)) require_wanted(*v, at);
    if (auto* l = std::get_if<std::vector<Val>>(&args[at].value)) {
      for (const Val& v : *l) require_wanted(v, at);
    }
  }
}

}  // namespace

void check_arguments(const Overload& overload, const Arguments& args) {
  require_one_dtype_of_named(overload, args);
  for (const std::string& name : overload.checks) find(kChecks, overload, name)(overload, args);
}

void check_written(const Overload& overload, DType self, DType result) {
  if (overload.kind != specs::OverloadKind::inplace) return;
  for (const std::string& name : overload.written_checks)
    find(kWrittenChecks, overload, name)(overload, self, result);
}

}  // namespace primset::decomps
