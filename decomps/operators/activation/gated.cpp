// Gated linear units, a sigmoid(b) of the halves a and b of a dim, and their derivatives.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/activation.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

struct Halves {
  Val a, b;  // in opmath
};

Halves halves(const Val& x, int64_t dim) {
  require(x.rank() > 0, ErrorCode::runtime, "glu does not support 0-dimensional tensors");
  const int64_t d = wrap_dim(dim, x.rank());
  const SymInt size = x.size(d);
  require(
      mod(size, 2) == SymInt(0), ErrorCode::runtime,
      fmt::format("Halving dimension must be even, but dimension {} is size {}", d, size.hint()));
  const SymInt half = floor_div(size, 2);
  return {opmath(slice(x, d, 0, half, 1)), opmath(slice(x, d, half, size, 1))};
}

Val joined(const Val& a, const Val& b, int64_t dim, DType type) {
  return concatenate({convert(a, type), convert(b, type)}, wrap_dim(dim, a.rank()));
}

void require_dtype_of(const Val& x, const Val& other) {
  require(other.dtype() == x.dtype(), ErrorCode::runtime,
          fmt::format("Found dtype {} but expected {}", aten_name(other.dtype()),
                      aten_name(x.dtype())));
}

// Of a half's size, to which it may not be broadcast.
Val gate_operand(const Val& v, const Halves& x) {
  require(
      equal_sizes(v.shape(), x.a.shape()), ErrorCode::runtime,
      fmt::format("The size of tensor a {} must match the size of tensor b {}, the halves of the "
                  "dim",
                  shape_text(v.shape()), shape_text(x.a.shape())));
  return convert(v, x.a.dtype());
}

}  // namespace

Val glu::decompose(Tracer& t, const Val& self, int64_t dim) {
  const Halves x = halves(self, dim);
  return convert(x.a * unary(Prim::sigmoid, x.b), self.dtype());
}

Val glu_backward::decompose(Tracer& t, const Val& grad_output, const Val& self, int64_t dim) {
  const Halves x = halves(self, dim);
  require_dtype_of(self, grad_output);
  const Val gate = unary(Prim::sigmoid, x.b), da = gate_operand(grad_output, x) * gate;
  return joined(da, da * (1.0 - gate) * x.a, dim, self.dtype());
}

Val glu_jvp::decompose(Tracer& t, const Val& glu, const Val& x, const Val& dx, int64_t dim) {
  for (const Val* v : {&x, &dx}) require_dtype_of(glu, *v);
  const Halves in = halves(x, dim), d = halves(dx, dim);
  const Val gate = unary(Prim::sigmoid, in.b);
  return convert(d.a * gate + gate_operand(glu, in) * (d.b - gate * d.b), glu.dtype());
}

// The tangent of glu_backward, whose gradient of the gate's half is that of the other half times
// a - glu; grad_x is what it gave.
Val glu_backward_jvp::decompose(Tracer& t, const Val& grad_x, const Val& grad_glu, const Val& x,
                                const Val& dgrad_glu, const Val& dx, int64_t dim) {
  const Halves in = halves(x, dim), d = halves(dx, dim), grad = halves(grad_x, dim);
  const Val gate = unary(Prim::sigmoid, in.b), bent = d.b - gate * d.b;
  const Val glu = in.a * gate;
  const Val da = gate_operand(dgrad_glu, in) * gate + grad.a * bent;
  const Val db = da * (in.a - glu) + grad.a * (d.a - d.a * gate - glu * bent);
  return joined(da, db, dim, x.dtype());
}

}  // namespace primset::decomps
