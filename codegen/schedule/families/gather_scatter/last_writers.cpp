#include "codegen/schedule/families/gather_scatter/last_writers.h"

#include <numeric>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/families/gather_scatter/atomic_update.h"
#include "codegen/schedule/families/gather_scatter/indexed_address.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

namespace {

std::vector<LoopDim> loops_of(const SymInts& domain) {
  std::vector<size_t> order(domain.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return separate_loops(domain, order);
}

// The number of the update at the current position.
Value own_number(Frame& f, const SymInts& updates) {
  const SymInts strides = dense_strides(updates);
  Affine number;
  for (size_t d = 0; d < updates.size(); ++d)
    number = f.add(number, f.scale(loop_variable(d), strides[d]));
  return f.materialize(number);
}

}  // namespace

bool can_claim(const kir::TargetModel& target, bool index32) {
  return target.simt && (index32 || (target.i64 && target.atomic_i64));
}

Value LastWriters::is_own(Frame& f, ElementEmitter& e, const prims::Node& scatter,
                          const ValueEnvironment& values) const {
  Value fits;
  const Affine address = indexed_address(f, e, values, scatter, dense_strides(places), fits);
  const Value claimed = f.load(positions, dtype, address, true).re;
  return f.builder().ieq(claimed, own_number(f, values.graph.type(scatter.operands[1]).shape));
}

BuiltKernel clear_positions(const BuildContext& c, const LastWriters& last) {
  Frame f(c.name, c.machine, c.index32, last.places);
  const Placement out{last.positions, dense_strides(last.places), 0};
  for_each_point(f, loops_of(last.places), [&] {
    f.store(out.buffer, last.dtype, element_address(f, out, identity_indices(last.places)),
            {f.index_constant(0), {}});
  });
  return built(std::move(f));
}

BuiltKernel claim_positions(const BuildContext& c, prims::NodeId scatter, const LastWriters& last) {
  const prims::Node& n = c.values.graph.node(scatter);
  const SymInts& updates = c.values.graph.type(n.operands[1]).shape;
  Frame f(c.name, c.machine, c.index32, updates);
  f.set_error_buffer(c.errors);
  ElementEmitter e(f, c.values);
  for_each_point(f, loops_of(updates), [&] {
    ElementEmitter::Scope scope(e);
    Value fits;
    const Affine address = indexed_address(f, e, c.values, n, dense_strides(last.places), fits);
    const auto claim = [&] {
      atomic_update(f, prims::Prim::scatter_max, last.dtype, last.positions, address,
                    {own_number(f, updates), {}});
    };
    fits.valid() ? f.builder().if_then(fits, claim) : claim();
  });
  return built(std::move(f));
}

}  // namespace primset::schedule
