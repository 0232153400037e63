#include "decomps/operators/loss/terms.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

Val reduced_loss(const Val& terms, int64_t reduction, DType type) {
  require(reduction >= kNone && reduction <= kSum, ErrorCode::runtime,
          fmt::format("reduction is 0 (none), 1 (mean) or 2 (sum), but got {}", reduction));
  if (reduction == kNone) return convert(terms, type);
  const std::vector<int64_t> dims = dims_from(0, terms.rank());
  if (reduction == kSum && is_exact(terms.dtype()))
    return reduce(Prim::reduce_sum, convert(terms, DType::i64), dims, false);
  if (reduction == kSum) return convert(reduce(Prim::reduce_sum, terms, dims, false), type);
  require(is_floating(terms.dtype()) || is_complex(terms.dtype()), ErrorCode::runtime,
          fmt::format("mean(): could not infer output dtype. Input dtype must be either a floating "
                      "point or complex dtype. Got: {}",
                      aten_name(terms.dtype())));
  const auto mean = [&](const Val& x) {
    return x.tracer().prim1(Prim::mean, {x}, {{"dims", dims}});
  };
  if (!is_complex(terms.dtype())) return convert(mean(terms), type);
  return convert(complex(mean(real(terms)), mean(imag(terms))), type);
}

Val in_float(const Val& x) {
  return is_integral(x.dtype()) ? convert(x, DType::f32) : opmath(x);
}

DType float_type(const Val& x) {
  return is_floating(x.dtype()) || is_complex(x.dtype()) ? real_type(x.dtype()) : DType::f32;
}

}  // namespace primset::decomps
