#include <cmath>

#include "prims/reference/accumulate.h"
#include "prims/reference/elementwise.h"
#include "prims/reference/float_format.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

using Line = std::vector<Element>;

Line elements_at(const Array& x, const std::vector<size_t>& at) {
  Line line;
  line.reserve(at.size());
  for (size_t a : at) line.push_back(x.data[a]);
  return line;
}

// One result for each group of elements that differ in `dims` only.
template <typename F>
std::vector<Array> reduce_groups(NodeRun& run, const Ints& dims, F f) {
  Array r = run.result(0);
  for_each_group(run.x(0).shape, dims, [&](size_t group, const std::vector<size_t>& at) {
    r.data[group] = f(elements_at(run.x(0), at));
  });
  return {std::move(r)};
}

std::vector<Array> reduce_sum(NodeRun& run) {
  ElementOp op = run.op(run.x(0).dtype);
  return reduce_groups(run, run.ints("dims"), [&](const Line& line) {
    Sum sum;
    for (const Element& x : line) sum.add(x);
    return sum.finish(op);
  });
}

std::vector<Array> reduce_prod(NodeRun& run) {
  ElementOp op = run.op(run.x(0).dtype);
  return reduce_groups(run, run.ints("dims"), [&](const Line& line) {
    Product product;
    for (const Element& x : line) product.add(op, x);
    return product.finish(op);
  });
}

// Folds with a primitive on two elements.
std::vector<Array> fold(NodeRun& run, Prim step, const Element& identity) {
  ElementOp op = run.op(run.x(0).dtype);
  ElementFunction f = find_elementwise(step);
  return reduce_groups(run, run.ints("dims"), [&](const Line& line) {
    Element r = identity;
    for (const Element& x : line) {
      Element pair[] = {r, x};
      r = f(op, pair);
    }
    return r;
  });
}

Element greatest(DType t) {
  return is_floating(t) ? real_element(HUGE_VALL) : integer_element(max_integer(t));
}
Element least(DType t) {
  return is_floating(t) ? real_element(-HUGE_VALL) : integer_element(min_integer(t));
}

std::vector<Array> reduce_min(NodeRun& run) {
  return fold(run, Prim::min, greatest(run.x(0).dtype));
}
std::vector<Array> reduce_max(NodeRun& run) {
  return fold(run, Prim::max, least(run.x(0).dtype));
}

std::vector<Array> reduce_and(NodeRun& run) {
  DType t = run.x(0).dtype;
  return fold(run, Prim::bit_and, integer_element(is_signed_integer(t) ? -1 : max_integer(t)));
}
std::vector<Array> reduce_or(NodeRun& run) {
  return fold(run, Prim::bit_or, integer_element(0));
}
std::vector<Array> reduce_xor(NodeRun& run) {
  return fold(run, Prim::bit_xor, integer_element(0));
}

// The first best element; the first NaN is better than everything.
template <bool Max>
Element best_index(DType t, const Line& line) {
  size_t best = 0;
  for (size_t i = 1; i < line.size() && !is_nan(line[best]); ++i) {
    bool better = Max ? less(t, line[best], line[i]) : less(t, line[i], line[best]);
    if (is_nan(line[i]) || better) best = i;
  }
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i].undecided) return undecided_element();
    if (i != best && may_tie_or_cross(line[i], line[best])) return undecided_element();
  }
  return integer_element(static_cast<int64_t>(best));
}

template <bool Max>
std::vector<Array> arg_extreme(NodeRun& run) {
  DType t = run.x(0).dtype;
  return reduce_groups(run, {run.integer("dim")},
                       [&](const Line& line) { return best_index<Max>(t, line); });
}

}  // namespace

void add_reduction_operations(OperationTable& t) {
  t.set(Prim::reduce_sum, reduce_sum);
  t.set(Prim::reduce_prod, reduce_prod);
  t.set(Prim::reduce_min, reduce_min);
  t.set(Prim::reduce_max, reduce_max);
  t.set(Prim::reduce_and, reduce_and);
  t.set(Prim::reduce_or, reduce_or);
  t.set(Prim::reduce_xor, reduce_xor);
  t.set(Prim::argmin, arg_extreme<false>);
  t.set(Prim::argmax, arg_extreme<true>);
}

}  // namespace primset::prims::reference
