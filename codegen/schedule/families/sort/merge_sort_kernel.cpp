// Stable merge sort. First every thread sorts a run of a few elements by insertion; then passes
// merge neighbouring runs of p = 2^k runs each into twice as long ones, from one set of arrays to
// another and back. In a pass each thread makes a few neighbouring elements of the result: it finds
// by bisection where these begin in the two runs (Odeh, Green, Mwassi, Shmueli, Birk: Merge Path,
// 2012) and merges from there. Keys travel with the payloads and with their original positions.
#include <algorithm>
#include <bit>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/families/sort/merge_sort_kernel.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

namespace {

// a goes strictly before b; NaN is greatest.
Value before(kir::Builder& b, DType t, Value x, Value y) {
  if (t == DType::boolean) return b.and_(b.not_(x), y);
  if (!is_floating(t)) return is_signed_integer(t) ? b.slt(x, y) : b.ult(x, y);
  Value y_nan = b.fne(y, y), x_nan = b.fne(x, x);
  return b.or_(b.flt(x, y), b.and_(b.not_(x_nan), y_nan));
}

}  // namespace

BuiltKernel positions_kernel(const BuildContext& c, const SymInts& domain, size_t dim,
                             const Placement& out) {
  Frame f(c.name, c.machine, c.index32, domain);
  f.set_lanes(cpu_lanes(c.target));
  std::vector<size_t> order;
  for (size_t d = 0; d < domain.size(); ++d) order.push_back(d);
  for_each_point(f, separate_loops(domain, order), [&] {
    const Value i = f.materialize(loop_variable(dim));
    f.store(out.buffer, position_dtype(c.index32),
            element_address(f, out, identity_indices(domain)), {i, {}});
  });
  return built(std::move(f));
}

namespace {

// Elements that one thread sorts by insertion, and that it merges in a pass: they come from two
// runs at most.
int64_t run_length(const Machine& machine) {
  return machine.tuning.sort.run;
}
int64_t chunk_length(const Machine& machine) {
  return 2 * run_length(machine);
}

// A row's elements by their number in it.
class Rows {
 public:
  Rows(Frame& f, const BuildContext& c, const SortRequest& r) : f_(f), r_(r) {
    const prims::Graph& g = c.values.graph;
    const prims::Node& n = g.node(r.node);
    descending_ = n.attr<bool>("descending");
    for (prims::ValueId v : n.operands) dtypes_.push_back(g.type(v).dtype);
    dtypes_.push_back(position_dtype(c.index32));
    row_ = f.add(f.scale(loop_variable(0), r.length * r.inner), loop_variable(2));
  }
  size_t arrays() const { return dtypes_.size(); }

  ElementValue load(const std::vector<BufferId>& arrays, size_t k, Value number) {
    return f_.load(arrays[k], dtypes_[k], address(number));
  }
  void store(const std::vector<BufferId>& arrays, size_t k, Value number, const ElementValue& x) {
    f_.store(arrays[k], dtypes_[k], address(number), x);
  }
  // Whether key x goes strictly before key y.
  Value goes_before(const ElementValue& x, const ElementValue& y) {
    return descending_ ? before(f_.builder(), dtypes_[0], y.re, x.re)
                       : before(f_.builder(), dtypes_[0], x.re, y.re);
  }

 private:
  Affine address(Value number) {
    Affine within;
    within.opaque = f_.builder().mul(number, f_.param(r_.inner));
    return f_.add(row_, within);
  }

  Frame& f_;
  const SortRequest& r_;
  bool descending_ = false;
  std::vector<DType> dtypes_;
  Affine row_;
};

Value minimum(kir::Builder& b, Value x, Value y) {
  return b.select(b.slt(x, y), x, y);
}
Value maximum(kir::Builder& b, Value x, Value y) {
  return b.select(b.slt(x, y), y, x);
}

// A kernel of one thread for each `part` neighbouring elements of a row; the body gets the first
// one's number and that behind the last.
BuiltKernel over_parts(const BuildContext& c, const SortRequest& r, int64_t part,
                       const std::function<void(Frame&, Value first, Value end)>& body) {
  const SymInts domain{r.rows, prims::ceil_div(r.length, part), r.inner};
  Frame f(c.name, c.machine, c.index32, domain);
  f.set_lanes(1);
  kir::Builder& b = f.builder();
  const auto all = [&] {
    const Value first = b.mul(f.materialize(loop_variable(1)), f.index_constant(part));
    const Value end = minimum(b, b.add(first, f.index_constant(part)), f.param(r.length));
    body(f, first, end);
  };
  for_each_point(f, separate_loops(domain, {0, 1, 2}), all, std::nullopt, part);
  return built(std::move(f));
}

}  // namespace

BuiltKernel sort_runs_kernel(const BuildContext& c, const SortRequest& r) {
  return over_parts(c, r, run_length(c.machine), [&](Frame& f, Value first, Value end) {
    kir::Builder& b = f.builder();
    Rows rows(f, c, r);
    const Value one = f.index_constant(1);
    b.for_loop(b.add(first, one), end, one, {}, [&](Value i, auto) {
      std::vector<ElementValue> x;
      for (size_t k = 0; k < rows.arrays(); ++k) x.push_back(rows.load(r.arrays, k, i));
      const auto last_before = [&](Value at) { return maximum(b, b.sub(at, one), first); };
      const Value place = b.while_loop(
          {i},
          [&](std::span<const Value> at) {
            const ElementValue key = rows.load(r.arrays, 0, last_before(at[0]));
            return b.and_(b.slt(first, at[0]), rows.goes_before(x[0], key));
          },
          [&](std::span<const Value> at) {
            const Value from = last_before(at[0]);
            for (size_t k = 0; k < rows.arrays(); ++k)
              rows.store(r.arrays, k, at[0], rows.load(r.arrays, k, from));
            return kir::Builder::Values{from};
          })[0];
      for (size_t k = 0; k < rows.arrays(); ++k) rows.store(r.arrays, k, place, x[k]);
      return kir::Builder::Values{};
    });
  });
}

namespace {

// The two runs that a chunk is made from, and where it begins in each.
struct Pair {
  Value a, a_end, b, b_end;
};

// Merge path: how many of the first `diagonal` elements of the merged runs a and b come from a.
Value taken_from_a(kir::Builder& b, Rows& rows, const std::vector<BufferId>& from, const Pair& runs,
                   Value diagonal, Value one) {
  const Value a_count = b.sub(runs.a_end, runs.a), b_count = b.sub(runs.b_end, runs.b);
  const Value low = maximum(b, b.sub(diagonal, b_count), b.sub(one, one));
  const Value high = minimum(b, diagonal, a_count);
  return b.while_loop(
      {low, high}, [&](std::span<const Value> v) { return b.slt(v[0], v[1]); },
      [&](std::span<const Value> v) {
        const Value middle = b.lshr(b.add(v[0], v[1]), one);
        const ElementValue x = rows.load(from, 0, b.add(runs.a, middle));
        const ElementValue y =
            rows.load(from, 0, b.add(runs.b, b.sub(b.sub(diagonal, middle), one)));
        const Value b_first = rows.goes_before(y, x);
        return kir::Builder::Values{b.select(b_first, v[0], b.add(middle, one)),
                                    b.select(b_first, middle, v[1])};
      })[0];
}

}  // namespace

BuiltKernel merge_runs_kernel(const BuildContext& c, const SortRequest& r, bool back) {
  const std::vector<BufferId>& from = back ? r.others : r.arrays;
  const std::vector<BufferId>& to = back ? r.arrays : r.others;
  return over_parts(c, r, chunk_length(c.machine), [&](Frame& f, Value first, Value end) {
    kir::Builder& b = f.builder();
    Rows rows(f, c, r);
    const Value one = f.index_constant(1);
    // Of a row that this pass finds sorted the runs may be shorter than the pass stands for.
    const int64_t longest =
        (c.index32 ? 30 : 62) - std::countr_zero<uint64_t>(run_length(c.machine));
    const Value pass = b.add(b.shl(f.param(r.pass_pair), one), f.index_constant(back ? 1 : 0));
    const Value length =
        b.shl(f.index_constant(run_length(c.machine)), minimum(b, pass, f.index_constant(longest)));
    Pair runs;
    runs.a = b.sub(first, b.urem(first, b.add(length, length)));
    const Value left = b.sub(f.param(r.length), runs.a);
    runs.a_end = b.add(runs.a, minimum(b, length, left));
    runs.b = runs.a_end;
    runs.b_end = b.add(runs.b, minimum(b, length, b.sub(f.param(r.length), runs.b)));

    const Value diagonal = b.sub(first, runs.a);
    const Value from_a = taken_from_a(b, rows, from, runs, diagonal, one);
    const Value last = b.sub(f.param(r.length), one);
    b.for_loop(first, end, one, {b.add(runs.a, from_a), b.add(runs.b, b.sub(diagonal, from_a))},
               [&](Value i, std::span<const Value> at) {
                 const ElementValue x = rows.load(from, 0, minimum(b, at[0], last));
                 const ElementValue y = rows.load(from, 0, minimum(b, at[1], last));
                 const Value a_over = b.sle(runs.a_end, at[0]), b_over = b.sle(runs.b_end, at[1]);
                 const Value take_b = b.and_(b.not_(b_over), b.or_(a_over, rows.goes_before(y, x)));
                 const Value taken = b.select(take_b, at[1], at[0]);
                 for (size_t k = 0; k < rows.arrays(); ++k)
                   rows.store(to, k, i, rows.load(from, k, taken));
                 return kir::Builder::Values{b.select(take_b, at[0], b.add(at[0], one)),
                                             b.select(take_b, b.add(at[1], one), at[1])};
               });
  });
}

SymInt merge_pass_pairs(const SortRequest& r, const Machine& machine) {
  const SymInt runs = prims::ceil_div(prims::max(r.length, SymInt(1)), run_length(machine));
  return prims::ceil_div(prims::ceil_log2(runs), 2);
}

}  // namespace primset::schedule
