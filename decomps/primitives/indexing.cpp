// Reading and writing at computed places by gather, scatter and compact.
#include "decomps/primitives/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "decomps/operators/operator_support.h"
#include "decomps/primitives/index_type.h"
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

// An index that is the same for all dims but one of x.
bool names_planes(const Val& x, const Val& index) {
  return index.rank() < x.rank();
}

// What of src is scattered.
Val updates_of(const Val& x, const Val& index, const Val& src) {
  return names_planes(x, index) ? src : cut(src, index.shape());
}

Val scatter_along(Tracer& t, Prim kind, const Val& x, const Val& index, const Val& updates,
                  int64_t dim) {
  if (names_planes(x, index)) {
    const Val planes = moved_dim(updates, dim, 0);
    return t.wrap(
        t.builder().scatter(kind, x.id(), {index.id()}, planes.id(), {dim}, false, false, "index"));
  }
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
  return scatter_along(t, Prim::scatter, x, index, updates_of(x, index, src), dim);
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

// Complex sums by real counts, part by part.
Val quotient(const Val& sums, const Val& counts) {
  if (!is_complex(sums.dtype())) return sums / counts;
  return complex(real(sums) / counts, imag(sums) / counts);
}

// The sums divided by how many numbers went into each; integers rounded down.
Val mean_of(Tracer& t, const Val& sums, const Val& index, int64_t dim, bool include_self) {
  const DType own = real_type(sums.dtype());
  const DType type = is_floating(own) || own == DType::u64 ? own : DType::i64;
  const bool planes = names_planes(sums, index);
  const SymInts places = planes ? SymInts{sums.size(dim)} : sums.shape();
  const Val first = t.constant(Scalar(include_self ? 1 : 0), type, places);
  const Val ones = t.constant(Scalar(1), type, index.shape());
  Val counted = scatter_along(t, Prim::scatter_add, first, index, ones, planes ? 0 : dim);
  if (planes) {
    SymInts along(static_cast<size_t>(sums.rank()), SymInt(1));
    along[static_cast<size_t>(dim)] = sums.size(dim);
    counted = broadcast_to(reshape(counted, along), sums.shape());
  }
  const Val count = math::max(counted, full_like(counted, Scalar(1)));
  if (is_floating(type)) return quotient(sums, count);
  return t.prim1(Prim::floor_div, {convert(sums, type), count});
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
  const Val updates = convert(updates_of(x, index, src), type);
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
      t.prim(Prim::compact, {t.iota({size}, 0, place_type(size)), logical(reshape(x, {size}))});
  std::vector<Val> columns = unraveled(found[0], shape);
  for (Val& c : columns) c = reshape(convert(c, DType::i64), {size, 1});
  const Val rows =
      columns.empty() ? t.constant(Scalar(0), DType::i64, {size, 0}) : concatenate(columns, 1);
  return {t.wrap(t.builder().set_dim(rows.id(), found[1].id(), 0)), found[1]};
}

std::tuple<Val, Val> masked_select::decompose(Tracer& t, const Val& x, const Val& mask) {
  const SymInts flat = {x.numel()};
  const auto found = t.prim(Prim::compact, {reshape(x, flat), reshape(mask, flat)});
  return {t.wrap(t.builder().set_dim(found[0].id(), found[1].id(), 0)), found[1]};
}

// Each element whose mask holds takes the one of src that as many masks before it count to.
Val masked_scatter::decompose(Tracer& t, const Val& x, const Val& mask, const Val& src) {
  const Val flags = flattened(mask), values = flattened(src);
  const Val numbers = convert(flags, DType::i64);
  const Val taken = t.wrap(t.builder().scan(Prim::scan_sum, numbers.id(), 0)[0]);
  const Val total = reduce(Prim::reduce_sum, numbers, {0}, false);
  const SymInt count = values.size(0);
  check(le(total, t.constant(count, DType::i64)), total, ErrorCode::runtime,
        "Number of elements of source < number of ones in mask");
  if (known_equal(count, 0) == true) return x;
  const Val last = full_like(taken, count - 1);
  const Val place =
      binary(Prim::min, binary(Prim::max, taken - Scalar(1), full_like(taken, 0)), last);
  const Val found = t.wrap(t.builder().gather(values.id(), {place.id()}, {0}, true, "index"));
  return reshape(where(flags, found, flattened(x)), x.shape());
}

namespace {

// How many of the ascending ends are at or before each place, kept in memory: a place has many
// elements. Few threads walk along the ends, many count them.
Val places_among(const Val& ends, const SymInt& size) {
  Tracer& t = ends.tracer();
  if (!t.device().fast_scatter) return bounds_up_to(ends, size);
  const Val pointers = concatenate({t.constant(0, DType::i64, {1}), ends}, 0);
  return t.prim1(Prim::expand_rows, {pointers}, {{"entries", size}});
}

}  // namespace

// Each result repeats the first entry whose running count is above it.
Val repeat_interleave::decompose(Tracer& t, const Val& x, const Val& repeats, int64_t dim,
                                 SymInt size) {
  const Val counts = convert(repeats, DType::i64);
  const Val total = reduce(Prim::reduce_sum, counts, {0}, false);
  check(ge(counts, Scalar(0)), counts, ErrorCode::runtime, "repeats can not be negative");
  check(eq(total, t.constant(size, DType::i64)), total, ErrorCode::runtime,
        "allocated size does not match required size");
  const Val ends = t.wrap(t.builder().scan(Prim::scan_sum, counts.id(), 0)[0]);
  const Val found = places_among(ends, size);
  const Val place = binary(Prim::min, found, full_like(found, repeats.size(0) - 1));
  return t.prim1(Prim::index_select, {x, place}, {{"dim", dim}});
}

namespace {

struct Bags {
  Val indices, bag;  // of each row
  Val counts;        // [n, 1], whether a row does
  Val rows;          // [n, k], in opmath
  SymInt count;      // of the bags
};

Val into_bags(Prim kind, const Bags& b, Scalar first, const Val& updates) {
  SymInts shape = updates.shape();
  shape[0] = b.count;
  const Val start = b.bag.tracer().constant(first, updates.dtype(), shape);
  return scattered(kind, start, {b.bag}, {0}, updates);
}

// The greatest element of each bag, and the index of the first row that has it.
std::tuple<Val, Val> greatest_in(Tracer& t, const Bags& b) {
  // As a comparison one after another has it, NaN stays where it comes first and else never wins.
  const Val place_of_row = t.iota({b.rows.size(0)}, 0, DType::i64);
  const Val behind = full_like(place_of_row, b.rows.size(0));
  const Val begins = into_bags(Prim::scatter_min, b, Scalar(std::numeric_limits<int64_t>::max()),
                               where(squeeze(b.counts, 1), place_of_row, behind));
  const Val begin = t.prim1(Prim::index_select, {begins, b.bag}, {{"dim", int64_t{0}}});
  const Val beaten = math::is_unordered(b.rows) & unsqueeze(ne(begin, place_of_row), 1);
  const Val candidates = where(b.counts & ~beaten, b.rows, math::number(b.rows, -math::kInfinity));
  const Val greatest = into_bags(Prim::scatter_max, b, Scalar(-math::kInfinity), candidates);
  const Val own = t.prim1(Prim::index_select, {greatest, b.bag}, {{"dim", int64_t{0}}});
  const Val place = t.iota(b.rows.shape(), 0, DType::i64);
  const Val last = full_like(place, b.rows.size(0));
  const Val hit = (eq(candidates, own) | math::is_unordered(candidates)) & b.counts & ~beaten;
  const Val first = into_bags(Prim::scatter_min, b, Scalar(std::numeric_limits<int64_t>::max()),
                              where(hit, place, last));
  const Val nothing = ge(first, full_like(first, b.rows.size(0)));
  const Val at = where(nothing, full_like(first, 0), first);
  const Val index = t.wrap(t.builder().gather(b.indices.id(), {at.id()}, {0}, true, "index"));
  return {where(nothing, math::number(greatest, 0.0), greatest),
          where(nothing, full_like(first, 0), convert(index, DType::i64))};
}

}  // namespace

std::tuple<Val, Val, Val> embedding_bag::decompose(Tracer& t, const Val& weight, const Val& indices,
                                                   const Val& bags,
                                                   const std::optional<Val>& per_sample,
                                                   SymInt count, const std::string& mode,
                                                   SymInt padding_idx) {
  const Val none = t.constant(0, DType::i64, {count, weight.size(1)});
  if (known_equal(indices.size(0), 0) == true)
    return {t.constant(0.0, weight.dtype(), none.shape()), t.constant(0, DType::i64, {count}),
            none};
  const Val kept = ne(indices, full_like(indices, padding_idx));
  const Val rows = t.prim1(Prim::index_select, {weight, indices}, {{"dim", int64_t{0}}});
  const Bags b{indices, bags, unsqueeze(kept, 1), opmath(rows), count};
  const Val sizes = into_bags(Prim::scatter_add, b, Scalar(0), convert(kept, DType::i64));
  if (mode == "max") {
    const auto [greatest, places] = greatest_in(t, b);
    return {convert(greatest, weight.dtype()), sizes, places};
  }
  const Val factored = per_sample ? b.rows * unsqueeze(opmath(*per_sample), 1) : b.rows;
  Val sum = into_bags(Prim::scatter_add, b, Scalar(0.0),
                      where(b.counts, factored, math::number(factored, 0.0)));
  if (mode == "mean") {
    const Val number = unsqueeze(binary(Prim::max, sizes, full_like(sizes, 1)), 1);
    sum = sum / convert(number, sum.dtype());
  }
  return {convert(sum, weight.dtype()), sizes, none};
}

Val embedding_backward::decompose(Tracer& t, const Val& grad, const Val& indices, SymInt rows,
                                  SymInt padding_idx, bool scale_grad_by_freq, bool in_bounds) {
  Val updates = opmath(grad);
  if (scale_grad_by_freq) {
    const Val ones = t.constant(1, DType::i64, indices.shape());
    const Val counts =
        scattered(Prim::scatter_add, t.constant(0, DType::i64, {rows}), {indices}, {0}, ones);
    const Val count = t.wrap(t.builder().gather(counts.id(), {indices.id()}, {0}, false, "index"));
    updates = updates / unsqueeze(convert(count, updates.dtype()), 1);
  }
  const Val kept = ne(indices, full_like(indices, padding_idx));
  updates = where(unsqueeze(kept, 1), updates, full_like(updates, 0));
  const Val none = t.constant(0, updates.dtype(), {rows, grad.size(1)});
  require_nonempty_dim(none, 0, indices);
  const Val sums = t.wrap(t.builder().scatter(Prim::scatter_add, none.id(), {indices.id()},
                                              updates.id(), {0}, in_bounds, false, "index"));
  return convert(sums, grad.dtype());
}

namespace {

struct SegmentReduction {
  std::string_view name;
  Prim kind;
  double neutral;
};
constexpr SegmentReduction kSegmentReductions[] = {
    {"sum", Prim::scatter_add, 0},
    {"prod", Prim::scatter_mul, 1},
    {"max", Prim::scatter_max, -math::kInfinity},
    {"min", Prim::scatter_min, math::kInfinity},
};

const SegmentReduction& segment_reduction(const std::string& name) {
  for (const SegmentReduction& r : kSegmentReductions) {
    if (r.name == name) return r;
  }
  fail(ErrorCode::runtime, fmt::format("segment_reduce: unsupported reduction given! {}", name));
}

Val mean_of_segments(Tracer& t, const Val& x, const Val& offsets) {
  const Val sums =
      t.prim1(Prim::segment_reduce, {opmath(x), offsets}, {{"reduce", std::string("sum")}});
  const SymInt count = offsets.size(0) - 1;
  const Val bounds = convert(offsets, DType::i64);
  const Val sizes = slice(bounds, 0, 1, count + 1, 1) - slice(bounds, 0, 0, count, 1);
  SymInts along(static_cast<size_t>(x.rank()), SymInt(1));
  along[0] = count;
  return convert(sums / reshape(convert(sizes, sums.dtype()), along), x.dtype());
}

}  // namespace

// Each entry goes to the last segment that begins at it or before; what is in none, to one more
// that is cut off.
Val segment_reduce::decompose(Tracer& t, const Val& x, const Val& offsets,
                              const std::string& reduce) {
  if (reduce == "mean") return mean_of_segments(t, x, offsets);
  const SegmentReduction& r = segment_reduction(reduce);
  const Val wide = opmath(x), bounds = convert(offsets, DType::i64);
  const SymInt count = offsets.size(0) - 1;
  const Val found = bounds_up_to(bounds, x.size(0)) - Scalar(1), last = full_like(found, count);
  const Val segment = where(lt(found, Scalar(0)), last, found);
  SymInts shape = x.shape();
  shape[0] = count + 1;
  const Val start = r.neutral == 0 ? zeros(t, shape, wide.dtype())
                                   : t.constant(Scalar(r.neutral), wide.dtype(), shape);
  const Val y = slice(scattered(r.kind, start, {segment}, {0}, wide), 0, 0, count, 1);
  return convert(y, x.dtype());
}

}  // namespace primset::decomps::prim
