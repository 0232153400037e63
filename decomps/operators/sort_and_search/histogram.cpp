// Histograms: which bin each element is in, and how many are in each.
#include <fmt/format.h>

#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/sort_and_search.h"

namespace primset::decomps {
namespace {

using List = std::vector<Val>;
using BinRange = std::optional<std::vector<ScalarArg>>;

void require_bins(int64_t count, size_t dim) {
  require(
      count > 0, ErrorCode::runtime,
      fmt::format("torch.histogram(): bins must be > 0, but got {} for dimension {}", count, dim));
  require(count < std::numeric_limits<int64_t>::max(), ErrorCode::value,
          fmt::format("histogram: bins is {}, expected less than 2^63 - 1", count));
}

struct Bounds {
  Val low, high;  // rank 0, of the elements' dtype
};

Bounds extent_of(const Val& x) {
  const std::vector<int64_t> dims = dims_from(0, x.rank());
  return {reduce(Prim::reduce_min, x, dims, false), reduce(Prim::reduce_max, x, dims, false)};
}

// Infinities and NaN alike give NaN.
Val is_finite_bound(const Val& v) {
  const Val nothing = v - v;  // NOLINT(misc-redundant-expression)
  return ~is_nan(nothing);
}

void require_finite(const Bounds& b, const std::string& message) {
  check(is_finite_bound(b.low) & is_finite_bound(b.high), b.low.tracer().constant(0, DType::i64),
        ErrorCode::runtime, message);
}

// --- histc ---

// The bin of each element by its share of the range, as ATen computes it; `count` outside. A range
// without width is one of 2 about its value, which is not made: there 1 may be too little to be
// added. Numbers whose product with the count may overflow are made smaller first.
Val bin_by_share(const Val& x, const Bounds& range, int64_t count) {
  const double greatest = x.dtype() == DType::f64    ? std::numeric_limits<double>::max()
                          : x.dtype() == DType::f16  ? 65504.0
                          : x.dtype() == DType::bf16 ? 0x1.fep127
                                                     : std::numeric_limits<float>::max();
  double smaller = 0.25;
  while (smaller * static_cast<double>(count) > 0.5) smaller *= 0.5;
  const Val widest = binary(Prim::max, unary(Prim::abs, range.low), unary(Prim::abs, range.high));
  const Val scale = where(gt(widest, Scalar(greatest * smaller)), full_like(widest, smaller),
                          full_like(widest, 1.0));
  const Val flat = eq(range.low, range.high), zero = full_like(widest, 0.0);
  const Val low = range.low * scale;
  const Val offset = x * scale - low + where(flat, full_like(widest, 1.0), zero);
  const Val width = where(flat, full_like(widest, 2.0), range.high * scale - low);
  const Val share = offset * Scalar(static_cast<double>(count)) / width;
  const Val inside = ge(x, range.low) & le(x, range.high);
  const DType type = count < std::numeric_limits<int32_t>::max() ? DType::i32 : DType::i64;
  const Val bin = convert(where(inside, share, full_like(share, 0.0)), type);
  return where(inside, binary(Prim::min, bin, full_like(bin, count - 1)), full_like(bin, count));
}

// Equal bounds mean the elements' own.
Bounds histc_range(const Val& x, const Bounds& given) {
  if (x.is_empty()) return given;
  const Val named = ne(given.low, given.high);
  const Bounds own = extent_of(x);
  return {where(named, given.low, own.low), where(named, given.high, own.high)};
}

// --- histogram, histogramdd ---

// The bounds of one dim: what the call names, the elements' own, or 0 and 1 where there are none;
// half to each side where they are equal.
Bounds outer_edges(const Val& x, const BinRange& range, size_t dim) {
  Tracer& t = x.tracer();
  const auto number = [&](double v) { return t.constant(v, x.dtype()); };
  Bounds b{number(0.0), number(1.0)};
  if (range) {
    b = {t.scalar((*range)[2 * dim], x.dtype()), t.scalar((*range)[2 * dim + 1], x.dtype())};
  } else if (!x.is_empty()) {
    b = extent_of(x);
  }
  require_finite(b, fmt::format("torch.histogramdd: dimension {}'s range is not finite", dim));
  check(le(b.low, b.high), t.constant(0, DType::i64), ErrorCode::runtime,
        fmt::format("torch.histogramdd: min should not exceed max for dimension {}", dim));
  const Val flat = eq(b.low, b.high), half = where(flat, number(0.5), number(0.0));
  return {b.low - half, b.high + half};
}

// count + 1 of them, from both ends inwards as linspace has it. Half of the width does not
// overflow.
Val edges_between(const Bounds& given, int64_t count) {
  Tracer& t = given.low.tracer();
  const Bounds b{opmath(given.low), opmath(given.high)};
  const DType type = b.low.dtype();
  const Val place = t.iota({SymInt(count + 1)}, 0, type);
  const Val half_width = b.high * Scalar(0.5) - b.low * Scalar(0.5);
  const Val step = half_width / Scalar(static_cast<double>(count) * 0.5);
  const Val from_end = full_like(place, static_cast<double>(count)) - place;
  const Val edges =
      where(lt(place, from_end + Scalar(1.0)), b.low + step * place, b.high - step * from_end);
  return convert(edges, given.low.dtype());
}

void require_range(const BinRange& range, size_t dims) {
  require(!range || range->size() == 2 * dims, ErrorCode::runtime,
          fmt::format("torch.histogramdd: for a {}-dimensional histogram range should have {} "
                      "elements, but got {}",
                      dims, 2 * dims, range ? range->size() : 0));
}

void require_point_weight(const Val& points, const std::optional<Val>& weight) {
  if (!weight) return;
  SymInts shape = points.shape();
  shape.pop_back();
  const bool fits = weight->rank() + 1 == points.rank() && equal_sizes(weight->shape(), shape);
  require(fits, ErrorCode::runtime,
          fmt::format("torch.histogramdd: if weight tensor is provided it should have the same "
                      "shape as the input tensor excluding its innermost dimension, but got input "
                      "with shape {} and weight with shape {}",
                      shape_text(points.shape()), shape_text(weight->shape())));
  require(weight->dtype() == points.dtype(), ErrorCode::runtime,
          fmt::format("torch.histogramdd: if weight tensor is provided, input tensor and weight "
                      "tensor should have the same dtype, but got input({}), and weight({})",
                      cpp_name(points.dtype()), cpp_name(weight->dtype())));
}

void require_edges(const Val& points, const List& edges, size_t dims) {
  require(edges.size() == dims, ErrorCode::runtime,
          fmt::format("torch.histogramdd: expected {0} sequences of bin edges for a "
                      "{0}-dimensional histogram but got {1}",
                      dims, edges.size()));
  for (size_t d = 0; d < dims; ++d) {
    const Val& e = edges[d];
    require(
        e.dtype() == points.dtype(), ErrorCode::runtime,
        fmt::format("torch.histogramdd: input tensor and bins tensors should have the same "
                    "dtype, but got input with dtype {} and bins for dimension {} with dtype {}",
                    cpp_name(points.dtype()), d, cpp_name(e.dtype())));
    require(e.rank() == 1, ErrorCode::runtime,
            fmt::format("torch.histogramdd: bins tensor should have one dimension, but got {} "
                        "dimensions in the bins tensor for dimension {}",
                        e.rank(), d));
    require(!e.is_empty(), ErrorCode::runtime,
            fmt::format("torch.histogramdd: bins tensor should have at least 1 element, but got 0 "
                        "elements in the bins tensor for dimension {}",
                        d));
    require(e.size(0) > SymInt(1), ErrorCode::runtime,
            fmt::format("torch.histogram(): bins must be > 0, but got 0 for dimension {}", d));
  }
}

size_t dims_of_points(const Val& points) {
  require(points.rank() >= 2, ErrorCode::runtime,
          "torch.histogramdd: input tensor should have at least 2 dimensions");
  return static_cast<size_t>(points.size(-1).specialize());
}

// The histogram of these bins is one tensor.
void require_countable(const std::vector<int64_t>& bins) {
  int64_t count = 1;
  for (const int64_t b : bins) {
    require(!__builtin_mul_overflow(count, b, &count), ErrorCode::value,
            fmt::format("histogramdd: bins are [{}], expected fewer than 2^63 of them in all",
                        fmt::join(bins, ", ")));
  }
}

// The coordinate of each point along one dim.
Val coordinate(const Val& points, size_t dim) {
  return flattened(select(points, points.rank() - 1, static_cast<int64_t>(dim)));
}

List edges_of(const Val& points, const std::vector<int64_t>& bins, const BinRange& range,
              const std::optional<Val>& weight) {
  const size_t dims = dims_of_points(points);
  if (!is_floating(points.dtype())) not_implemented_for("histogramdd", points.dtype());
  require(bins.size() == dims, ErrorCode::runtime,
          "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
  for (size_t d = 0; d < dims; ++d) require_bins(bins[d], d);
  require_countable(bins);
  require_point_weight(points, weight);
  require_range(range, dims);
  List edges;
  for (size_t d = 0; d < dims; ++d)
    edges.push_back(edges_between(outer_edges(coordinate(points, d), range, d), bins[d]));
  return edges;
}

// Divided by the sum of all and the lengths of the bins.
Val as_density(const Val& counts, const List& edges) {
  Tracer& t = counts.tracer();
  Val y = t.call1("div.Tensor", {counts, t.call1("sum", {counts})});
  for (size_t d = 0; d < edges.size(); ++d) {
    SymInts shape(edges.size(), SymInt(1));
    shape[d] = counts.size(static_cast<int64_t>(d));
    y = t.call1("div.Tensor", {y, reshape(t.call1("diff", {edges[d]}), shape)});
  }
  return y;
}

// The sums of bins of several dims: a number for each bin of all, and one for what is in none.
Val counted_points(const Val& points, const List& edges, const std::optional<Val>& weight) {
  Tracer& t = points.tracer();
  const SymInts count = {floor_div(points.numel(), max(points.size(-1), 1))};
  Val bin = zeros(t, count, DType::i64), inside = t.constant(true, DType::boolean, count);
  SymInts shape;
  for (size_t d = 0; d < edges.size(); ++d) {
    const Val x = coordinate(points, d);
    const SymInt bins = edges[d].size(0) - 1;
    const auto edge = [&](const SymInt& at) {
      return reshape(slice(edges[d], 0, at, at + 1, 1), {});
    };
    const Val behind = t.prim1(Prim::search_sorted, {edges[d], x, Val()}, {{"right", true}});
    const Val first = binary(Prim::max, behind, full_like(behind, 1)) - Scalar(1);
    const Val own = binary(Prim::min, first, full_like(behind, bins - 1));
    inside = inside & ge(x, edge(0)) & le(x, edge(bins));
    bin = bin * full_like(bin, bins) + own;
    shape.push_back(bins);
  }
  const SymInt all = prims::product(shape);
  const Val place = where(inside, bin, full_like(bin, all));
  const Val sums = t.prim1(Prim::bincount, {place, weight ? flattened(*weight) : Val()},
                           {{"size", all + 1}, {"in_bounds", true}});
  return convert(reshape(slice(sums, 0, 0, all, 1), shape), points.dtype());
}

Val histogram_of_points(const Val& points, const List& edges, const std::optional<Val>& weight,
                        bool density) {
  const size_t dims = dims_of_points(points);
  if (!is_floating(points.dtype())) not_implemented_for("histogramdd", points.dtype());
  require_edges(points, edges, dims);
  require_point_weight(points, weight);
  // Of points without coordinates there is no histogram.
  if (dims == 0) return zeros(points.tracer(), {}, points.dtype());
  const Val counts = counted_points(points, edges, weight);
  return density ? as_density(counts, edges) : counts;
}

// One dim: elements are points of one coordinate.
Val as_points(const Val& x) {
  return reshape(x, {x.numel(), SymInt(1)});
}

std::optional<Val> flat_weight(const std::optional<Val>& weight) {
  return weight ? std::optional(flattened(*weight)) : std::nullopt;
}

std::tuple<Val, Val> one_histogram(const Val& x, const Val& edges, const std::optional<Val>& weight,
                                   bool density) {
  Tracer& t = x.tracer();
  const Val points = as_points(x);
  const std::optional<Val> weights = flat_weight(weight);
  require_edges(points, {edges}, 1);
  require_point_weight(points, weights);
  const Val counts = t.prim1(Prim::histogram, {flattened(x), edges, weights.value_or(Val())});
  return {density ? as_density(counts, {edges}) : counts, edges};
}

}  // namespace

Val histc::decompose(Tracer& t, const Val& self, int64_t bins, const ScalarArg& min,
                     const ScalarArg& max) {
  require_bins(bins, 0);
  if (!is_floating(self.dtype())) not_implemented_for("histogram_cpu", self.dtype());
  const Bounds given{t.scalar(min, self.dtype()), t.scalar(max, self.dtype())};
  check(le(given.low, given.high), t.constant(0, DType::i64), ErrorCode::runtime,
        "torch.histc: max must be larger than min");
  const Val x = flattened(self);
  const Bounds range = histc_range(x, given);
  require_finite(range, "torch.histc: range of [min, max] is not finite");
  const Val counts = t.prim1(Prim::bincount, {bin_by_share(x, range, bins), Val()},
                             {{"size", SymInt(bins + 1)}, {"in_bounds", true}});
  return convert(slice(counts, 0, 0, SymInt(bins), 1), self.dtype());
}

Val bincount::decompose(Tracer& t, const Val& self, const std::optional<Val>& weights,
                        SymInt minlength) {
  require(minlength >= SymInt(0), ErrorCode::runtime, "minlength should be >= 0");
  if (!is_integral(self.dtype())) not_implemented_for("bincount_cpu", self.dtype());
  require(self.rank() == 1, ErrorCode::runtime,
          "bincount only supports 1-d non-negative integral inputs.");
  require(!weights || (weights->rank() == 1 && weights->size(0) == self.size(0)),
          ErrorCode::runtime, "weights should be 1-d and have the same length as input");
  if (self.is_empty()) return zeros(t, {minlength}, DType::i64);
  const Val bin = convert(self, DType::i64);
  check(ge(bin, Scalar(0)), bin, ErrorCode::runtime,
        "bincount only supports 1-d non-negative integral inputs.");
  // An eager call has read the greatest value; a graph has not.
  check(lt(bin, t.constant(minlength, DType::i64)), bin, ErrorCode::not_implemented,
        "bincount: in a graph minlength must be above the greatest value");
  const DType sums = weights && weights->dtype() == DType::f32 ? DType::f32 : DType::f64;
  return t.prim1(Prim::bincount, {bin, weights ? convert(*weights, sums) : Val()},
                 {{"size", minlength}, {"in_bounds", false}});
}

std::tuple<Val, Val> histogram::decompose(Tracer&, const Val& self, const Val& bins,
                                          const std::optional<Val>& weight, bool density) {
  if (!is_floating(self.dtype())) not_implemented_for("histogramdd", self.dtype());
  return one_histogram(self, bins, weight, density);
}

std::tuple<Val, Val> histogram_of_count::decompose(Tracer&, const Val& self, int64_t bins,
                                                   const BinRange& range,
                                                   const std::optional<Val>& weight, bool density) {
  const List edges = edges_of(as_points(self), {bins}, range, flat_weight(weight));
  return one_histogram(self, edges[0], weight, density);
}

List _histogramdd_bin_edges::decompose(Tracer&, const Val& self, const std::vector<int64_t>& bins,
                                       const BinRange& range, const std::optional<Val>&, bool) {
  return edges_of(self, bins, range, {});
}

Val _histogramdd_from_bin_cts::decompose(Tracer&, const Val& self, const std::vector<int64_t>& bins,
                                         const BinRange& range, const std::optional<Val>& weight,
                                         bool density) {
  return histogram_of_points(self, edges_of(self, bins, range, weight), weight, density);
}

Val _histogramdd_from_bin_tensors::decompose(Tracer&, const Val& self, const List& bins,
                                             const std::optional<Val>& weight, bool density) {
  return histogram_of_points(self, bins, weight, density);
}

std::tuple<Val, List> histogramdd::decompose(Tracer&, const Val& self,
                                             const std::vector<int64_t>& bins,
                                             const BinRange& range,
                                             const std::optional<Val>& weight, bool density) {
  const List edges = edges_of(self, bins, range, weight);
  return {histogram_of_points(self, edges, weight, density), edges};
}

std::tuple<Val, List> histogramdd_of_edges::decompose(Tracer&, const Val& self, const List& bins,
                                                      const BinRange&,
                                                      const std::optional<Val>& weight,
                                                      bool density) {
  return {histogram_of_points(self, bins, weight, density), bins};
}

std::tuple<Val, List> histogramdd_of_count::decompose(Tracer& t, const Val& self, int64_t bins,
                                                      const BinRange& range,
                                                      const std::optional<Val>& weight,
                                                      bool density) {
  const std::vector<int64_t> each(dims_of_points(self), bins);
  return histogramdd::decompose(t, self, each, range, weight, density);
}

}  // namespace primset::decomps
