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

Val softmax_backward::decompose(Tracer&, const Val& grad, const Val& y, int64_t dim) {
  const Val g = opmath(grad), wide = opmath(y);
  return convert((g - reduce(Prim::reduce_sum, g * wide, {dim}, true)) * wide, y.dtype());
}

Val log_softmax::decompose(Tracer&, const Val& x, int64_t dim) {
  const Val s = shifted(opmath(x), dim);
  const Val sum = reduce(Prim::reduce_sum, math::exp(s), {dim}, true);
  return convert(s - math::log(sum), x.dtype());
}

Val log_softmax_backward::decompose(Tracer&, const Val& grad, const Val& y, int64_t dim) {
  const Val g = opmath(grad);
  return convert(g - math::exp(opmath(y)) * reduce(Prim::reduce_sum, g, {dim}, true), y.dtype());
}

namespace {

using Ints = std::vector<int64_t>;

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
  // A number a row beside its elements.
  Val beside(const Val& v) const { return unsqueeze(opmath(v), row); }
  Val mean(const Val& v) const {
    const Val sum = reduce(Prim::reduce_sum, v, {row}, true);
    return sum / full_like(sum, x.size(row));
  }
  // The sum over the rows, of the shape that the normalised dims have.
  Val column_sum(const Val& v, const SymInts& shape) const {
    const Val rows = reshape(v, {prims::product(outer), x.size(row)});
    const SymInts inner(shape.begin() + row, shape.end());
    return convert(reshape(reduce(Prim::reduce_sum, rows, {0}, false), inner), type);
  }
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
  Val y = (r.x - r.beside(mean)) * r.beside(rstd);
  if (weight) y = y * r.affine(weight);
  if (bias) y = y + r.affine(bias);
  return {r.whole(y, x.shape()), r.statistic(mean), r.statistic(rstd)};
}

std::tuple<Val, Val> rms_norm::decompose(Tracer& t, const Val& x, const std::optional<Val>& weight,
                                         int64_t dims, const ScalarArg& eps) {
  const Rows r(x, dims);
  const Val sum = reduce(Prim::reduce_sum, r.x * r.x, {r.row}, false);
  const Val rstd = reciprocal_root(t, sum / full_like(sum, r.x.size(r.row)), eps);
  Val y = r.x * r.beside(rstd);
  if (weight) y = y * r.affine(weight);
  return {r.whole(y, x.shape()), r.statistic(rstd)};
}

// With n = (x - mean) rstd and h = grad weight: dx = (h - mean(h) - n mean(h n)) rstd over each
// row.
std::tuple<Val, Val, Val> layer_norm_backward::decompose(Tracer&, const Val& grad, const Val& x,
                                                         const Val& mean, const Val& rstd,
                                                         const std::optional<Val>& weight,
                                                         int64_t dims) {
  const Rows r(x, dims), g(grad, dims);
  const Val normal = (r.x - r.beside(mean)) * r.beside(rstd);
  const Val h = weight ? g.x * r.affine(weight) : g.x;
  const Val dx = (h - r.mean(h) - normal * r.mean(h * normal)) * r.beside(rstd);
  return {r.whole(dx, x.shape()), r.column_sum(g.x * normal, x.shape()),
          r.column_sum(g.x, x.shape())};
}

std::tuple<Val, Val> rms_norm_backward::decompose(Tracer&, const Val& grad, const Val& x,
                                                  const Val& rstd, const std::optional<Val>& weight,
                                                  int64_t dims) {
  const Rows r(x, dims), g(grad, dims);
  const Val normal = r.x * r.beside(rstd);
  const Val h = weight ? g.x * r.affine(weight) : g.x;
  const Val dx = (h - normal * r.mean(h * normal)) * r.beside(rstd);
  return {r.whole(dx, x.shape()), r.column_sum(g.x * normal, x.shape())};
}

namespace {

// A batch of channels as [N, groups, channels of a group, elements], in the compute dtype.
struct Groups {
  SymInts shape;
  Val x;

  Groups(const Val& whole, int64_t groups) {
    const SymInts sizes = whole.shape();
    const SymInt elements = prims::product(SymInts(sizes.begin() + 2, sizes.end()));
    shape = {sizes[0], SymInt(groups), prims::floor_div(sizes[1], groups), elements};
    x = reshape(opmath(whole), shape);
  }
  Val per_group(const Val& v) const { return reshape(opmath(v), {shape[0], shape[1], 1, 1}); }
  Val per_channel(const Val& v) const { return reshape(opmath(v), {1, shape[1], shape[2], 1}); }
  // Of the elements of each channel, and of the channels of each group.
  Val channel_sum(const Val& v) const { return reduce(Prim::reduce_sum, v, {3}, true); }
  Val group_mean(const Val& sums) const {
    const Val sum = reduce(Prim::reduce_sum, sums, {2}, true);
    return sum / full_like(sum, shape[2] * shape[3]);
  }
  Val batch_sum(const Val& sums, DType type) const {
    const Val sum = reduce(Prim::reduce_sum, sums, {0}, false);
    return convert(reshape(sum, {shape[1] * shape[2]}), type);
  }
};

}  // namespace

std::tuple<Val, Val, Val> group_norm::decompose(Tracer& t, const Val& x,
                                                const std::optional<Val>& weight,
                                                const std::optional<Val>& bias, int64_t groups,
                                                const ScalarArg& eps) {
  const Groups g(x, groups);
  // With the channels in front, so that rows of memory are reduced and each is scaled by one
  // number.
  const auto moments = t.prim(Prim::var_mean, {transpose(g.x, {2, 0, 1, 3})},
                              {{"dims", Ints{0, 3}}, {"correction", Scalar(0)}});
  const Val mean = moments[1], rstd = reciprocal_root(t, moments[0], eps);
  const Val scale = weight ? g.per_group(rstd) * g.per_channel(*weight) : g.per_group(rstd);
  Val y = (g.x - g.per_group(mean)) * scale;
  if (bias) y = y + g.per_channel(*bias);
  return {convert(reshape(y, x.shape()), x.dtype()), convert(mean, x.dtype()),
          convert(rstd, x.dtype())};
}

// As of layer_norm, the means made of sums over the channels, which the weight and bias need too.
std::tuple<Val, Val, Val> group_norm_backward::decompose(Tracer&, const Val& grad, const Val& x,
                                                         const Val& mean, const Val& rstd,
                                                         const std::optional<Val>& weight,
                                                         int64_t groups) {
  const Groups in(x, groups), g(grad, groups);
  const Val normal = (in.x - in.per_group(mean)) * in.per_group(rstd);
  const Val bias_sums = g.channel_sum(g.x), weight_sums = g.channel_sum(g.x * normal);
  const auto weighted = [&](const Val& v) { return weight ? v * in.per_channel(*weight) : v; };
  const Val dx = (weighted(g.x) - in.group_mean(weighted(bias_sums)) -
                  normal * in.group_mean(weighted(weight_sums))) *
                 in.per_group(rstd);
  return {convert(reshape(dx, x.shape()), x.dtype()), in.batch_sum(weight_sums, x.dtype()),
          in.batch_sum(bias_sums, x.dtype())};
}

namespace {

Ints all_but_channels(const Val& x) {
  Ints dims{0};
  for (int64_t d = 2; d < x.rank(); ++d) dims.push_back(d);
  return dims;
}

// Over rows first, which lie in memory as they are, then over the batch.
Val channel_sum(const Val& v) {
  const Ints dims = all_but_channels(v);
  const Ints rows(dims.begin() + 1, dims.end());
  return reduce(Prim::reduce_sum, rows.empty() ? v : reduce(Prim::reduce_sum, v, rows, false), {0},
                false);
}

// A number a channel beside [N, C, ...].
Val beside_channels(const Val& v, const Val& x) {
  SymInts shape(static_cast<size_t>(x.rank()), SymInt(1));
  shape[1] = v.size(0);
  return reshape(opmath(v), shape);
}

}  // namespace

std::tuple<Val, Val, Val> batch_norm::decompose(
    Tracer& t, const Val& x, const std::optional<Val>& mean, const std::optional<Val>& variance,
    const std::optional<Val>& weight, const std::optional<Val>& bias, const ScalarArg& eps) {
  std::vector<Val> moments(2);
  if (mean && variance) {
    moments = {opmath(*variance), opmath(*mean)};
  } else {
    moments = t.prim(Prim::var_mean, {opmath(x)},
                     {{"dims", all_but_channels(x)}, {"correction", Scalar(0)}});
  }
  const Val rstd = reciprocal_root(t, moments[0], eps);
  Val y = (opmath(x) - beside_channels(moments[1], x)) * beside_channels(rstd, x);
  if (weight) y = y * beside_channels(*weight, x);
  if (bias) y = y + beside_channels(*bias, x);
  return {convert(y, x.dtype()), convert(moments[1], x.dtype()), convert(moments[0], x.dtype())};
}

std::tuple<Val, Val, Val> batch_norm_backward::decompose(Tracer&, const Val& grad, const Val& x,
                                                         const Val& mean, const Val& rstd,
                                                         const std::optional<Val>& weight,
                                                         bool of_batch) {
  const Val g = opmath(grad);
  const Val normal = (opmath(x) - beside_channels(mean, x)) * beside_channels(rstd, x);
  const Val dweight = channel_sum(g * normal), dbias = channel_sum(g);
  const auto mean_of = [&](const Val& v) {
    return beside_channels(v / full_like(v, count_along(x, all_but_channels(x))), x);
  };
  Val dx = of_batch ? g - mean_of(dbias) - normal * mean_of(dweight) : g;
  const Val scale = weight ? opmath(rstd) * opmath(*weight) : opmath(rstd);
  dx = dx * beside_channels(scale, x);
  return {convert(dx, x.dtype()), convert(dweight, x.dtype()), convert(dbias, x.dtype())};
}

}  // namespace primset::decomps::prim
