#include "decomps/engine/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/apply.h"
#include "decomps/engine/argument_errors.h"
#include "decomps/engine/engine.h"

namespace primset::decomps {

[[noreturn]] void fail(ErrorCode code, std::string message) {
  throw Error(code, std::move(message));
}

DType Val::dtype() const {
  return tracer_->builder().dtype(id_);
}

SymInts Val::shape() const {
  return tracer_->builder().shape(id_);
}

SymInt Val::size(int64_t dim) const {
  const SymInts s = shape();
  const auto rank = static_cast<int64_t>(s.size());
  if (dim < -rank || dim >= rank) throw DimensionError(dim, rank);
  return s[static_cast<size_t>(dim < 0 ? dim + rank : dim)];
}

SymInt Val::numel() const {
  return prims::product(shape());
}

Scalar ScalarArg::known() const {
  require(constant.has_value(), ErrorCode::internal,
          "a Scalar that is a launch parameter was asked for while tracing");
  return *constant;
}

Tracer::Tracer(prims::Graph& graph, const specs::Bundle& bundle, DeviceTraits device)
    : builder_(graph), bundle_(bundle), device_(device) {}

Val Tracer::constant(Scalar v, DType dtype, SymInts shape) {
  return wrap(builder_.constant(v, dtype, std::move(shape)));
}

Val Tracer::constant(const SymInt& v, DType dtype, SymInts shape) {
  return wrap(builder_.constant(v, dtype, std::move(shape)));
}

Val Tracer::iota(SymInts shape, int64_t dim, DType dtype) {
  return wrap(builder_.iota(std::move(shape), dim, dtype));
}

Val Tracer::scalar(const ScalarArg& s, DType dtype) {
  if (s.constant) return constant(*s.constant, dtype);
  return convert(s.value, dtype);
}

Val Tracer::fitting_scalar(const ScalarArg& s, DType dtype) {
  if (s.constant) require_fits(*s.constant, dtype);
  if (!s.constant && !is_bool(dtype)) fits_.emplace_back(s.value.id(), dtype);
  return scalar(s, dtype);
}

ScalarArg Tracer::literal(Scalar s) {
  constexpr DType kTypes[] = {DType::boolean, DType::i64, DType::f64, DType::c128};
  const Val v = constant(s, kTypes[static_cast<size_t>(s.kind())]);
  return {Val(this, v.id(), true), s.kind(), s};
}

std::vector<Val> Tracer::wrap(const std::vector<ValueId>& ids) {
  std::vector<Val> vals;
  for (ValueId id : ids) vals.push_back(wrap(id));
  return vals;
}

std::vector<Val> Tracer::prim(Prim p, const std::vector<Val>& operands,
                              std::vector<prims::Attr> attrs, std::vector<prims::Region> regions) {
  std::vector<ValueId> ids;
  for (const Val& v : operands) ids.push_back(v.valid() ? v.id() : prims::kNoValue);
  return wrap(builder_.add(p, std::move(ids), std::move(attrs), std::move(regions)));
}

prims::Region Tracer::region(const std::vector<prims::ValueType>& params,
                             const std::function<std::vector<Val>(const std::vector<Val>&)>& body) {
  return builder_.region(params, [&](std::span<const ValueId> ids) {
    std::vector<ValueId> results;
    for (const Val& v : body(wrap(std::vector<ValueId>(ids.begin(), ids.end()))))
      results.push_back(v.id());
    return results;
  });
}

prims::Region Tracer::scalar_region(
    const std::vector<DType>& params,
    const std::function<std::vector<Val>(const std::vector<Val>&)>& body) {
  std::vector<prims::ValueType> types;
  for (DType t : params) types.push_back({t, {}});
  return region(types, body);
}

std::vector<Val> Tracer::call(std::string_view qualified, const std::vector<Argument>& args) {
  const specs::Overload* overload = bundle_.find_overload(qualified);
  require(overload != nullptr, ErrorCode::internal,
          fmt::format("a decomposition calls '{}', which is no operator", qualified));
  return apply(*this, *overload, with_defaults(*this, *overload, args));
}

Val Tracer::call1(std::string_view qualified, const std::vector<Argument>& args) {
  return call(qualified, args)[0];
}

MemoryPlace Tracer::place_of(const Val& x) const {
  const auto found = places_.find(x.id());
  return found != places_.end() ? found->second : MemoryPlace{contiguous_strides(x.shape())};
}

RngArg Tracer::draw(const SymInt& count, const std::optional<RngArg>& from) {
  require(from.has_value() || make_generator_, ErrorCode::internal,
          "a decomposition draws random numbers without a generator");
  const RngArg rng = from && from->seed.valid() ? *from : make_generator_();
  const Val offset =
      known_equal(drawn_, 0) == true ? rng.offset : rng.offset + constant(drawn_, DType::i64);
  drawn_ += count;
  return {rng.seed, offset};
}

}  // namespace primset::decomps

template class primset::LargeVariant<primset::decomps::Tracer::Argument::Value::Alternatives>;
