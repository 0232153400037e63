// Primitives with bodies.
#include <algorithm>
#include <cmath>

#include "prims/reference/elementwise.h"
#include "prims/reference/interpreter.h"

namespace primset::prims::reference {
namespace {

using Tuple = std::vector<Element>;

std::vector<Array> results(const NodeRun& run) {
  std::vector<Array> out;
  for (size_t i = 0; i < run.node.results.size(); ++i) out.push_back(run.result(i));
  return out;
}

// Element `at` of each of the first n operands.
Tuple elements_at(const NodeRun& run, size_t n, size_t at) {
  Tuple t;
  for (size_t k = 0; k < n; ++k) t.push_back(run.x(k).data[at]);
  return t;
}

void store(std::vector<Array>& arrays, size_t at, const Tuple& values) {
  for (size_t k = 0; k < arrays.size(); ++k) arrays[k].data[at] = values[k];
}

std::vector<Array> map(NodeRun& run) {
  std::vector<Array> out = results(run);
  for (size_t i = 0; i < run.x(0).data.size(); ++i) {
    Tuple xs = elements_at(run, run.count(), i);
    store(out, i, run.interpreter.run(run.node.regions[0], xs));
  }
  return out;
}

Tuple combine(NodeRun& run, const Tuple& a, const Tuple& b) {
  Tuple both = a;
  both.insert(both.end(), b.begin(), b.end());
  return run.interpreter.combine(run.node.regions[0], both);
}

Tuple inits(const NodeRun& run, size_t n) {
  Tuple t;
  for (size_t k = 0; k < n; ++k) t.push_back(run.x(n + k).data[0]);
  return t;
}

Tuple combine_one_by_one(NodeRun& run, const std::vector<Tuple>& line, Tuple start) {
  for (const Tuple& t : line) start = combine(run, start, t);
  return start;
}

// Halves joined: as a parallel device goes about it.
Tuple combine_by_halves(NodeRun& run, std::span<const Tuple> line) {
  if (line.size() == 1) return line[0];
  size_t half = line.size() / 2;
  return combine(run, combine_by_halves(run, line.first(half)),
                 combine_by_halves(run, line.subspan(half)));
}

// Two orders of combination and what lies between them: the bound of a result that depends on it.
Tuple join_orders(const Tuple& a, const Tuple& b, DType const* dtypes) {
  Tuple out = a;
  for (size_t k = 0; k < a.size(); ++k) {
    if (is_integral(dtypes[k]) || is_bool(dtypes[k])) {
      if (a[k].undecided || b[k].undecided || !equal(a[k], b[k])) out[k] = undecided_element();
      continue;
    }
    long double re = distance(a[k].re, b[k].re), im = distance(a[k].im, b[k].im);
    long double apart = std::hypot(re, im);
    if (a[k].undecided || b[k].undecided || std::isnan(re) || std::isnan(im)) {
      out[k] = undecided_element();
    } else {
      out[k].error = std::max(a[k].error, b[k].error + apart);
    }
  }
  return out;
}

std::vector<Array> reduce(NodeRun& run) {
  size_t n = run.count() / 2;
  std::vector<Array> out = results(run);
  std::vector<DType> dtypes;
  for (const Array& a : out) dtypes.push_back(a.dtype);
  Tuple start = inits(run, n);
  for_each_group(run.x(0).shape, run.ints("dims"),
                 [&](size_t group, const std::vector<size_t>& at) {
                   std::vector<Tuple> line;
                   for (size_t i : at) line.push_back(elements_at(run, n, i));
                   Tuple total = combine_one_by_one(run, line, start);
                   if (line.size() > 1) {
                     Tuple other = combine(run, start, combine_by_halves(run, line));
                     total = join_orders(total, other, dtypes.data());
                   }
                   store(out, group, total);
                 });
  return out;
}

std::vector<Array> scan(NodeRun& run) {
  size_t n = run.count() / 2;
  std::vector<Array> out = results(run);
  for_each_group(run.x(0).shape, {run.integer("dim")},
                 [&](size_t, const std::vector<size_t>& line) {
                   Tuple carried = inits(run, n);
                   for (size_t at : line) {
                     carried = combine(run, carried, elements_at(run, n, at));
                     store(out, at, carried);
                   }
                 });
  return out;
}

std::vector<Array> copies(const NodeRun& run, size_t first) {
  std::vector<Array> out;
  for (size_t k = first; k < run.count(); ++k) out.push_back(run.x(k));
  return out;
}

std::vector<Array> for_loop(NodeRun& run) {
  std::vector<Array> carried = copies(run, 0), out = results(run);
  size_t n = carried.size();
  int64_t count = run.size("count");
  for (int64_t i = 0; i < count; ++i) {
    carried.insert(carried.begin(), Array{DType::i64, {}, {integer_element(i)}});
    std::vector<Array> next = run.interpreter.run(run.node.regions[0], std::move(carried));
    for (size_t k = n; k < next.size(); ++k) {
      auto rows = static_cast<std::ptrdiff_t>(next[k].data.size());
      std::copy(next[k].data.begin(), next[k].data.end(), out[k].data.begin() + i * rows);
    }
    next.resize(n);
    carried = std::move(next);
  }
  std::move(carried.begin(), carried.end(), out.begin());
  return out;
}

void mark_undecided(std::vector<Array>& arrays) {
  for (Array& a : arrays) std::fill(a.data.begin(), a.data.end(), undecided_element());
}

std::vector<Array> while_loop(NodeRun& run) {
  std::vector<Array> carried = copies(run, 0);
  while (true) {
    Element go = run.interpreter.run(run.node.regions[0], carried)[0].data[0];
    if (go.undecided) mark_undecided(carried);  // nobody knows whether there is another round
    if (go.undecided || !go.integer) return carried;
    carried = run.interpreter.run(run.node.regions[1], std::move(carried));
  }
}

std::vector<Array> cond(NodeRun& run) {
  Element p = run.x(0).data[0];
  std::vector<Array> operands = copies(run, 1);
  if (!p.undecided) {
    return run.interpreter.run(run.node.regions[p.integer ? 0 : 1], std::move(operands));
  }
  // Either branch may be taken: as select has it.
  std::vector<Array> a = run.interpreter.run(run.node.regions[0], operands);
  std::vector<Array> b = run.interpreter.run(run.node.regions[1], std::move(operands));
  for (size_t k = 0; k < a.size(); ++k) {
    ElementOp op;
    op.prim = Prim::select;
    op.to = a[k].dtype;
    for (size_t i = 0; i < a[k].data.size(); ++i) {
      Element choice[] = {p, a[k].data[i], b[k].data[i]};
      a[k].data[i] = find_elementwise(Prim::select)(op, choice);
    }
  }
  return a;
}

}  // namespace

void add_region_operations(OperationTable& t) {
  t.set(Prim::map, reference::map);
  t.set(Prim::reduce, reference::reduce);
  t.set(Prim::scan, reference::scan);
  t.set(Prim::for_loop, for_loop);
  t.set(Prim::while_loop, while_loop);
  t.set(Prim::cond, cond);
}

}  // namespace primset::prims::reference
