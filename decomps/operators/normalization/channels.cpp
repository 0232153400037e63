#include "decomps/operators/normalization/channels.h"

#include <fmt/format.h>

#include "decomps/operators/operator_support.h"

namespace primset::decomps {

void require_per_channel(const Val& input, const SymInt& channels, NamedParameters parameters) {
  for (const auto& [what, v] : parameters) {
    require(!v || (v->rank() == 1 && v->size(0) == channels), ErrorCode::runtime,
            fmt::format("{} should contain {} elements, one for each channel of an input of shape "
                        "{}, but has shape {}",
                        what, channels.hint(), shape_text(input.shape()),
                        v ? shape_text(v->shape()) : ""));
  }
}

void require_parameter_dtypes(const Val& input, NamedParameters parameters) {
  std::optional<DType> kept;
  for (const auto& [what, v] : parameters) {
    if (!v) continue;
    if (!kept && is_half(input.dtype()) && v->dtype() == DType::f32) kept = DType::f32;
    const DType expected = kept.value_or(input.dtype());
    require(v->dtype() == expected, ErrorCode::runtime,
            fmt::format("mixed dtype (CPU): expect parameter to have scalar type of Float beside a "
                        "half type, else of the input's, but found {} of {} and an input of {}",
                        what, aten_name(v->dtype()), aten_name(input.dtype())));
    kept = expected;
  }
}

DType statistics_type(const Val& input, Parameters parameters) {
  for (const auto& p : parameters) {
    if (p && is_half(input.dtype()) && !is_half(p->dtype())) return p->dtype();
  }
  return input.dtype();
}

std::optional<Val> converted(const std::optional<Val>& v, DType t) {
  return v ? std::optional(convert(*v, t)) : std::nullopt;
}

Val operand(const std::optional<Val>& v) {
  return v.value_or(Val());
}

Val operand(const std::optional<Val>& v, DType t) {
  return operand(converted(v, t));
}

Val no_gradient(const Val& like) {
  return zeros(like.tracer(), {SymInt(0)}, like.dtype());
}

Val per_channel(const Val& v, int64_t rank) {
  SymInts shape(static_cast<size_t>(rank), SymInt(1));
  shape[1] = v.size(0);
  return reshape(v, shape);
}

Val normalized_by(const Val& x, const Val& mean, const Val& rstd, const std::optional<Val>& weight,
                  const std::optional<Val>& bias) {
  const int64_t r = x.rank();
  Val y = (opmath(x) - per_channel(opmath(mean), r)) * per_channel(opmath(rstd), r);
  if (weight) y = y * per_channel(opmath(*weight), r);
  if (bias) y = y + per_channel(opmath(*bias), r);
  return convert(y, x.dtype());
}

Val inverse_root(const Val& variance, double eps) {
  return 1.0 / unary(Prim::sqrt, opmath(variance) + eps);
}

std::vector<int64_t> all_but_channels(const Val& x) {
  std::vector<int64_t> dims{0};
  for (int64_t d = 2; d < x.rank(); ++d) dims.push_back(d);
  return dims;
}

}  // namespace primset::decomps
