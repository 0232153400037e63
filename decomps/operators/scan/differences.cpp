// Differences of neighbours, and integrals by trapezoids.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/scan.h"

namespace primset::decomps {
namespace {

struct Neighbours {
  Val left, right;
};

Neighbours neighbours(const Val& x, int64_t dim) {
  const SymInt size = x.size(dim), end = max(size - 1, 0);
  return {slice(x, dim, 0, end, 1), slice(x, dim, size - end, size, 1)};
}

Val neighbour_difference(const Val& x, int64_t dim) {
  const Neighbours n = neighbours(x, dim);
  return is_bool(x.dtype()) ? n.left ^ n.right : x.tracer().call1("sub.Tensor", {n.right, n.left});
}

// Many differences are a loop over a row of the same size, of which the end no longer counts.
Val repeated_difference(const Val& x, int64_t dim, int64_t count) {
  constexpr int64_t kUnrolled = 8;
  Val y = x;
  if (count <= kUnrolled) {
    for (int64_t i = 0; i < count; ++i) y = neighbour_difference(y, dim);
    return y;
  }
  Tracer& t = x.tracer();
  const auto step = [&](const std::vector<Val>& v) -> std::vector<Val> {
    return {concatenate({neighbour_difference(v[1], dim), slice(v[1], dim, 0, 1, 1)}, dim)};
  };
  const auto body = t.region({{DType::i64, {}}, {x.dtype(), x.shape()}}, step);
  y = t.prim(Prim::for_loop, {x}, {{"count", SymInt(count)}, {"stacked", int64_t{0}}}, {body})[0];
  return slice(y, dim, 0, x.size(dim) - count, 1);
}

void require_same_rows(const Val& self, const std::optional<Val>& part, int64_t dim) {
  if (!part) return;
  require(part->rank() == self.rank(), ErrorCode::runtime,
          "diff expects prepend or append to be the same dimension as input");
  for (int64_t d = 0; d < self.rank(); ++d)
    require(d == dim || self.size(d) == part->size(d), ErrorCode::runtime,
            fmt::format("diff expects the shape of tensor to prepend or append to match that of "
                        "input except along the differencing dimension; input.size({0}) = {1}, but "
                        "got tensor.size({0}) = {2}",
                        d, self.size(d).hint(), part->size(d).hint()));
}

// --- trapezoids ---

Val integral_along(const Val& x, int64_t dim) {
  return x.tracer().call1("sum.dim_IntList", {x, std::vector<int64_t>{dim}});
}

int64_t sampled_dim(const Val& y, int64_t dim) {
  require(y.rank() > 0, ErrorCode::index,
          fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  return wrap_dim(dim, y.rank());
}

// Without samples the integral is 0.
Val of_nothing(const Val& y, int64_t dim) {
  SymInts shape = y.shape();
  shape.erase(shape.begin() + dim);
  return zeros(y.tracer(), shape, y.dtype());
}

void require_no_bool(const char* op, const char* arguments, std::initializer_list<Val> values) {
  for (const Val& v : values)
    require(
        !is_bool(v.dtype()), ErrorCode::runtime,
        fmt::format("{}: received a bool input for {}, but bool is not supported", op, arguments));
}

// A distance, as a number of any dtype.
ScalarArg distance(Tracer& t, const char* op, const ScalarArg& dx, double factor) {
  const bool real = dx.kind == Scalar::Kind::integer || dx.kind == Scalar::Kind::floating;
  require(real, ErrorCode::runtime,
          fmt::format("{}: Currently, we only support dx as a real number.", op));
  const Val number = t.scalar(dx, DType::f64) * Scalar(factor);
  return {Val(&t, number.id(), true), Scalar::Kind::floating, std::nullopt};
}

// The distances between places, along y's dim; a vector of places is one for all rows.
Val distances(const char* op, const Val& y, const Val& x, int64_t dim) {
  SymInts shape(static_cast<size_t>(std::max(y.rank() - x.rank(), int64_t{0})), SymInt(1));
  for (const SymInt& s : x.shape()) shape.push_back(s);
  if (x.rank() == 1) {
    require(x.size(0) == y.size(dim), ErrorCode::runtime,
            fmt::format("{}: There must be one `x` value for each sample point", op));
    std::swap(shape.back(), shape[static_cast<size_t>(dim)]);
  }
  return neighbour_difference(reshape(x, shape), dim);
}

// (left + right) dx, twice the areas.
Val areas(const Val& y, const Val& dx, int64_t dim) {
  Tracer& t = y.tracer();
  const Neighbours n = neighbours(y, dim);
  return t.call1("mul.Tensor", {t.call1("add.Tensor", {n.left, n.right}), dx});
}

Val halved(const Val& x) {
  return x.tracer().call1("div.Scalar", {x, x.tracer().literal(2.0)});
}

}  // namespace

Val diff::decompose(Tracer& t, const Val& self, int64_t n, int64_t dim,
                    const std::optional<Val>& prepend, const std::optional<Val>& append) {
  require(self.rank() > 0, ErrorCode::runtime, "diff expects input to be at least one-dimensional");
  require(n >= 0, ErrorCode::runtime, fmt::format("order must be non-negative but got {}", n));
  const int64_t d = wrap_dim(dim, self.rank());
  require_same_rows(self, prepend, d);
  require_same_rows(self, append, d);
  if (n == 0) return self;
  std::vector<Val> parts = {self};
  if (prepend) parts.insert(parts.begin(), *prepend);
  if (append) parts.push_back(*append);
  const Val whole = parts.size() == 1 ? self : t.call1("cat", {parts, d});
  if (whole.size(d) <= SymInt(n)) return slice(whole, d, 0, 0, 1);
  return repeated_difference(whole, d, n);
}

Val trapezoid::decompose(Tracer& t, const Val& y, const Val& x, int64_t dim) {
  const int64_t d = sampled_dim(y, dim);
  if (y.size(d) == SymInt(0)) return of_nothing(y, d);
  require_no_bool("trapezoid", "`x` or `y`", {x, y});
  return halved(integral_along(areas(y, distances("trapezoid", y, x, d), d), d));
}

// Of equal distances: the sum less half of the ends.
Val trapezoid_dx::decompose(Tracer& t, const Val& y, const ScalarArg& dx, int64_t dim) {
  const int64_t d = sampled_dim(y, dim);
  if (y.size(d) == SymInt(0)) return of_nothing(y, d);
  require_no_bool("trapezoid", "`y`", {y});
  const ScalarArg step = distance(t, "trapezoid", dx, 1);
  const Val ends = t.call1("add.Tensor", {select(y, d, 0), select(y, d, y.size(d) - 1)});
  const Val half = t.call1("mul.Scalar", {ends, t.literal(0.5)});
  return t.call1("mul.Scalar", {t.call1("sub.Tensor", {integral_along(y, d), half}), step});
}

Val cumulative_trapezoid::decompose(Tracer& t, const Val& y, const Val& x, int64_t dim) {
  const int64_t d = sampled_dim(y, dim);
  require_no_bool("cumulative_trapezoid", "`x` or `y`", {x, y});
  const Val dx = distances("cumulative_trapezoid", y, x, d);
  return halved(t.call1("cumsum", {areas(y, dx, d), d}));
}

Val cumulative_trapezoid_dx::decompose(Tracer& t, const Val& y, const ScalarArg& dx, int64_t dim) {
  const int64_t d = sampled_dim(y, dim);
  require_no_bool("cumulative_trapezoid", "`y`", {y});
  const Neighbours n = neighbours(y, d);
  const Val both = t.call1("add.Tensor", {n.left, n.right});
  const ScalarArg half = distance(t, "cumulative_trapezoid", dx, 0.5);
  return t.call1("cumsum", {t.call1("mul.Scalar", {both, half}), d});
}

}  // namespace primset::decomps
