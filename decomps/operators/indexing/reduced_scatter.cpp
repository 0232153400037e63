#include "decomps/operators/indexing/reduced_scatter.h"

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

Val scatter_reduced(const ReducedScatter& s, const Val& self, const Val& src,
                    const std::string& reduce, bool include_self) {
  return self.tracer().prim1(Prim::scatter_reduce_along_dim, {self, s.index, src},
                             {{"dim", s.dim}, {"reduce", reduce}, {"include_self", include_self}});
}

// Whether a place of self is written to.
Val is_written(const ReducedScatter& s) {
  Tracer& t = s.self.tracer();
  const Val none = t.constant(false, DType::boolean, s.self.shape());
  const bool planes = s.index.rank() < s.self.rank();
  const Val all = t.constant(true, DType::boolean, planes ? s.src.shape() : s.index.shape());
  return t.prim1(Prim::scatter_along_dim, {none, s.index, all}, {{"dim", s.dim}});
}

// Where no device multiplies complex numbers atomically lengths are multiplied and angles added,
// those of no element to 1. Places that no element comes to keep their values by that, and by
// where() if self does not count.
Val complex_products(const ReducedScatter& s) {
  const Val re = wide_opmath(real(s.src)), im = wide_opmath(imag(s.src));
  const Val none = zeros(s.self.tracer(), s.self.shape(), re.dtype());
  const Val length =
      scatter_reduced(s, full_like(none, 1.0), binary(Prim::hypot, re, im), "prod", true);
  const Val angle = scatter_reduced(s, none, binary(Prim::atan2, im, re), "sum", true);
  const Val product = complex(length * unary(Prim::cos, angle), length * unary(Prim::sin, angle));
  const Val self = convert(s.self, product.dtype());
  const Val result = s.include_self ? self * product : where(is_written(s), product, self);
  return convert(result, s.self.dtype());
}

}  // namespace

Val reduced_scatter(const ReducedScatter& s) {
  const DType type = s.self.dtype();
  if (type == DType::c32 || is_float8(type)) {
    ReducedScatter wide = s;
    wide.self = opmath(s.self);
    wide.src = opmath(s.src);
    return convert(reduced_scatter(wide), type);
  }
  if (is_complex(type) && (s.reduce == "amax" || s.reduce == "amin"))
    not_implemented_for(s.kernel, type);
  if (is_complex(type) && s.reduce == "prod" && !s.self.tracer().device().fast_scatter)
    return complex_products(s);
  return scatter_reduced(s, s.self, s.src, s.reduce, s.include_self);
}

}  // namespace primset::decomps
