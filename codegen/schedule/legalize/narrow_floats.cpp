#include "codegen/schedule/legalize/narrow_floats.h"

#include <unordered_set>

namespace primset::schedule {

DType narrow_float(DType t) {
  if (t == DType::f64) return DType::f32;
  return t == DType::c128 ? DType::c64 : t;
}

void narrow_floats(prims::Graph& graph) {
  std::unordered_set<prims::ValueId> kept(graph.body.results.begin(), graph.body.results.end());
  for (const prims::Input& in : graph.inputs) kept.insert(in.value);
  for (prims::ValueId v = 0; v < graph.value_count(); ++v) {
    DType& t = graph.mutable_type(v).dtype;
    if (!kept.contains(v)) t = narrow_float(t);
  }
  for (prims::NodeId id = 0; id < graph.node_count(); ++id) {
    prims::Node& n = graph.mutable_node(id);
    bool keeps = false;
    for (const prims::ValueId v : n.results) keeps |= kept.contains(v);
    if (keeps) continue;
    for (prims::Attr& a : n.attrs)
      if (DType* t = std::get_if<DType>(&a.value)) *t = narrow_float(*t);
  }
}

}  // namespace primset::schedule
