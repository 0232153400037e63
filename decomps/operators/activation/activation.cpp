// Activations that no formula states.
#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/activation.h"
#include "decomps/operators/operator_support.h"
#include "sdk/base/float_bits.h"

namespace primset::decomps {
Val hardtanh::decompose(Tracer& t, const Val& self, const ScalarArg& min_val,
                        const ScalarArg& max_val) {
  for (const ScalarArg* limit : {&min_val, &max_val}) {
    if (is_unsigned_integer(self.dtype()))
      require_not_negative(t, *limit,
                           "cannot do hardtanh on an unsigned type with negative limits");
  }
  const Val x = opmath(self);
  const auto limit = [&](const ScalarArg& s) {
    return broadcast_to(opmath(t.fitting_scalar(s, self.dtype())), x.shape());
  };
  const Val lower = limit(min_val), upper = limit(max_val);
  return convert(binary(Prim::min, binary(Prim::max, x, lower), upper), self.dtype());
}

Val celu::decompose(Tracer& t, const Val& self, const ScalarArg& alpha) {
  const Val x = opmath(self), a = t.scalar(alpha, x.dtype());
  check(ne(a, Scalar(0.0)), t.constant(0, DType::i64), ErrorCode::runtime,
        "ZeroDivisionError: alpha cannot be 0 for CELU");
  const Val scale = broadcast_to(a, x.shape());
  const Val inverse = broadcast_to(t.constant(1.0, x.dtype()) / a, x.shape());
  const Val below = unary(Prim::expm1, x * inverse) * scale;
  return convert(where(lt(x, Scalar(0.0)), below, x), self.dtype());
}

// The buffer has exp(-|self|), or is empty, as other devices than CPUs leave it.
Val log_sigmoid_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                    const Val& buffer) {
  for (const Val* v : {&grad_output, &buffer}) {
    require(v->dtype() == self.dtype(), ErrorCode::runtime,
            fmt::format("Found dtype {} but expected {}", aten_name(v->dtype()),
                        aten_name(self.dtype())));
  }
  if (!buffer.is_empty() || self.is_empty()) require_expandable(buffer.shape(), self.shape());
  const Val x = opmath(self);
  const Val z = buffer.is_empty() && !self.is_empty() ? unary(Prim::exp, -unary(Prim::abs, x))
                                                      : broadcast_to(opmath(buffer), self.shape());
  const Val share = z / (z + Scalar(1.0));
  const Val slope = where(lt(x, Scalar(0.0)), Scalar(1.0) - share, share);
  return convert(opmath(grad_output) * slope, grad_output.dtype());
}

Val softshrink::decompose(Tracer& t, const Val& self, const ScalarArg& lambd) {
  const FloatFormat& format = float_format(self.dtype());
  const double most = float_from_bits(format.greatest(), format);
  const Val given = t.scalar(lambd, DType::f64);
  check(ge(given, Scalar(0.0)) & le(given, Scalar(most)), t.constant(0, DType::i64),
        ErrorCode::runtime,
        fmt::format("lambda must be in range [0, {:g}] for input dtype {}", most,
                    aten_name(self.dtype())));
  const Val x = opmath(self), l = broadcast_to(t.scalar(lambd, x.dtype()), x.shape());
  const Val inside = where(lt(x, -l), x + l, x * Scalar(0.0));
  return convert(where(gt(x, l), x - l, inside), self.dtype());
}

Val prelu::decompose(Tracer& t, const Val& self, const Val& weight) {
  require(self.dtype() == weight.dtype(), ErrorCode::runtime,
          fmt::format("prelu: Type promoting not supported. Got {} and {}", aten_name(self.dtype()),
                      aten_name(weight.dtype())));
  Val w = weight;
  if (weight.rank() == 1 && !(weight.numel() == SymInt(1))) {
    require(self.rank() > 0, ErrorCode::runtime, "Not allow zero-dim input tensor.");
    const SymInt channels = self.rank() >= 2 ? self.size(1) : SymInt(1);
    require(channels == weight.size(0), ErrorCode::runtime,
            fmt::format("Mismatch of parameter numbers and input channel size. Found parameter "
                        "numbers = {} and channel size = {}.",
                        weight.size(0).hint(), channels.hint()));
    SymInts shape(static_cast<size_t>(self.rank()), SymInt(1));
    if (shape.size() > 1) shape[1] = channels;
    w = reshape(weight, shape);
  } else if (self.rank() > 0 && weight.rank() <= 1) {
    w = reshape(weight, SymInts(static_cast<size_t>(self.rank()), SymInt(1)));
  }
  if (self.rank() == 0) w = reshape(w, {});
  const Val x = opmath(self);
  return convert(where(gt(x, 0.0), x, opmath(w) * x), self.dtype());
}

}  // namespace primset::decomps
