// gradient: derivatives of samples along dims, by central differences inside and one-sided ones of
// the first or second order at the ends. Its forms differ in how distances and dims are given.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/scan.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;
using List = std::vector<Val>;

Val times(const Val& a, const Val& b) {
  return a.tracer().call1("mul.Tensor", {a, b});
}
Val times(const Val& a, const Scalar& b) {
  return a.tracer().call1("mul.Scalar", {a, a.tracer().literal(b)});
}
Val sum(const Val& a, const Val& b) {
  return a.tracer().call1("add.Tensor", {a, b});
}
Val apart(const Val& a, const Val& b) {
  return a.tracer().call1("sub.Tensor", {a, b});
}
Val quotient(const Val& a, const Val& b) {
  return a.tracer().call1("div.Tensor", {a, b});
}
Val negative(const Val& a) {
  return a.tracer().call1("neg", {a});
}

// The samples along one dim; places count from its end where they are negative.
class Samples {
 public:
  Samples(const Val& x, int64_t dim) : x_(x), dim_(dim) {}

  Val at(int64_t place) const {
    const SymInt from = place < 0 ? x_.size(dim_) + place : SymInt(place);
    return slice(x_, dim_, from, from + 1, 1);
  }
  Val inner(int64_t first) const {  // as many as there are inside, from the first on
    return slice(x_, dim_, first, x_.size(dim_) + (first - 2), 1);
  }
  Val joined(const Val& first, const Val& inside, const Val& last) const {
    return x_.tracer().call1("cat", {List{first, inside, last}, dim_});
  }

 private:
  Val x_;
  int64_t dim_;
};

// a, b and c times three samples from `place` on; whole numbers times integers wrap around.
Val combined(const Samples& s, int64_t place, const Val& a, const Val& b, const Val& c) {
  return sum(sum(times(a, s.at(place)), times(b, s.at(place + 1))), times(c, s.at(place + 2)));
}
Val combined(const Samples& s, int64_t place, const Scalar& a, const Scalar& b, const Scalar& c) {
  return sum(sum(times(s.at(place), a), times(s.at(place + 1), b)), times(s.at(place + 2), c));
}

// Equal distances.
Val derivative(const Samples& s, const ScalarArg& dx, int64_t edge_order) {
  const auto over = [](const Val& v, const ScalarArg& by) {
    return v.tracer().call1("div.Scalar", {v, by});
  };
  Tracer& t = dx.value.tracer();
  const Val doubled = dx.value * (dx.is_integral() ? Scalar(2) : Scalar(2.0));
  const ScalarArg twice{Val(&t, doubled.id(), true), dx.kind, std::nullopt};
  const Val inside = over(apart(s.inner(2), s.inner(0)), twice);
  if (edge_order == 1)
    return s.joined(over(apart(s.at(1), s.at(0)), dx), inside, over(apart(s.at(-1), s.at(-2)), dx));
  return s.joined(over(combined(s, 0, Scalar(-1.5), Scalar(2), Scalar(-0.5)), dx), inside,
                  over(combined(s, -3, Scalar(0.5), Scalar(-2), Scalar(1.5)), dx));
}

// The one-sided derivative at an end from the distances next to it, by the parabola through three
// samples from `place` on.
Val edge(const Samples& s, const Val& near, const Val& next, int64_t place) {
  const Val total = sum(near, next);
  const Val outer = quotient(sum(times(near, Scalar(2)), next), times(near, total));
  const Val centre = quotient(total, times(near, next));
  const Val inner = quotient(near, times(next, total));
  return place < 0 ? combined(s, place, inner, negative(centre), outer)
                   : combined(s, place, negative(outer), centre, negative(inner));
}

// Distances between places: inside, the derivative of the parabola through a sample and its
// neighbours, dx before and behind it. `row` is the shape of such distances beside the samples.
Val derivative(const Samples& s, const Val& places, SymInts row, size_t dim, int64_t edge_order) {
  const Val dx = places.tracer().call1("diff", {places});
  const SymInt count = dx.size(0);
  row[dim] = count - 1;
  const auto part = [&](const SymInt& from) {
    return reshape(slice(dx, 0, from, from + count - 1, 1), row);
  };
  const Val a = part(0), b = part(1), both = sum(a, b);
  const Val before = quotient(negative(b), times(a, both));
  const Val middle = quotient(apart(b, a), times(a, b));
  const Val behind = quotient(a, times(b, both));
  const Val inside =
      sum(sum(times(before, s.inner(0)), times(middle, s.inner(1))), times(behind, s.inner(2)));
  const auto distance = [&](const SymInt& at) { return reshape(slice(dx, 0, at, at + 1, 1), {}); };
  const Val first = distance(0), last = distance(count - 1);
  if (edge_order == 1)
    return s.joined(quotient(apart(s.at(1), s.at(0)), first), inside,
                    quotient(apart(s.at(-1), s.at(-2)), last));
  return s.joined(edge(s, first, distance(1), 0), inside, edge(s, last, distance(count - 2), -3));
}

// --- forms ---

Dims all_dims_if_none(const Val& x, const std::optional<Dims>& dims) {
  return dims ? *dims : dims_from(0, x.rank());
}

std::optional<Dims> as_dims(const std::optional<int64_t>& dim) {
  return dim ? std::optional(Dims{*dim}) : std::nullopt;
}

// `spacings`: how many distances the call gives, if it is a list.
Dims checked_dims(const Val& self, std::optional<size_t> spacings, const std::optional<Dims>& dim,
                  int64_t edge_order) {
  require(self.dtype() != DType::u8, ErrorCode::runtime,
          "torch.gradient does not support uint8 input.");
  if (spacings && !dim)
    require(static_cast<int64_t>(*spacings) == self.rank(), ErrorCode::runtime,
            fmt::format("torch.gradient expected spacing to be unspecified, a scalar, or a list of "
                        "length equal to 'self.dim() = {}', since dim argument was not given, but "
                        "got a list of length {}",
                        self.rank(), *spacings));
  if (spacings && dim)
    require(*spacings == dim->size(), ErrorCode::runtime,
            fmt::format("torch.gradient expected spacing to be unspecified, a scalar or it's "
                        "spacing and dim arguments to have the same length, but got a spacing "
                        "argument of length {} and a dim argument of length {}.",
                        *spacings, dim->size()));
  require(edge_order == 1 || edge_order == 2, ErrorCode::runtime,
          "torch.gradient only supports edge_order=1 and edge_order=2.");
  Dims dims = all_dims_if_none(self, dim);
  for (int64_t& d : dims) d = wrap_dim(d, self.rank());
  wrap_dims(dims, self.rank(), false);  // refuses a dim that comes twice
  for (int64_t d : dims)
    require(self.size(d) >= SymInt(edge_order + 1), ErrorCode::runtime,
            "torch.gradient expected each dimension size to be at least edge_order+1");
  return dims;
}

List by_numbers(const Val& self, const std::vector<ScalarArg>& spacing, const Dims& dims,
                int64_t edge_order) {
  List out;
  for (size_t i = 0; i < dims.size(); ++i)
    out.push_back(derivative(Samples(self, dims[i]), spacing[i], edge_order));
  return out;
}

List by_one_number(const Val& self, const ScalarArg& spacing, const std::optional<Dims>& dim,
                   int64_t edge_order) {
  const Dims dims = checked_dims(self, std::nullopt, dim, edge_order);
  return by_numbers(self, std::vector<ScalarArg>(dims.size(), spacing), dims, edge_order);
}

List by_given_numbers(const Val& self, const std::vector<ScalarArg>& spacing,
                      const std::optional<Dims>& dim, int64_t edge_order) {
  return by_numbers(self, spacing, checked_dims(self, spacing.size(), dim, edge_order), edge_order);
}

List by_places(const Val& self, const List& spacing, const std::optional<Dims>& dim,
               int64_t edge_order) {
  const Dims dims = checked_dims(self, spacing.size(), dim, edge_order);
  List out;
  for (size_t i = 0; i < dims.size(); ++i) {
    require(spacing[i].rank() == 1, ErrorCode::runtime,
            fmt::format("torch.gradient expected each element of spacing to have one dimension, "
                        "but got an element with {} dimensions!",
                        spacing[i].rank()));
    require(spacing[i].size(0) > SymInt(edge_order), ErrorCode::runtime,
            fmt::format("torch.gradient expected at least edge_order + 1 = {} places along dim {}, "
                        "but got spacing of size {}",
                        edge_order + 1, dims[i], spacing[i].size(0).hint()));
    out.push_back(derivative(Samples(self, dims[i]), spacing[i],
                             SymInts(static_cast<size_t>(self.rank()), SymInt(1)),
                             static_cast<size_t>(dims[i]), edge_order));
  }
  return out;
}

}  // namespace

List gradient_unspaced::decompose(Tracer& t, const Val& self, const Dims& dim, int64_t edge_order) {
  return by_one_number(self, t.literal(1.0), dim, edge_order);
}
List gradient_scalar_dims::decompose(Tracer&, const Val& self, const ScalarArg& spacing,
                                     const Dims& dim, int64_t edge_order) {
  return by_one_number(self, spacing, dim, edge_order);
}
List gradient_scalar::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& spacing,
                                const std::optional<int64_t>& dim, int64_t edge_order) {
  return by_one_number(self, spacing.value_or(t.literal(1.0)), as_dims(dim), edge_order);
}
List gradient_scalars_dims::decompose(Tracer&, const Val& self,
                                      const std::vector<ScalarArg>& spacing, const Dims& dim,
                                      int64_t edge_order) {
  return by_given_numbers(self, spacing, dim, edge_order);
}
List gradient_scalars::decompose(Tracer&, const Val& self, const std::vector<ScalarArg>& spacing,
                                 const std::optional<int64_t>& dim, int64_t edge_order) {
  return by_given_numbers(self, spacing, as_dims(dim), edge_order);
}
List gradient_tensors_dims::decompose(Tracer&, const Val& self, const List& spacing,
                                      const Dims& dim, int64_t edge_order) {
  return by_places(self, spacing, dim, edge_order);
}
List gradient_tensors::decompose(Tracer&, const Val& self, const List& spacing,
                                 const std::optional<int64_t>& dim, int64_t edge_order) {
  return by_places(self, spacing, as_dims(dim), edge_order);
}

}  // namespace primset::decomps
