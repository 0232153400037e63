// Dropout of elements and of whole channels.
#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/activation.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_probability(double p) {
  require(p >= 0 && p <= 1, ErrorCode::runtime,
          fmt::format("dropout probability has to be between 0 and 1, but got {}", p));
}

}  // namespace

std::tuple<Val, Val> native_dropout::decompose(Tracer& t, const Val& input, double p,
                                               const std::optional<bool>& train) {
  if (input.is_empty()) return {input, input};  // so that the mask is no bool, as in ATen
  if (train && !*train) return {input, t.constant(true, DType::boolean, input.shape())};
  const RngArg rng = t.draw(input.numel());
  const auto out = t.prim(Prim::dropout, {rng.seed, rng.offset, input}, {{"p", Scalar(p)}});
  return {out[0], out[1]};
}

Val dropout::decompose(Tracer& t, const Val& input, double p, bool train) {
  require_probability(p);
  if (!train || p == 0) return input;
  return std::get<0>(native_dropout::decompose(t, input, p, true));
}

Val native_dropout_backward::decompose(Tracer& t, const Val& grad_output, const Val& mask,
                                       const ScalarArg& scale) {
  // Of integers the product is floating.
  const DType common = promote_types(grad_output.dtype(), mask.dtype());
  const DType type = is_exact(common) ? DType::f32 : common;
  const Val g = convert(grad_output, opmath_type(type));
  return convert(g * convert(mask, g.dtype()) * t.scalar(scale, g.dtype()), type);
}

namespace {

// 1 with probability 1 - p and 0 otherwise: of each element, or of each channel of each sample.
Val kept(Tracer& t, const Val& input, double p, bool channels) {
  SymInts shape = input.shape();
  if (channels) {
    require(shape.size() >= 2, ErrorCode::runtime,
            "Feature dropout requires at least 2 dimensions in the input");
    for (size_t d = 2; d < shape.size(); ++d) shape[d] = 1;
  }
  const Val one = t.constant(Scalar(1.0), opmath_type(input.dtype()), shape);
  const RngArg rng = t.draw(one.numel());
  return t.prim(Prim::dropout, {rng.seed, rng.offset, one}, {{"p", Scalar(p)}})[1];
}

void require_droppable(const Val& x) {
  if (is_complex(x.dtype())) not_implemented_for("bernoulli_scalar_cpu_", x.dtype());
  require(is_floating(x.dtype()), ErrorCode::runtime,
          fmt::format("result type Float can't be cast to the desired output type {}",
                      aten_name(x.dtype())));
}

// Neither trained nor to be dropped: the input itself.
bool keeps_all(const Val& input, double p, bool train) {
  require_probability(p);
  return p == 0 || !train || input.is_empty();
}

// Dropped elements become the least value of selu, and all are moved so that mean and variance
// stay (Klambauer et al., Self-Normalizing Neural Networks, 2017).
Val alpha_dropped(Tracer& t, const Val& input, double p, bool channels) {
  if (p == 1) return input * Scalar(0);
  require_droppable(input);
  constexpr double kLeastSelu = 1.7580993408473766;
  const double scale = 1 / std::sqrt((kLeastSelu * kLeastSelu * p + 1) * (1 - p));
  const Val keep = convert(kept(t, input, p, channels), opmath_type(input.dtype()));
  const Val y = opmath(input) * (keep * scale) +
                ((keep - 1.0) * (kLeastSelu * scale) + kLeastSelu * scale * p);
  return convert(y, input.dtype());
}

}  // namespace

Val alpha_dropout::decompose(Tracer& t, const Val& input, double p, bool train) {
  return keeps_all(input, p, train) ? input : alpha_dropped(t, input, p, false);
}

Val feature_alpha_dropout::decompose(Tracer& t, const Val& input, double p, bool train) {
  return keeps_all(input, p, train) ? input : alpha_dropped(t, input, p, true);
}

Val feature_dropout::decompose(Tracer& t, const Val& input, double p, bool train) {
  if (keeps_all(input, p, train)) return input;
  if (p == 1) return input * Scalar(0);
  require_droppable(input);
  const Val x = opmath(input);
  return convert(x * (convert(kept(t, input, p, true), x.dtype()) * (1 / (1 - p))), input.dtype());
}

// p is the probability to stay, of which PyTorch has a kernel for CUDA only.
std::tuple<Val, Val> _fused_dropout::decompose(Tracer& t, const Val& self, double p,
                                               const RngArg& generator) {
  const RngArg rng = t.draw(self.numel(), generator);
  const auto out = t.prim(Prim::dropout, {rng.seed, rng.offset, self}, {{"p", Scalar(1 - p)}});
  return {out[0], convert(out[1], DType::u8)};
}

Val _masked_scale::decompose(Tracer& t, const Val& self, const Val& mask, const ScalarArg& scale) {
  require(mask.dtype() == DType::u8, ErrorCode::runtime,
          fmt::format("mask should be torch.uint8 dtype, but got {}", aten_name(mask.dtype())));
  const Val x = opmath(self);
  return convert(x * convert(mask, x.dtype()) * t.scalar(scale, x.dtype()), self.dtype());
}

}  // namespace primset::decomps
