#include "decomps/primitives/normalization.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// x less its maximum along dim. A maximum of -inf leaves NaN, as ATen has it.
Val shifted(const Val& x, int64_t dim) {
  return x - reduce(Prim::reduce_max, x, {dim}, true);
}

}  // namespace

Val softmax::decompose(Tracer&, const Val& x, int64_t dim) {
  const Val e = math::exp(shifted(opmath(x), dim));
  const Val sum = reduce(Prim::reduce_sum, e, {dim}, true);
  // A division a row, not an element.
  return convert(e * (math::number(sum, 1.0) / sum), x.dtype());
}

Val log_softmax::decompose(Tracer&, const Val& x, int64_t dim) {
  const Val s = shifted(opmath(x), dim);
  const Val sum = reduce(Prim::reduce_sum, math::exp(s), {dim}, true);
  return convert(s - math::log(sum), x.dtype());
}

namespace {

// The normalised dims as one, so that a kernel takes a row at a time; in the compute dtype.
struct Rows {
  Val x;          // [outer..., n]
  int64_t row;    // the last dim
  SymInts outer;  // the shape of the statistics
  DType type;     // of the results

  Rows(const Val& whole, int64_t dims) : type(whole.dtype()) {
    const SymInts shape = whole.shape();
    outer.assign(shape.begin(), shape.end() - dims);
    row = static_cast<int64_t>(outer.size());
    SymInts flat = outer;
    flat.push_back(prims::product(SymInts(shape.end() - dims, shape.end())));
    x = reshape(opmath(whole), flat);
  }
  Val affine(const std::optional<Val>& v) const { return reshape(opmath(*v), {x.size(row)}); }
  Val whole(const Val& rows, const SymInts& shape) const {
    return convert(reshape(rows, shape), type);
  }
  Val statistic(const Val& v) const { return convert(v, type); }
};

Val reciprocal_root(Tracer& t, const Val& v, const ScalarArg& eps) {
  return Scalar(1.0) / math::sqrt(v + broadcast_to(t.scalar(eps, v.dtype()), v.shape()));
}

}  // namespace

std::tuple<Val, Val, Val> layer_norm::decompose(Tracer& t, const Val& x,
                                                const std::optional<Val>& weight,
                                                const std::optional<Val>& bias, int64_t dims,
                                                const ScalarArg& eps) {
  const Rows r(x, dims);
  const auto moments = t.prim(Prim::var_mean, {r.x},
                              {{"dims", std::vector<int64_t>{r.row}}, {"correction", Scalar(0)}});
  const Val mean = moments[1], rstd = reciprocal_root(t, moments[0], eps);
  Val y = (r.x - unsqueeze(mean, r.row)) * unsqueeze(rstd, r.row);
  if (weight) y = y * r.affine(weight);
  if (bias) y = y + r.affine(bias);
  return {r.whole(y, x.shape()), r.statistic(mean), r.statistic(rstd)};
}

std::tuple<Val, Val> rms_norm::decompose(Tracer& t, const Val& x, const std::optional<Val>& weight,
                                         int64_t dims, const ScalarArg& eps) {
  const Rows r(x, dims);
  const Val sum = reduce(Prim::reduce_sum, r.x * r.x, {r.row}, false);
  const Val rstd = reciprocal_root(t, sum / full_like(sum, r.x.size(r.row)), eps);
  Val y = r.x * unsqueeze(rstd, r.row);
  if (weight) y = y * r.affine(weight);
  return {r.whole(y, x.shape()), r.statistic(rstd)};
}

}  // namespace primset::decomps::prim
