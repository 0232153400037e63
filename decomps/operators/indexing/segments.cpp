// segment_reduce: runs of a dim are reduced. Rows before that dim have runs of their own; all of
// them are laid end to end, each with one more run for what is in none.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/indexing.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

struct Segments {
  Val bounds;  // [rows * (count + 1) + 1], ascending
  Val sizes;   // [rows, count + 1]
  SymInt rows, count, entries;
  SymInts outer, inner;  // the sizes before the dim, and behind it

  SymInts flat() const { return with({rows * entries}); }
  SymInts whole(const SymInt& n) const {
    SymInts shape = outer;
    shape.push_back(n);
    shape.insert(shape.end(), inner.begin(), inner.end());
    return shape;
  }
  SymInts with(SymInts first) const {
    first.insert(first.end(), inner.begin(), inner.end());
    return first;
  }
};

std::string reduction_name(const std::string& reduce) {
  constexpr const char* kNames[] = {"sum", "prod", "mean", "max", "min"};
  const std::string name = reduce == "amax" ? "max" : reduce == "amin" ? "min" : reduce;
  require(
      std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames), ErrorCode::runtime,
      fmt::format("reduce argument must be either sum, prod, mean, amax or amin, got {}", reduce));
  return name;
}

// Of each row where its runs begin, and the end of the last one; counted from the row's own start.
Val run_bounds(Tracer& t, const Val& data, const std::optional<Val>& lengths,
               const std::optional<Val>& offsets, bool unsafe, const SymInt& entries) {
  if (offsets) return convert(*offsets, DType::i64);
  const Val n = convert(*lengths, DType::i64);
  const int64_t last = n.rank() - 1;
  const Val total = reduce(Prim::reduce_sum, n, {last}, false);
  if (!unsafe) {
    check(ge(n, Scalar(0)), n, ErrorCode::runtime, "lengths contains negative value!");
    check(eq(total, full_like(total, entries)), total, ErrorCode::runtime,
          "segment_reduce(): Expected all rows of lengths along axis to sum to "
          "data.size(lengths.dim()-1) when !unsafe.");
  }
  const Val ends = t.wrap(t.builder().scan(Prim::scan_sum, n.id(), last)[0]);
  SymInts first = n.shape();
  first.back() = 1;
  return concatenate({zeros(data.tracer(), first, DType::i64), ends}, last);
}

Segments segments_of(Tracer& t, const Val& data, const std::optional<Val>& lengths,
                     const std::optional<Val>& offsets, int64_t axis, bool unsafe) {
  require(lengths || offsets, ErrorCode::runtime,
          "segment_reduce(): Either lengths or offsets must be defined.");
  if (!is_floating(data.dtype())) not_implemented_for("_segment_reduce_cpu", data.dtype());
  const Val& given = offsets ? *offsets : *lengths;
  if (!is_index(given.dtype()))
    not_implemented_for("_segment_reduce_lengths_cpu_kernel1", given.dtype());
  const int64_t at = wrap_dim(axis, data.rank());
  require(at == given.rank() - 1, ErrorCode::runtime,
          fmt::format("segment_reduce(): Expected axis to be the last dimension of {} but got {}.",
                      offsets ? "offsets" : "lengths", at));
  const SymInts shape = data.shape();
  Segments s;
  s.entries = shape[static_cast<size_t>(at)];
  s.outer.assign(shape.begin(), shape.begin() + at);
  s.inner.assign(shape.begin() + at + 1, shape.end());
  SymInts rows = given.shape();
  rows.pop_back();
  require(
      equal_sizes(rows, s.outer), ErrorCode::runtime,
      fmt::format("segment_reduce(): Expected {} of data's sizes {} before axis, but got {}",
                  offsets ? "offsets" : "lengths", shape_text(s.outer), shape_text(given.shape())));
  s.rows = prims::product(s.outer);
  const Val bounds = run_bounds(t, data, lengths, offsets, unsafe, s.entries);
  require(bounds.size(-1) > SymInt(0), ErrorCode::runtime,
          "segment_reduce(): Expected offsets to have an entry at least along axis.");
  s.count = bounds.size(-1) - 1;
  const Val own = reshape(bounds, {s.rows, s.count + 1});
  const Val row = t.iota({s.rows, SymInt(1)}, 0, DType::i64) *
                  t.constant(s.entries, DType::i64, {s.rows, SymInt(1)});
  const Val starts = reshape(own + row, {s.rows * (s.count + 1)});
  s.bounds = concatenate({starts, t.constant(s.rows * s.entries, DType::i64, {SymInt(1)})}, 0);
  const SymInt runs = s.rows * (s.count + 1);
  s.sizes = reshape(slice(s.bounds, 0, 1, runs + 1, 1) - starts, {s.rows, s.count + 1});
  return s;
}

// [rows, count] numbers beside the values of the runs.
Val beside(const Val& numbers, const Segments& s, DType type) {
  SymInts shape = numbers.shape();
  shape.insert(shape.end(), s.inner.size(), SymInt(1));
  return reshape(convert(numbers, type), shape);
}

}  // namespace

Val segment_reduce::decompose(Tracer& t, const Val& data, const std::string& reduce,
                              const std::optional<Val>& lengths, const std::optional<Val>& indices,
                              const std::optional<Val>& offsets, int64_t axis, bool unsafe,
                              const std::optional<ScalarArg>& initial) {
  require(!indices, ErrorCode::runtime,
          "segment_reduce(): indices based reduction is not supported yet.");
  const std::string name = reduction_name(reduce);
  const Segments s = segments_of(t, data, lengths, offsets, axis, unsafe);
  const bool averaged = name == "mean" && initial;
  const Val runs = t.prim1(Prim::segment_reduce, {reshape(opmath(data), s.flat()), s.bounds},
                           {{"reduce", averaged ? std::string("sum") : name}});
  Val y = slice(reshape(runs, s.with({s.rows, s.count + 1})), 1, 0, s.count, 1);
  if (initial) {
    const Val first = broadcast_to(t.scalar(*initial, y.dtype()), y.shape());
    if (name == "prod") y = y * first;
    if (name == "sum" || averaged) y = y + first;
    if (name == "max" || name == "min") y = binary(name == "max" ? Prim::max : Prim::min, y, first);
    if (averaged) {
      const Val n = beside(slice(s.sizes, 1, 0, s.count, 1), s, y.dtype());
      y = y / math::max(n, math::number(n, 1.0));
    }
  }
  return convert(reshape(y, s.whole(s.count)), data.dtype());
}

namespace {

// What the gradient sees: entries, each with values of its run; zeros for the run of what is in
// none.
struct Entries {
  Val run;   // [entries of all rows]
  Val data;  // [entries, inner...]
  SymInt runs;

  // Of values of runs.
  Val each(const Val& of_runs) const {
    Tracer& t = of_runs.tracer();
    return t.prim1(Prim::index_select, {of_runs, run}, {{"dim", int64_t{0}}});
  }
  // The sum or product over each run, for each of its entries.
  Val combined(Prim kind, const Val& values, double neutral) const {
    Tracer& t = values.tracer();
    SymInts shape = values.shape();
    shape[0] = runs;
    const Val first = t.constant(Scalar(neutral), values.dtype(), shape);
    return each(scattered(kind, first, {run}, {0}, values));
  }
};

Entries entries_of(const Segments& s, const Val& data) {
  Entries e;
  e.runs = s.rows * (s.count + 1);
  e.data = opmath(reshape(data, s.flat()));
  const Val starts = slice(s.bounds, 0, 0, e.runs, 1);
  const Val begun = bounds_up_to(starts, s.rows * s.entries) - Scalar(1);
  // Before the first run stands nothing that counts: the same as behind the last.
  e.run = where(lt(begun, Scalar(0)), full_like(begun, e.runs - 1), begun);
  return e;
}

// The values of runs, and zeros for the run of what is in none.
Val with_rest(Tracer& t, const Segments& s, const Val& of_runs, const char* argument) {
  require_sizes("_segment_reduce_backward", argument, of_runs, "the reduced data",
                s.whole(s.count));
  const Val x = reshape(opmath(of_runs), s.with({s.rows, s.count}));
  const Val none = zeros(t, s.with({s.rows, SymInt(1)}), x.dtype());
  return reshape(concatenate({x, none}, 1), s.with({s.rows * (s.count + 1)}));
}

// The product of the others: by a division, but of what is 0 or NaN by leaving it out.
Val product_of_others(const Entries& e, const Val& product, const Val& initial) {
  const Val zero = eq(e.data, Scalar(0.0)), nan = math::is_unordered(e.data);
  const Val one = math::number(e.data, 1.0), none = math::number(e.data, 0.0);
  const Val rest = e.combined(Prim::scatter_mul, where(zero | nan, one, e.data), 1) * initial;
  const auto others = [&](const Val& flag) {
    const Val own = convert(flag, DType::i64);
    return gt(e.combined(Prim::scatter_add, own, 0) - own, Scalar(0));
  };
  const Val left =
      where(others(nan), math::number(e.data, math::kNan), where(others(zero), none, rest));
  return where(zero | nan, left, product / e.data);
}

}  // namespace

Val _segment_reduce_backward::decompose(Tracer& t, const Val& grad, const Val& output,
                                        const Val& data, const std::string& reduce,
                                        const std::optional<Val>& lengths,
                                        const std::optional<Val>& offsets, int64_t axis,
                                        const std::optional<ScalarArg>& initial) {
  const std::string name = reduction_name(reduce);
  if (data.is_empty() && (lengths || offsets)) return zeros(t, data.shape(), data.dtype());
  const Segments s = segments_of(t, data, lengths, offsets, axis, true);
  const Entries e = entries_of(s, data);
  Val g = e.each(with_rest(t, s, grad, "grad"));
  if (name == "mean") {
    const Val sizes = reshape(s.sizes, {e.runs});
    const Val n = t.wrap(t.builder().gather(sizes.id(), {e.run.id()}, {0}, true, "run"));
    g = g / beside(n, s, g.dtype());
  }
  if (name == "max" || name == "min") {
    const Val best = e.each(with_rest(t, s, output, "output")), none = math::number(g, 0.0);
    const Val hit = convert(eq(e.data, best) | math::is_unordered(e.data), g.dtype());
    const Val ties = e.combined(Prim::scatter_add, hit, 0);
    g = where(gt(hit, Scalar(0.0)), g / math::max(ties, math::number(ties, 1.0)), none);
  }
  if (name == "prod") {
    const Val first = initial ? t.scalar(*initial, g.dtype()) : t.constant(1.0, g.dtype());
    g = g * product_of_others(e, e.each(with_rest(t, s, output, "output")), first);
  }
  const Val number = binary(Prim::rem, e.run, full_like(e.run, s.count + 1));
  const Val kept = lt(number, full_like(number, s.count));
  const Val result = where(beside(kept, s, DType::boolean), g, math::number(g, 0.0));
  return convert(reshape(result, data.shape()), data.dtype());
}

}  // namespace primset::decomps
