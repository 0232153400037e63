#include "codegen/schedule/families/native/native_family.h"

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

// A device that claims a primitive knows why: it is asked first, and costs nothing to compare.
std::optional<Cost> NativeFamily::cost(const prims::Graph& g, prims::NodeId node,
                                       const Machine&) const {
  if (!options_.native || !options_.native(g, node)) return std::nullopt;
  return Cost{0, 0, 0};
}

// Operands as strides see them, results as dense buffers; a result wanted elsewhere is copied
// there.
void NativeFamily::build(ProgramBuilder& b, const FusionGroup& group) const {
  const prims::Graph& g = b.graph();
  const prims::Node& n = g.node(group.anchor);
  NativeStep step;
  step.node = group.anchor;
  for (prims::ValueId v : n.operands) {
    if (v == prims::kNoValue) continue;
    const Placement p = b.placement(v).value();
    step.operands.push_back({p.buffer, g.type(v).dtype, g.type(v).shape, p.strides, p.offset});
  }
  std::vector<Root> copies;
  for (prims::ValueId v : n.results) {
    const Placement* wanted = ProgramBuilder::wanted(group, v);
    const bool direct = wanted && same_shape(wanted->strides, dense_strides(g.type(v).shape));
    const Placement p = direct ? *wanted : b.temp(v);
    step.results.push_back({p.buffer, g.type(v).dtype, g.type(v).shape, p.strides, p.offset});
    if (wanted && !direct) {
      b.place(v, p);
      copies.push_back({v, *wanted});
    }
  }
  if (n.prim == prims::Prim::check) {
    step.check_code = b.check_code(n.attr<std::string>("code"), n.attr<std::string>("message"));
    step.results.push_back({b.errors(), DType::i64, {2}, {1}, 0});
  }
  b.append({std::move(step)});
  for (const Root& r : copies) b.copy_into(r.value, r.out);
}

}  // namespace primset::schedule
