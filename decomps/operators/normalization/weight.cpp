// Weights as directions v times magnitudes g along dim, and their gradients.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/normalization.h"
#include "decomps/operators/normalization/channels.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_first_or_last(const Val& v, int64_t dim, const char* error) {
  require(dim == 0 || dim == v.rank() - 1, ErrorCode::runtime,
          fmt::format("{}, but got dim {} of {}", error, dim, v.rank()));
}

void require_one_dtype(const Val& v, const Val& other) {
  require(v.dtype() == other.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(v.dtype()),
                      aten_name(other.dtype())));
}

std::vector<int64_t> all_dims_but(const Val& v, int64_t dim) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (d != dim) dims.push_back(d);
  }
  return dims;
}

// A number for each place along dim, in v's rank.
Val magnitudes(const Val& g, const Val& v, int64_t dim) {
  SymInts shape(static_cast<size_t>(v.rank()), SymInt(1));
  shape[static_cast<size_t>(dim)] = v.size(dim);
  require(g.numel() == v.size(dim), ErrorCode::runtime,
          fmt::format("expected {} magnitudes, one for each place along dim {}, but got shape {}",
                      v.size(dim).hint(), dim, shape_text(g.shape())));
  return reshape(opmath(g), shape);
}

struct WeightGradients {
  Val v, g;  // in opmath
};

// With w = g v / |v|: dg = (dw . v) / |v| and dv = g / |v| (dw - v dg / |v|). Of a tiny v the
// square of |v| is 0.
WeightGradients weight_gradients(const Val& grad_w, const Val& saved_v, const Val& g,
                                 const Val& norms, int64_t dim) {
  const Val dw = opmath(grad_w), v = opmath(saved_v);
  const Val dot = reduce(Prim::reduce_sum, dw * v, all_dims_but(v, dim), true);
  const Val dg = dot / norms;
  return {g / norms * (dw - v * (dg / norms)), dg};
}

}  // namespace

std::tuple<Val, Val> _weight_norm_interface::decompose(Tracer& t, const Val& v, const Val& g,
                                                       int64_t dim) {
  require_first_or_last(v, dim, "fused kernels can only be applied for first or last dim");
  if (!is_floating(v.dtype())) not_implemented_for("weight_norm_kernel", v.dtype());
  require_one_dtype(v, g);
  const Val wide = opmath(v);
  Val norm =
      t.prim1(Prim::vector_norm, {wide}, {{"p", Scalar(2.0)}, {"dims", all_dims_but(v, dim)}});
  norm = restore_dims(norm, v.shape(), all_dims_but(v, dim));
  const Val w = wide * (magnitudes(g, v, dim) / norm);
  return {convert(w, v.dtype()), reshape(norm, g.shape())};
}

Val _weight_norm::decompose(Tracer& t, const Val& v, const Val& g, int64_t dim) {
  const bool first_or_last = dim == 0 || dim == v.rank() - 1;
  if (first_or_last && !is_complex(v.dtype()))
    return std::get<0>(_weight_norm_interface::decompose(t, v, g, dim));
  // Along dim -1 there is one magnitude for all of v.
  const auto dims = all_dims_but(v, dim == -1 ? dim : wrap_dim(dim, v.rank()));
  const Val norm = t.call1("linalg_vector_norm", {v, 2.0, dims, dim != -1});
  return t.call1("mul.Tensor", {v, t.call1("div.Tensor", {g, norm})});
}

std::tuple<Val, Val> _weight_norm_interface_backward::decompose(Tracer& t, const Val& grad_w,
                                                                const Val& saved_v,
                                                                const Val& saved_g,
                                                                const Val& saved_norms,
                                                                int64_t dim) {
  require_first_or_last(saved_v, dim, "fused kernels can only be applied for first or last dim");
  // ATen reads beyond a gradient that is smaller.
  require_sizes("_weight_norm_interface_backward", "grad_w", grad_w, "saved_v", saved_v.shape());
  require_one_dtype(saved_v, grad_w);
  require_one_dtype(saved_v, saved_g);
  require(saved_norms.dtype() == opmath_type(saved_v.dtype()), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}",
                      aten_name(opmath_type(saved_v.dtype())), aten_name(saved_norms.dtype())));
  const WeightGradients out = weight_gradients(grad_w, saved_v, magnitudes(saved_g, saved_v, dim),
                                               magnitudes(saved_norms, saved_v, dim), dim);
  return {convert(out.v, saved_v.dtype()),
          convert(reshape(out.g, saved_g.shape()), saved_g.dtype())};
}

std::tuple<Val, Val> _weight_norm_differentiable_backward::decompose(Tracer& t, const Val& grad_w,
                                                                     const Val& saved_v,
                                                                     const Val& saved_g,
                                                                     const Val& saved_norms,
                                                                     int64_t dim) {
  require_first_or_last(saved_v, dim, "Expected dim to be the first or last dimension");
  const auto product = [&](const Val& a, const Val& b) { return t.call1("mul.Tensor", {a, b}); };
  const auto quotient = [&](const Val& a, const Val& b) { return t.call1("div.Tensor", {a, b}); };
  const Val dot =
      t.call1("sum.dim_IntList", {product(grad_w, saved_v), all_dims_but(saved_v, dim), true});
  const Val norms = convert(saved_norms, saved_g.dtype());
  const Val along = quotient(dot, product(norms, norms));
  const Val across = t.call1("sub.Tensor", {grad_w, product(saved_v, along)});
  return {product(quotient(saved_g, norms), across), quotient(dot, norms)};
}

}  // namespace primset::decomps
