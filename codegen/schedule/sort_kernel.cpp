// Sorting by Batcher's odd-even merge sort (Knuth, TAOCP 3, 5.2.2, algorithm M): a network whose
// comparators all point the same way, so that it sorts any length by leaving out those that reach
// past the end. The keys travel with their original positions, which break ties: the sort is
// stable.
//
// The program runs one pass for every p = 2^round below the length and every d = p, p/2, ..., 1.
// Element i is compared with i + d when
//   d == p:  (i / p) is even, for i = any
//   d <  p:  (i mod 2p) lies in [d, 2p - d) and ((i - d) / d) is even within it.
#include "codegen/schedule/kernels.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/scalar_lowering.h"

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
  Frame f(c.name, c.target, c.index32, domain);
  f.set_lanes(cpu_lanes(c.target));
  std::vector<size_t> order;
  for (size_t d = 0; d < domain.size(); ++d) order.push_back(d);
  for_each_point(f, separate_loops(domain, order), [&] {
    Value i = f.builder().int_resize(f.materialize(loop_variable(dim)), kir::Scalar::i64, true);
    f.store(out.buffer, DType::i64, place_address(f, out, identity_indices(domain)), {i, {}});
  });
  LaunchStep step = f.step();
  Analysis analysis = f.analysis();
  return {std::move(f).finish(), std::move(step), std::move(analysis)};
}

BuiltKernel sort_pass_kernel(const BuildContext& c, const SortRequest& r) {
  const prims::Graph& g = c.values.graph;
  const prims::Node& n = g.node(r.node);
  const bool descending = n.attr<bool>("descending");
  const SymInts domain{r.rows, r.length, r.inner};
  Frame f(c.name, c.target, c.index32, domain);
  f.set_lanes(1);
  kir::Builder& b = f.builder();
  const DType key = g.type(n.operands[0]).dtype;

  auto dtype_of = [&](size_t k) {
    return k < n.operands.size() ? g.type(n.operands[k]).dtype : DType::i64;
  };
  for_each_point(f, separate_loops(domain, {0, 1, 2}), [&] {
    Value i = f.materialize(loop_variable(1));
    Value p = b.shl(f.index_constant(1), f.param(r.round)), d = b.lshr(p, f.param(r.sub_round));
    Value first_pass = b.ieq(d, p);
    Value zero = f.index_constant(0), one = f.index_constant(1);
    Value even_block = b.ieq(b.and_(b.udiv(i, p), one), zero);
    Value span = b.add(p, p);
    Value in_span = b.urem(i, span);
    Value later = b.and_(b.and_(b.sle(d, in_span), b.slt(in_span, b.sub(span, d))),
                         b.ieq(b.and_(b.udiv(b.sub(in_span, d), d), one), zero));
    Value active =
        b.and_(b.select(first_pass, even_block, later), b.slt(b.add(i, d), f.param(r.length)));
    b.if_then(active, [&] {
      Affine base = f.scale(loop_variable(0), r.length * r.inner);
      base = f.add(base, f.scale(loop_variable(1), r.inner));
      base = f.add(base, loop_variable(2));
      Affine step;
      step.opaque = b.mul(d, f.param(r.inner));
      Affine other = f.add(base, step);
      std::vector<Elem> x, y;
      for (size_t k = 0; k < r.arrays.size(); ++k) {
        x.push_back(f.load(r.arrays[k], dtype_of(k), base));
        y.push_back(f.load(r.arrays[k], dtype_of(k), other));
      }
      Value y_first =
          descending ? before(b, key, x[0].re, y[0].re) : before(b, key, y[0].re, x[0].re);
      Value x_first =
          descending ? before(b, key, y[0].re, x[0].re) : before(b, key, x[0].re, y[0].re);
      Value tie = b.not_(b.or_(x_first, y_first));
      Value swap = b.or_(y_first, b.and_(tie, b.slt(y.back().re, x.back().re)));
      b.if_then(swap, [&] {
        for (size_t k = 0; k < r.arrays.size(); ++k) {
          f.store(r.arrays[k], dtype_of(k), base, y[k]);
          f.store(r.arrays[k], dtype_of(k), other, x[k]);
        }
      });
    });
  });
  LaunchStep step = f.step();
  Analysis analysis = f.analysis();
  return {std::move(f).finish(), std::move(step), std::move(analysis)};
}

}  // namespace primset::schedule
