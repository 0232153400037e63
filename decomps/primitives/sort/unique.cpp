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

Val scattered_in_bounds(const Val& x, const Val& to, const Val& values) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().scatter(Prim::scatter, x.id(), {to.id()}, values.id(), {0}, true, false,
                                    "index"));
}

// The places where runs begin, in order, and how many they are. Behind them there is anything.
struct Firsts {
  Val places, count;
};

// Where scatters are fast the others go behind them, from the end on, so that each has one place.
Firsts first_places(const Val& begins, const Val& number) {
  Tracer& t = begins.tracer();
  const SymInt size = begins.size(0);
  const Val place = t.iota({size}, 0, place_type(size));
  if (!t.device().fast_scatter) {
    const auto packed = t.prim(Prim::compact, {place, begins});
    return {packed[0], packed[1]};
  }
  const Val target = where(begins, number, full_like(place, size) - place + number);
  const Val places = scattered_in_bounds(full_like(place, 0), target, place);
  const Val count = reshape(slice(number, 0, size - 1, size, 1), {}) + Scalar(1);
  return {places, convert(count, DType::i64)};
}

// Entries that stand one behind the other are packed, others read where runs begin.
std::pair<Val, Val> first_of_runs(const Val& x, const Runs& runs, const Val& first,
                                  const Val& count) {
  Tracer& t = x.tracer();
  const auto taken = [&](const Val& from, const Val& at) {
    return t.wrap(t.builder().gather(from.id(), {at.id()}, {0}, true, "index"));
  };
  const std::optional<Val> in_order = runs.order || x.rank() > 1 ? runs.in_order : x;
  if (!in_order) return {taken(x, runs.order ? taken(*runs.order, first) : first), count};
  if (t.device().fast_scatter) return {taken(*in_order, first), count};
  const auto packed = t.prim(Prim::compact, {*in_order, runs.begins});
  return {packed[0], packed[1]};
}

Results results_of(const Val& x, const Runs& runs) {
  Tracer& t = x.tracer();
  const SymInt size = x.size(0);
  const DType type = place_type(size);
  const Val place = t.iota({size}, 0, type), number = run_numbers(runs.begins, 0);
  const auto [places, count] = first_places(runs.begins, number);
  const Val valid = lt(place, broadcast_to(convert(count, type), {size}));
  const Val start = where(valid, places, full_like(place, size));
  const Val end = concatenate({slice(start, 0, 1, size, 1), t.constant(size, type, {1})}, 0);
  const auto entries = first_of_runs(x, runs, where(valid, places, full_like(place, 0)), count);
  const Val inverse =
      runs.order ? scattered_in_bounds(full_like(place, 0), *runs.order, number) : number;
  const auto wide = [](const Val& v) { return convert(v, DType::i64); };
  return {entries.first, wide(inverse), wide(end - start), entries.second};
}

Results none_of(const Val& x) {
  Tracer& t = x.tracer();
  const Val nothing = t.constant(0, DType::i64, {x.size(0)}), count = t.constant(0, DType::i64);
  return {x, nothing, nothing, count};
}

}  // namespace

// A result that is not asked for is no work where nothing reads it.
Results unique::decompose(Tracer& t, const Val& x, bool, bool) {
  const SymInt size = x.size(0);
  if (size == SymInt(0)) return none_of(x);
  const auto sorted = t.prim(Prim::sort, {entry_keys(x), t.iota({size}, 0, place_type(size))},
                             {{"dim", int64_t{0}}, {"descending", false}});
  // Of numbers the order is only needed for what stands where in it.
  const auto in_order = x.rank() == 1 ? std::optional(sorted[0]) : std::nullopt;
  return results_of(x, {begins_run(sorted[0], 0), sorted[1], in_order});
}

Results unique_consecutive::decompose(Tracer& t, const Val& x, bool, bool) {
  const SymInt size = x.size(0);
  if (size == SymInt(0)) return none_of(x);
  if (x.rank() == 1) return results_of(x, {begins_run(x, 0), std::nullopt, std::nullopt});
  // The first entry begins a run even where entries have no elements.
  const Val differs = reduce(Prim::reduce_or, begins_run(rows_of(x), 0), {1}, false);
  const Val first = eq(t.iota({size}, 0, DType::i64), Scalar(0));
  return results_of(x, {differs | first, std::nullopt, std::nullopt});
}

}  // namespace primset::decomps::prim
