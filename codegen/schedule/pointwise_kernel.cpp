// Fused pointwise kernels.
#include "codegen/schedule/kernels.h"
#include "codegen/schedule/loops.h"

namespace primset::schedule {

using prims::NodeId;

namespace {

void emit_body(Frame& f, const BuildContext& c, const std::vector<Root>& roots,
               const std::vector<NodeId>& checks) {
  ElementEmitter e(f, c.values);
  const prims::Graph& g = c.values.graph;
  const Indices at = identity_indices(f.domain());
  for (NodeId id : checks) {
    const prims::Node& n = g.node(id);
    Elem ok = e.emit(n.operands[0], at);
    Elem value = e.emit(n.operands[1], at);
    f.report(c.values.check_site(n.attr<std::string>("code"), n.attr<std::string>("message")),
             f.builder().not_(ok.re), value.re, g.type(n.operands[1]).dtype);
  }
  // All loads come before all stores: an output may be an input's memory.
  std::vector<Elem> results;
  for (const Root& r : roots) results.push_back(e.emit(r.value, at));
  for (size_t i = 0; i < roots.size(); ++i) {
    f.store(roots[i].out.buffer, g.type(roots[i].value).dtype, place_address(f, roots[i].out, at),
            results[i]);
  }
}

}  // namespace

BuiltKernel pointwise_kernel(const BuildContext& c, const SymInts& domain,
                             const std::vector<Root>& roots, const std::vector<NodeId>& checks) {
  std::vector<size_t> order;
  if (roots.empty()) {
    for (size_t d = 0; d < domain.size(); ++d) order.push_back(d);
  } else {
    order = memory_order(domain, roots[0].out.strides);
  }
  auto build = [&](const std::vector<LoopDim>& loops, std::optional<size_t> tiled) {
    Frame f(c.name, c.target, c.index32, domain);
    f.set_error_buffer(c.errors);
    f.set_lanes(cpu_lanes(c.target));
    for_each_point(f, loops, [&] { emit_body(f, c, roots, checks); }, tiled);
    LaunchStep step = f.step();
    Analysis analysis = f.analysis();
    return BuiltKernel{std::move(f).finish(), std::move(step), std::move(analysis)};
  };
  const std::vector<LoopDim> separate = separate_loops(domain, order);
  BuiltKernel first = build(separate, std::nullopt);
  const std::vector<LoopDim> merged = merge_loops(domain, separate, first.analysis);
  std::optional<size_t> tiled;
  if (!c.target.simt) tiled = transposed_loop(merged, first.analysis);
  if (merged.size() == separate.size() && !tiled) return first;
  return build(merged, tiled);
}

bool writes_in_place(const Analysis& a, BufferId input, BufferId output) {
  const Affine* stored = nullptr;
  for (const AccessRecord& r : a.accesses) {
    if (r.buffer != output || !r.store) continue;
    if (stored != nullptr && !same(*stored, r.address)) return false;
    stored = &r.address;
  }
  if (stored == nullptr || !stored->is_affine()) return false;
  for (const AccessRecord& r : a.accesses) {
    if (r.buffer == input && !r.store && !same(*stored, r.address)) return false;
  }
  return true;
}

}  // namespace primset::schedule
