#include "decomps/primitives/sort.h"

#include "decomps/primitives/math.h"
#include "decomps/primitives/sort/radix_select.h"

namespace primset::decomps::prim {
namespace {

std::vector<Val> sorted(const Val& x, int64_t dim, bool descending) {
  Tracer& t = x.tracer();
  return t.prim(Prim::sort, {x, t.iota(x.shape(), dim, DType::i64)},
                {{"dim", dim}, {"descending", descending}});
}

SymInts shape_without(const Val& x, int64_t dim) {
  SymInts shape = x.shape();
  shape.erase(shape.begin() + dim);
  return shape;
}

}  // namespace

// The sort is stable both ways, so that of equal elements the first ones come first.
std::tuple<Val, Val> top_k::decompose(Tracer&, const Val& x, SymInt k, int64_t dim, bool largest,
                                      bool) {
  const auto ordered = sorted(x, dim, largest);
  return {slice(ordered[0], dim, 0, k, 1), slice(ordered[1], dim, 0, k, 1)};
}

std::tuple<Val, Val> kth_value::decompose(Tracer& t, const Val& x, SymInt k, int64_t dim) {
  return radix_select(x, t.constant(k, DType::i64, shape_without(x, dim)), dim);
}

// NaN is the greatest key: the last of the row where it decides, and left out where it does not.
std::tuple<Val, Val> median::decompose(Tracer& t, const Val& x, int64_t dim, bool ignore_nan) {
  const SymInts shape = shape_without(x, dim);
  const SymInt size = x.size(dim);
  if (!is_floating(x.dtype()))
    return radix_select(x, t.constant(prims::floor_div(size + 1, 2), DType::i64, shape), dim);
  const Val last = t.constant(size, DType::i64, shape), one = full_like(last, 1);
  const Val numbers = reduce(Prim::reduce_sum, convert(~is_nan(x), DType::i64), {dim}, false);
  const Val usable = ignore_nan ? lt(full_like(last, 0), numbers) : eq(numbers, last);
  const Val middle = binary(Prim::shift_right, numbers + one, one);
  return radix_select(x, where(usable, middle, last), dim);
}

// In order, runs of equal elements end where they are longest, and the first of the longest runs
// is that of the smallest value. Where it stands last is then looked for, which takes less than
// moving every place with its element.
std::tuple<Val, Val> mode::decompose(Tracer& t, const Val& x, int64_t dim) {
  const Val ordered = t.prim(Prim::sort, {x}, {{"dim", dim}, {"descending", false}})[0];
  const SymInt size = x.size(dim);
  const Val place = t.iota(x.shape(), dim, DType::i64);
  const auto part = [&](const Val& v, int64_t from, const SymInt& to) {
    return slice(v, dim, from, to, 1);
  };
  const Val begins = ne(part(ordered, 0, size - 1), part(ordered, 1, size));
  const Val next = part(place, 1, size);
  const Val starts = concatenate({part(place, 0, 1), where(begins, next, full_like(next, 0))}, dim);
  const Val start = t.prim(Prim::scan_max, {starts}, {{"dim", dim}})[0];
  const Val end = t.wrap(t.builder().arg_reduce(Prim::argmax, (place - start).id(), dim));
  const Val value = t.prim1(Prim::gather_along_dim, {ordered, unsqueeze(end, dim)}, {{"dim", dim}});
  Val equal = eq(x, value);
  if (is_floating(x.dtype())) equal = equal | (is_nan(x) & is_nan(value));
  const Val last = where(equal, place, full_like(place, 0));
  return {squeeze(value, dim), reduce(Prim::reduce_max, last, {dim}, false)};
}

}  // namespace primset::decomps::prim
