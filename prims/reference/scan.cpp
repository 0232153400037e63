// Prefix combinations along one dim.
#include "prims/reference/accumulate.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

std::vector<Array> scan_sum(NodeRun& run) {
  Array r = run.result(0);
  ElementOp op = run.op(r.dtype);
  for_each_group(r.shape, {run.integer("dim")}, [&](size_t, const std::vector<size_t>& line) {
    Sum sum;
    for (size_t at : line) {
      sum.add(run.x(0).data[at]);
      r.data[at] = sum.finish(op);
    }
  });
  return {std::move(r)};
}

std::vector<Array> scan_prod(NodeRun& run) {
  Array r = run.result(0);
  ElementOp op = run.op(r.dtype);
  for_each_group(r.shape, {run.integer("dim")}, [&](size_t, const std::vector<size_t>& line) {
    Product product;
    for (size_t at : line) {
      product.add(op, run.x(0).data[at]);
      r.data[at] = product.finish(op);
    }
  });
  return {std::move(r)};
}

// The running extreme and its place: a later equal element takes over, and so does every NaN.
template <bool Max>
std::vector<Array> scan_extreme(NodeRun& run) {
  const Array& x = run.x(0);
  Array values = run.result(0), indices = run.result(1);
  for_each_group(x.shape, {run.integer("dim")}, [&](size_t, const std::vector<size_t>& line) {
    Element best, place;
    for (size_t i = 0; i < line.size(); ++i) {
      const Element& e = x.data[line[i]];
      bool worse = Max ? less(x.dtype, e, best) : less(x.dtype, best, e);
      bool keeps = i > 0 && !is_nan(e) && (is_nan(best) || worse);
      bool unsure = i > 0 && may_tie_or_cross(e, best);
      long double error = unsure && best.error > e.error ? best.error : e.error;
      bool lost = e.undecided || (i > 0 && best.undecided);
      if (!keeps) {
        best = e;
        place = integer_element(static_cast<int64_t>(i));
      }
      if (unsure && !is_nan(best)) {
        best.error = error;
        place = undecided_element();
      }
      if (lost) best = place = undecided_element();
      values.data[line[i]] = best;
      indices.data[line[i]] = place;
    }
  });
  return {std::move(values), std::move(indices)};
}

}  // namespace

void add_scan_operations(OperationTable& t) {
  t.set(Prim::scan_sum, scan_sum);
  t.set(Prim::scan_prod, scan_prod);
  t.set(Prim::scan_min, scan_extreme<false>);
  t.set(Prim::scan_max, scan_extreme<true>);
}

}  // namespace primset::prims::reference
