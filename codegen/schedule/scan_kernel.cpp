// Inclusive scans: one lane or thread walks one row in order, so the results are those of the
// sequential definition on every device.
#include <algorithm>

#include "codegen/schedule/combine.h"
#include "codegen/schedule/kernels.h"
#include "codegen/schedule/loops.h"

namespace primset::schedule {

using kir::Value;

BuiltKernel scan_kernel(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots) {
  const prims::Graph& g = c.values.graph;
  const prims::Node& n = g.node(node);
  const SymInts domain = g.type(n.operands[0]).shape;
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  std::vector<size_t> order;
  for (size_t d = 0; d < domain.size(); ++d) {
    if (d != dim) order.push_back(d);
  }
  const Indices at = identity_indices(domain);

  auto build = [&](const std::vector<LoopDim>& kept) {
    Frame f(c.name, c.target, c.index32, domain);
    f.set_error_buffer(c.errors);
    f.set_lanes(cpu_lanes(c.target));
    ElementEmitter e(f, c.values);
    kir::Builder& b = f.builder();
    for_each_point(f, kept, [&] {
      Combiner combiner(e, node);
      const std::vector<LoopDim> outer = f.loops();
      const Value mask = f.mask();
      b.for_loop(f.index_constant(0), f.param(domain[dim]), f.index_constant(1),
                 combiner.flatten(combiner.identity(), f.lanes()),
                 [&](Value i, std::span<const Value> carried) {
                   ElementEmitter::Scope scope(e);
                   std::vector<LoopDim> loops = outer;
                   loops.push_back({{dim}, domain[dim], i, false});
                   f.set_loops(loops);
                   f.set_mask(mask);
                   std::vector<Elem> x;
                   for (size_t k = 0; k < combiner.arity(); ++k)
                     x.push_back(e.emit(combiner.operand(k), at));
                   std::vector<Elem> sum = combiner.combine(combiner.unflatten(carried), x);
                   for (size_t k = 0; k < roots.size(); ++k) {
                     const auto result =
                         std::find(n.results.begin(), n.results.end(), roots[k].value);
                     f.store(roots[k].out.buffer, g.type(roots[k].value).dtype,
                             place_address(f, roots[k].out, at),
                             sum[static_cast<size_t>(result - n.results.begin())]);
                   }
                   return combiner.flatten(sum, f.lanes());
                 });
      f.set_loops(outer);
    });
    LaunchStep step = f.step();
    Analysis analysis = f.analysis();
    return BuiltKernel{std::move(f).finish(), std::move(step), std::move(analysis)};
  };
  const std::vector<LoopDim> separate = separate_loops(domain, order);
  BuiltKernel first = build(separate);
  const std::vector<LoopDim> merged = merge_loops(domain, separate, first.analysis);
  return merged.size() == separate.size() ? std::move(first) : build(merged);
}

}  // namespace primset::schedule
