// Reading and writing at computed places by gather, scatter and compact.
#include "decomps/primitives/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;

Ints all_dims(int64_t rank) {
  Ints dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

// Where each element of `index` points to, a number for each dim: its own place but along dim.
std::vector<ValueId> places_along(Tracer& t, const Val& index, int64_t dim) {
  std::vector<ValueId> places;
  for (int64_t d = 0; d < index.rank(); ++d)
    places.push_back(d == dim ? index.id() : t.iota(index.shape(), d, DType::i64).id());
  return places;
}

// The first elements of x, as many as `shape` says.
Val cut(const Val& x, const SymInts& shape) {
  Val y = x;
  for (size_t d = 0; d < shape.size(); ++d) y = slice(y, static_cast<int64_t>(d), 0, shape[d], 1);
  return y;
}

Val scatter_along(Tracer& t, Prim kind, const Val& x, const Val& index, const Val& updates,
                  int64_t dim) {
  return t.wrap(t.builder().scatter(kind, x.id(), places_along(t, index, dim), updates.id(),
                                    all_dims(x.rank()), false, false, "index"));
}

}  // namespace

Val gather_along_dim::decompose(Tracer& t, const Val& x, const Val& index, int64_t dim) {
  return t.wrap(
      t.builder().gather(x.id(), places_along(t, index, dim), all_dims(x.rank()), false, "index"));
}

Val scatter_along_dim::decompose(Tracer& t, const Val& x, const Val& index, const Val& src,
                                 int64_t dim) {
  return scatter_along(t, Prim::scatter, x, index, cut(src, index.shape()), dim);
}

namespace {

struct Reduction {
  std::string_view name;
  Prim kind;
  Scalar (*neutral)(DType);
};

Scalar zero(DType) {
  return Scalar(0);
}
Scalar one(DType) {
  return Scalar(1);
}

// The least or greatest value of a dtype, infinities included.
template <bool Greatest>
Scalar extreme(DType t) {
  if (is_floating(t)) return Scalar(Greatest ? math::kInfinity : -math::kInfinity);
  if (is_bool(t)) return Scalar(Greatest);
  // The greatest u64 is -1 in the bits of an i64.
  if (is_unsigned_integer(t))
    return Scalar(!Greatest       ? int64_t{0}
                  : bits(t) == 64 ? int64_t{-1}
                                  : (int64_t{1} << bits(t)) - 1);
  const int64_t greatest = std::numeric_limits<int64_t>::max() >> (64 - bits(t));
  return Scalar(Greatest ? greatest : -greatest - 1);
}

constexpr Reduction kReductions[] = {
    {"sum", Prim::scatter_add, zero},
    {"mean", Prim::scatter_add, zero},
    {"prod", Prim::scatter_mul, one},
    {"amin", Prim::scatter_min, extreme<true>},
    {"amax", Prim::scatter_max, extreme<false>},
};

const Reduction& reduction_of(const std::string& name) {
  for (const Reduction& r : kReductions) {
    if (r.name == name) return r;
  }
  fail(ErrorCode::runtime,
       fmt::format("reduce argument must be either sum, prod, mean, amax or amin, got {}", name));
}

// The sums divided by how many numbers went into each; integers rounded down.
Val mean_of(Tracer& t, const Val& sums, const Val& index, int64_t dim, bool include_self) {
  const DType type =
      is_floating(sums.dtype()) || sums.dtype() == DType::u64 ? sums.dtype() : DType::i64;
  const Val first = t.constant(Scalar(include_self ? 1 : 0), type, sums.shape());
  const Val ones = t.constant(Scalar(1), type, index.shape());
  const Val counted = scatter_along(t, Prim::scatter_add, first, index, ones, dim);
  const Val count = math::max(counted, full_like(counted, Scalar(1)));
  const Val wide = convert(sums, type);
  return is_floating(type) ? wide / count : t.prim1(Prim::floor_div, {wide, count});
}

}  // namespace

// Without include_self what receives something starts from the neutral element.
Val scatter_reduce_along_dim::decompose(Tracer& t, const Val& x, const Val& index, const Val& src,
                                        int64_t dim, const std::string& reduce, bool include_self) {
  const Reduction& r = reduction_of(reduce);
  const bool mean = reduce == "mean";
  // A mean is rounded once, behind its quotient.
  Val start = mean ? opmath(x) : x;
  const DType type = start.dtype();
  const Val updates = convert(cut(src, index.shape()), type);
  if (!include_self)
    start = scatter_along(t, Prim::scatter, start, index, full_like(updates, r.neutral(type)), dim);
  const Val y = scatter_along(t, r.kind, start, index, updates, dim);
  return mean ? convert(mean_of(t, y, index, dim, include_self), x.dtype()) : y;
}

Val index_select::decompose(Tracer& t, const Val& x, const Val& index, int64_t dim) {
  const Val y = t.wrap(t.builder().gather(x.id(), {index.id()}, {dim}, false, "index"));
  Ints permutation = all_dims(y.rank());
  std::rotate(permutation.begin(), permutation.begin() + 1, permutation.begin() + dim + 1);
  return transpose(y, permutation);
}

namespace {

Val put(Tracer& t, const Val& x, const std::vector<ValueId>& places, const Val& values,
        const Ints& dims, bool accumulate) {
  if (accumulate && is_complex(x.dtype()))
    return complex(put(t, real(x), places, real(values), dims, true),
                   put(t, imag(x), places, imag(values), dims, true));
  return t.wrap(t.builder().scatter(accumulate ? Prim::scatter_add : Prim::scatter, x.id(), places,
                                    values.id(), dims, false, false, "index"));
}

}  // namespace

// Values broadcast to the shape of the updates of scatter: that of the indices, then the dims that
// are not indexed.
Val index_put::decompose(Tracer& t, const Val& x, const std::vector<Val>& indices,
                         const Val& values, const std::vector<int64_t>& dims, bool accumulate) {
  if (indices.empty())
    return accumulate ? x + broadcast_to(values, x.shape()) : broadcast_to(values, x.shape());
  std::vector<SymInts> shapes;
  for (const Val& i : indices) shapes.push_back(i.shape());
  SymInts shape = broadcast_shapes(shapes);
  std::vector<ValueId> places;
  for (size_t i = 0; i < indices.size(); ++i)
    places.push_back(broadcast_to(wrapped_index(indices[i], x.size(dims[i])), shape).id());
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) shape.push_back(x.size(d));
  }
  return put(t, x, places, broadcast_to(values, shape), dims, accumulate);
}

// The run-time size is made last, so that nothing else is of it.
std::tuple<Val, Val> nonzero::decompose(Tracer& t, const Val& x) {
  const SymInts shape = x.shape();
  const SymInt size = x.numel();
  const auto found =
      t.prim(Prim::compact, {t.iota({size}, 0, DType::i64), logical(reshape(x, {size}))});
  // The place in memory taken apart, the last dim first.
  std::vector<Val> columns(shape.size());
  Val rest = found[0];
  for (size_t d = shape.size(); d-- > 0;) {
    const Val extent = full_like(rest, shape[d]);
    columns[d] = reshape(d == 0 ? rest : binary(Prim::rem, rest, extent), {size, 1});
    if (d > 0) rest = rest / extent;
  }
  const Val rows =
      columns.empty() ? t.constant(Scalar(0), DType::i64, {size, 0}) : concatenate(columns, 1);
  return {t.wrap(t.builder().set_dim(rows.id(), found[1].id(), 0)), found[1]};
}

std::tuple<Val, Val> masked_select::decompose(Tracer& t, const Val& x, const Val& mask) {
  const SymInts flat = {x.numel()};
  const auto found = t.prim(Prim::compact, {reshape(x, flat), reshape(mask, flat)});
  return {t.wrap(t.builder().set_dim(found[0].id(), found[1].id(), 0)), found[1]};
}

}  // namespace primset::decomps::prim
