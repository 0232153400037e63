#include "decomps/engine/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/argument_checks.h"
#include "decomps/engine/argument_errors.h"
#include "decomps/engine/boxing.h"
#include "decomps/engine/complex/complex_halves.h"
#include "decomps/engine/engine.h"
#include "decomps/engine/formula/formula.h"
#include "decomps/engine/functionalization/view_functions.h"
#include "decomps/engine/registry.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using specs::ImplKind;
using specs::Overload;
using specs::PromoteKind;
using Value = Tracer::Argument::Value;

void add_operands(const Tracer::Argument& a, std::vector<PromotionOperand>& out) {
  const auto number = PromotionOperand::Category::number;
  if (auto* v = std::get_if<Val>(&a.value)) out.push_back(operand_of(*v));
  if (auto* l = std::get_if<std::vector<Val>>(&a.value)) {
    for (const Val& v : *l) out.push_back(operand_of(v));
  }
  if (auto* s = std::get_if<ScalarArg>(&a.value)) out.push_back({kind_dtype(s->kind), number});
}

// Applies f to each tensor of an argument.
template <typename F>
void for_each_tensor(Tracer::Argument& a, F f) {
  if (auto* v = std::get_if<Val>(&a.value)) *v = f(*v);
  if (auto* l = std::get_if<std::vector<Val>>(&a.value)) {
    for (Val& v : *l) v = f(v);
  }
}

bool promotes(const Overload& o, uint32_t index) {
  return std::find(o.promote.args.begin(), o.promote.args.end(), index) != o.promote.args.end();
}

// A Scalar of a formula as a value: rounded to the tensors' dtype first where ATen does so.
// It must fit there, unless it is a tensor to ATen, as one that takes part in promotion is where
// nothing else is said.
Val scalar_value(Tracer& t, const specs::Argument& a, const ScalarArg& s, DType common,
                 bool promoted) {
  const bool rounded = a.rounding != specs::ScalarRounding::opmath;
  const DType type = rounded ? common : opmath_type(common);
  const bool is_tensor = rounded ? a.rounding == specs::ScalarRounding::tensor : promoted;
  const bool fitting = a.kind == specs::ArgKind::scalar && !is_tensor;
  require(s.kind != Scalar::Kind::complex || is_complex(common) || fitting, ErrorCode::runtime,
          fmt::format("value cannot be converted to type {} without overflow",
                      cpp_name(opmath_type(common))));
  return convert(fitting ? t.fitting_scalar(s, type) : t.scalar(s, type), opmath_type(common));
}

// Tensors to the common dtype, each rounded once; what a formula computes in comes after.
void convert_arguments(Tracer& t, const Overload& o, const Promoted& p, Arguments& args) {
  const bool formula = o.implementation.kind == ImplKind::formula;
  for (uint32_t i = 0; i < args.size(); ++i) {
    const bool promoted = promotes(o, i);
    const bool unrounded = o.args[i].rounding == specs::ScalarRounding::opmath;
    for_each_tensor(args[i], [&](const Val& v) {
      if (promoted && unrounded && v.rank() == 0) return convert(v, opmath_type(p.common));
      const Val common = promoted ? convert(v, p.common) : v;
      return formula && common.dtype() == p.common ? opmath(common) : common;
    });
    auto* s = std::get_if<ScalarArg>(&args[i].value);
    const bool keeps_kind = s && s->constant && o.args[i].role == specs::Role::structural;
    if (formula && s && !keeps_kind) args[i] = scalar_value(t, o.args[i], *s, p.common, promoted);
  }
}

SymInts broadcast_arguments(const Overload& o, Arguments& args) {
  std::vector<SymInts> shapes;
  for (uint32_t i : o.broadcast)
    for_each_tensor(args[i], [&](const Val& v) {
      shapes.push_back(v.shape());
      return v;
    });
  if (shapes.empty()) return {};
  const SymInts shape = broadcast_shapes(shapes);
  for (uint32_t i : o.broadcast)
    for_each_tensor(args[i], [&](const Val& v) { return broadcast_to(v, shape); });
  return shape;
}

std::vector<Val> run_formula(Tracer& t, const Overload& o, const Promoted& p, Arguments args,
                             SymInts shape) {
  FormulaInput input{o.implementation.formula, std::move(args), {}, p.common, p.common, {}};
  for (const specs::Argument& a : o.args) input.optional.push_back(a.optional);
  input.compute = opmath_type(p.common);
  input.shape = std::move(shape);
  return evaluate(t, input);
}

std::vector<Val> run_view(Tracer& t, const Overload& o, const Arguments& args) {
  const ViewFunction f = find_view(o.implementation.function);
  require(f != nullptr, ErrorCode::internal,
          fmt::format("no view function '{}'", o.implementation.function));
  const std::vector<Val> viewed = viewed_values(args[0]);
  std::vector<TensorMeta> metas;
  for (const Val& x : viewed) metas.push_back(meta_of(x));
  std::vector<Val> out;
  for (const View& view : f(t, metas, args)) out.push_back(view_of(viewed[view.element], view));
  return out;
}

std::vector<Val> run(Tracer& t, const Overload& o, const Promoted& p, Arguments args) {
  switch (o.implementation.kind) {
    case ImplKind::formula: {
      convert_arguments(t, o, p, args);
      SymInts shape = broadcast_arguments(o, args);
      return run_formula(t, o, p, std::move(args), std::move(shape));
    }
    case ImplKind::function: {
      if (p.any) convert_arguments(t, o, p, args);
      broadcast_arguments(o, args);
      const Decomposition f = find_decomposition(o.implementation.function);
      require(static_cast<bool>(f), ErrorCode::internal,
              fmt::format("no decomposition '{}'", o.implementation.function));
      return f(t, args);
    }
    case ImplKind::view:
      return run_view(t, o, args);
    case ImplKind::alias:
    case ImplKind::none:
      break;
  }
  std::string reason = o.status_reason.empty() ? "" : ": " + o.status_reason;
  fail(ErrorCode::not_implemented,
       fmt::format("'{}' has no decomposition yet{}", o.qualified, reason));
}

// The dtype of the first tensor, for formulas that promote nothing.
DType first_dtype(const Arguments& args) {
  for (const Tracer::Argument& a : args) {
    if (auto* v = std::get_if<Val>(&a.value)) return v->dtype();
    if (auto* l = std::get_if<std::vector<Val>>(&a.value); l && !l->empty())
      return l->front().dtype();
  }
  return DType::f32;
}

}  // namespace

Promoted promotion_of(const Overload& o, const Arguments& args) {
  std::vector<PromotionOperand> operands;
  for (uint32_t i : o.promote.args) add_operands(args[i], operands);
  Promoted p;
  if (o.promote.kind == PromoteKind::none || operands.empty()) {
    p.common = p.result = first_dtype(args);
    return p;
  }
  p.any = true;
  p.common = result_type(operands);
  const bool integral_or_bool = is_integral(p.common) || is_bool(p.common);
  if (o.promote.kind == PromoteKind::int_to_float && integral_or_bool) p.common = DType::f32;
  if (o.promote.kind == PromoteKind::bool_to_int && integral_or_bool) p.common = DType::i64;
  p.result = p.common;
  if (o.promote.kind == PromoteKind::complex_to_float) p.result = real_type(p.common);
  if (o.promote.kind == PromoteKind::always_bool) p.result = DType::boolean;
  return p;
}

std::optional<DType> named_dtype(const Arguments& args) {
  for (const Tracer::Argument& a : args) {
    if (auto* t = std::get_if<DType>(&a.value)) return *t;
  }
  return std::nullopt;
}

Val taken_as(const Val& v, DType to) {
  require(can_cast(v.dtype(), to), ErrorCode::runtime,
          fmt::format("result type {0} can't be cast to the desired output type {1}; expected a "
                      "tensor of {2}, or arguments converted to {3}, to be written",
                      aten_name(v.dtype()), aten_name(to), name(v.dtype()), name(to)));
  return convert(v, to);
}

void require_dtype(const Overload& o, DType common) {
  if (!o.dtypes.empty() && !o.dtypes.contains(common)) throw DTypeError(o.op, common);
}

namespace {

// The arguments of element i of a list operator: lists give their element, the rest goes to all.
Arguments element_arguments(const Arguments& args, size_t i) {
  Arguments out;
  for (const Tracer::Argument& a : args) {
    if (auto* l = std::get_if<std::vector<Val>>(&a.value)) {
      out.emplace_back((*l)[i]);
    } else if (auto* s = std::get_if<std::vector<ScalarArg>>(&a.value)) {
      out.emplace_back((*s)[i]);
    } else {
      out.push_back(a);
    }
  }
  return out;
}

size_t list_length(const Arguments& args) {
  std::optional<size_t> length;
  for (const Tracer::Argument& a : args) {
    size_t n = 0;
    if (auto* l = std::get_if<std::vector<Val>>(&a.value)) {
      n = l->size();
    } else if (auto* s = std::get_if<std::vector<ScalarArg>>(&a.value)) {
      n = s->size();
      require(!length || *length == n, ErrorCode::runtime,
              "Tensor list must have same number of elements as scalar list.");
    } else {
      continue;
    }
    require(!length || *length == n, ErrorCode::runtime,
            fmt::format("Tensor lists must have the same number of tensors, got {} and {}",
                        length.value_or(0), n));
    length = n;
  }
  require(length.value_or(0) > 0, ErrorCode::runtime, "Tensor list must have at least one tensor.");
  return *length;
}

// What goes to all tensors of a list is one number.
void require_number(const Tracer::Argument& a) {
  const auto* v = std::get_if<Val>(&a.value);
  if (v == nullptr || v->rank() == 0) return;
  fail(ErrorCode::runtime,
       fmt::format("scalar tensor expected to be 0 dim but it has {} dimensions and {} elements.",
                   v->rank(), v->numel().hint()));
}

std::vector<Val> apply_one(Tracer& t, const Overload& o, Arguments args);

}  // namespace

PromotionOperand operand_of(const Val& v) {
  using enum PromotionOperand::Category;
  return {v.dtype(), v.wrapped_number() ? number : v.rank() == 0 ? zero_dim : dimensioned};
}

DType kind_dtype(Scalar::Kind kind) {
  constexpr DType kTypes[] = {DType::boolean, DType::i64, DType::f64, DType::c128};
  return kTypes[static_cast<size_t>(kind)];
}

std::vector<Val> apply(Tracer& t, const Overload& overload, Arguments args) {
  const Overload& o = t.bundle().computed_by(overload);
  args = rearrange(t, overload, o, std::move(args));
  // A formula of a list operator is meant for each element.
  const bool each = o.implementation.kind == ImplKind::formula && !o.args.empty() &&
                    !o.returns.empty() && o.returns[0].kind == specs::ArgKind::tensor_list;
  if (!each) return apply_one(t, o, std::move(args));
  std::vector<Val> results;
  for (const Tracer::Argument& a : args) require_number(a);
  const size_t n = list_length(args);
  for (size_t i = 0; i < n; ++i) results.push_back(apply_one(t, o, element_arguments(args, i))[0]);
  return results;
}

namespace {

// A decomposition that promotes nothing looks at dtypes itself, and in ATen's words. Where it does
// not and a primitive refuses the dtype, that is no mistake of Primset's: the operator does not
// have it.
std::vector<Val> run_in_dtypes(Tracer& t, const Overload& o, const Promoted& p, Arguments args) {
  try {
    return run(t, o, p, std::move(args));
  } catch (const Error& e) {
    if (e.code() == ErrorCode::internal) require_dtype(o, p.common);
    throw;
  }
}

std::vector<Val> apply_one(Tracer& t, const Overload& o, Arguments args) {
  check_arguments(o, args);
  const Promoted p = promotion_of(o, args);
  // What is stored but not computed with says so even where nothing promotes, unless the call names
  // a dtype that it is converted to.
  const bool stored_only = p.common == DType::c32 || is_float8(p.common);
  if (p.any || (stored_only && !named_dtype(args))) require_dtype(o, p.common);
  if (std::optional<WideComplex> wide = widen_complex_halves(o, p, args))
    return wide->narrowed(apply_one(t, o, std::move(wide->args)));
  const uint32_t into = o.promote.into;
  const auto given = into == specs::kNoIndex ? p.result : std::get<Val>(args[into].value).dtype();
  std::vector<Val> results = run_in_dtypes(t, o, p, std::move(args));
  const bool formula = o.implementation.kind == ImplKind::formula;
  for (Val& v : results) {
    // A function knows its dtypes: only what it computed in opmath is left to round.
    const bool wide = v.dtype() == opmath_type(p.result);
    if (p.any ? formula || wide : formula && wide) v = convert(v, p.result);
    if (into != specs::kNoIndex) v = taken_as(v, given);
  }
  return results;
}

}  // namespace

Tracer::Argument default_argument(Tracer& t, const specs::Argument& a) {
  const specs::DefaultValue& d = a.default_value;
  const bool list = specs::is_list_kind(a.kind);
  const auto repeat = static_cast<size_t>(std::max(a.fixed_size, 1));
  switch (d.kind) {
    case specs::DefaultKind::absent:
    case specs::DefaultKind::none:
      return {};
    case specs::DefaultKind::integer:
      if (a.kind == specs::ArgKind::scalar) return t.literal(d.integer);
      if (a.kind == specs::ArgKind::floating) return static_cast<double>(d.integer);
      if (list) return SymInts(repeat, SymInt(d.integer));
      return SymInt(d.integer);
    case specs::DefaultKind::floating:
      if (a.kind == specs::ArgKind::scalar) return t.literal(d.floating);
      return d.floating;
    case specs::DefaultKind::boolean:
      if (a.kind == specs::ArgKind::scalar) return t.literal(d.integer != 0);
      return d.integer != 0;
    case specs::DefaultKind::string:
      return d.text;
    case specs::DefaultKind::int_list:
      return SymInts(d.list.begin(), d.list.end());
    case specs::DefaultKind::enumeration:
      if (a.kind == specs::ArgKind::scalar_type) return static_cast<DType>(d.integer);
      if (a.kind == specs::ArgKind::layout) return static_cast<Layout>(d.integer);
      if (a.kind == specs::ArgKind::memory_format) return static_cast<MemoryFormat>(d.integer);
      return SymInt(d.integer);
  }
  return {};
}

Arguments with_defaults(Tracer& t, const Overload& overload, Arguments given) {
  for (size_t i = given.size(); i < overload.args.size(); ++i) {
    if (overload.args[i].is_out) break;
    given.push_back(default_argument(t, overload.args[i]));
  }
  return given;
}

namespace {

// An overload without the mask of results that its base takes wants all of them.
Tracer::Argument argument_left_out(Tracer& t, const specs::Argument& a) {
  const bool mask = a.kind == specs::ArgKind::bool_list && !a.default_value.present();
  if (mask) return std::vector<bool>(static_cast<size_t>(std::max(a.fixed_size, 1)), true);
  return default_argument(t, a);
}

}  // namespace

Arguments rearrange(Tracer& t, const Overload& overload, const Overload& computed, Arguments args) {
  Arguments out;
  if (&overload == &computed) {
    // An out= overload that computes itself: its function takes what is not filled.
    for (size_t i = 0; i < args.size(); ++i) {
      if (!overload.args[i].is_out) out.push_back(std::move(args[i]));
    }
    return out;
  }
  for (size_t i = 0; i < computed.args.size(); ++i) {
    const int named = overload.find_arg(computed.args[i].name);
    const size_t at = named >= 0 ? static_cast<size_t>(named) : i;
    const bool fits = at < args.size() && at < overload.args.size() &&
                      (named >= 0 || computed.find_arg(overload.args[at].name) < 0) &&
                      !overload.args[at].is_out;
    out.push_back(fits ? args[at] : argument_left_out(t, computed.args[i]));
  }
  return out;
}

}  // namespace primset::decomps
