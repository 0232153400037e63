// Distinct entries along the first dim: sorted, or as they stand, and cut where they begin to
// differ.
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/index_type.h"
#include "decomps/primitives/math.h"
#include "decomps/primitives/search.h"

namespace primset::decomps::prim {
namespace {

using Results = std::tuple<Val, Val, Val, Val>;

// Whether each entry along dim differs from the one before; the first one does.
Val begins_run(const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  const SymInt size = x.size(dim);
  const Val changes = ne(slice(x, dim, 0, size - 1, 1), slice(x, dim, 1, size, 1));
  SymInts one = x.shape();
  one[static_cast<size_t>(dim)] = 1;
  return concatenate({t.constant(true, DType::boolean, one), changes}, dim);
}

// The number of the run that each element is in, along dim.
Val run_numbers(const Val& begins, int64_t dim) {
  Tracer& t = begins.tracer();
  const DType type = place_type(begins.size(dim));
  return t.prim1(Prim::scan_sum, {convert(begins, type)}, {{"dim", dim}}) - Scalar(1);
}

// Each row of numbers as their ranks in it: equal numbers have one rank, and no rank is left out.
Val ranked(const Val& rows) {
  Tracer& t = rows.tracer();
  const auto sorted = t.prim(Prim::sort, {rows, t.iota(rows.shape(), 1, place_type(rows.size(1)))},
                             {{"dim", int64_t{1}}, {"descending", false}});
  const Val numbers = run_numbers(begins_run(sorted[0], 1), 1);
  return t.prim1(Prim::scatter_along_dim, {full_like(numbers, 0), sorted[1], numbers},
                 {{"dim", int64_t{1}}});
}

// A row for each entry.
Val rows_of(const Val& x) {
  const SymInts shape = x.shape();
  return reshape(x, {shape[0], prims::product(SymInts(shape.begin() + 1, shape.end()))});
}

// One number an entry, in the entries' lexicographic order. Columns of numbers become columns of
// ranks, and two ranks one number, until one column is left: half as many are sorted each time, so
// that in all no more than twice what there is.
Val entry_keys(const Val& x) {
  const SymInt size = x.size(0);
  Val columns = rows_of(x);
  if (columns.size(1) == SymInt(0)) return x.tracer().constant(0, DType::i64, {size});
  columns = transpose(columns, {1, 0});
  while (!(columns.size(0) == SymInt(1))) {
    const SymInt pairs = ceil_div(columns.size(0), 2);
    const Val ranks = reshape(resized_front(ranked(columns), pairs * 2), {pairs, 2, size});
    const auto of = [&](int64_t i) { return squeeze(slice(ranks, 1, i, i + 1, 1), 1); };
    const Val leading = convert(of(0), DType::i64);
    columns = leading * full_like(leading, size) + of(1);
  }
  return reshape(columns, {size});
}

// What the results are made of: where runs begin in an order of the entries, which is none where
// the entries stand in it.
struct Runs {
  Val begins;
  std::optional<Val> order;
  std::optional<Val> in_order;  // the entries in that order, where sorting them gave it
};

Val first_entries(const Val& x, const Val& count) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().set_dim(x.id(), count.id(), 0));
}

// The first entry of each run goes to the front. Behind the last one of these there is anything, so
// nothing is read at such a place.
Results results_of(const Val& x, const Runs& runs) {
  Tracer& t = x.tracer();
  const SymInt size = x.size(0);
  const DType type = place_type(size);
  const Val place = t.iota({size}, 0, type);
  const auto packed = [&](const Val& v) { return t.prim(Prim::compact, {v, runs.begins}); };
  const auto taken = [&](const Val& from, const Val& at) {
    return t.wrap(t.builder().gather(from.id(), {at.id()}, {0}, true, "index"));
  };
  const auto firsts = packed(place);
  const Val count = firsts[1], valid = lt(place, broadcast_to(convert(count, type), {size}));
  const Val first = where(valid, firsts[0], full_like(place, 0));
  const Val start = where(valid, firsts[0], full_like(place, size));
  const Val end = concatenate({slice(start, 0, 1, size, 1), t.constant(size, type, {1})}, 0);
  const std::optional<Val> in_order = runs.order || x.rank() > 1 ? runs.in_order : x;
  const auto entries =
      in_order ? packed(*in_order)
               : std::vector{taken(x, runs.order ? taken(*runs.order, first) : first), count};
  const Val number = run_numbers(runs.begins, 0);
  const Val inverse =
      runs.order
          ? t.wrap(t.builder().scatter(Prim::scatter, full_like(place, 0).id(), {runs.order->id()},
                                       number.id(), {0}, true, false, "index"))
          : number;
  const auto wide = [](const Val& v) { return convert(v, DType::i64); };
  return {first_entries(entries[0], entries[1]), wide(inverse),
          first_entries(wide(end - start), count), entries[1]};
}

Results none_of(const Val& x) {
  Tracer& t = x.tracer();
  const Val nothing = t.constant(0, DType::i64, {x.size(0)}), count = t.constant(0, DType::i64);
  return {first_entries(x, count), nothing, first_entries(nothing, count), count};
}

}  // namespace

Results unique::decompose(Tracer& t, const Val& x) {
  const SymInt size = x.size(0);
  if (size == SymInt(0)) return none_of(x);
  const auto sorted = t.prim(Prim::sort, {entry_keys(x), t.iota({size}, 0, place_type(size))},
                             {{"dim", int64_t{0}}, {"descending", false}});
  // Of numbers the order is only needed for what stands where in it.
  const auto in_order = x.rank() == 1 ? std::optional(sorted[0]) : std::nullopt;
  return results_of(x, {begins_run(sorted[0], 0), sorted[1], in_order});
}

Results unique_consecutive::decompose(Tracer& t, const Val& x) {
  const SymInt size = x.size(0);
  if (size == SymInt(0)) return none_of(x);
  if (x.rank() == 1) return results_of(x, {begins_run(x, 0), std::nullopt, std::nullopt});
  // The first entry begins a run even where entries have no elements.
  const Val differs = reduce(Prim::reduce_or, begins_run(rows_of(x), 0), {1}, false);
  const Val first = eq(t.iota({size}, 0, DType::i64), Scalar(0));
  return results_of(x, {differs | first, std::nullopt, std::nullopt});
}

}  // namespace primset::decomps::prim
