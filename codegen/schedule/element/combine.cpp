#include "codegen/schedule/element/combine.h"

#include "codegen/schedule/element/scalar_lowering.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;
using prims::ValueId;

Combiner::Combiner(ElementEmitter& e, prims::NodeId node)
    : e_(e), graph_(e.graph()), node_(graph_.node(node)) {
  // A region node's operands are the arrays and then as many initial values.
  const size_t arity = node_.regions.empty() ? 1 : node_.operands.size() / 2;
  for (size_t k = 0; k < arity; ++k) {
    operands_.push_back(node_.operands[k]);
    results_.push_back(node_.results[k]);
    dtypes_.push_back(graph_.type(node_.operands[k]).dtype);
  }
}

std::vector<ElementValue> Combiner::identity() {
  if (node_.regions.empty()) {
    return {literal(e_.frame().builder(), combine_identity(node_.prim, dtypes_[0]), dtypes_[0])};
  }
  std::vector<ElementValue> out;
  for (size_t k = 0; k < arity(); ++k) out.push_back(e_.emit(node_.operands[arity() + k], {}));
  return out;
}

std::vector<ElementValue> Combiner::combine(std::span<const ElementValue> a,
                                            std::span<const ElementValue> b) {
  if (node_.regions.empty()) {
    return {lower_combine(e_.frame().builder(), node_.prim, dtypes_[0], a[0], b[0])};
  }
  std::vector<ElementValue> args(a.begin(), a.end());
  args.insert(args.end(), b.begin(), b.end());
  return e_.run_region(node_.regions[0], args);
}

std::vector<ElementValue> Combiner::or_identity(Value condition, std::span<const ElementValue> a) {
  std::vector<ElementValue> neutral = identity(), out;
  for (size_t k = 0; k < arity(); ++k) {
    const ElementValue in[] = {{condition, {}}, a[k], neutral[k]};
    out.push_back(
        lower_elementwise(e_.frame().builder(), Prim::select, dtypes_[k], dtypes_[k], in));
  }
  return out;
}

std::vector<Value> Combiner::flatten(std::span<const ElementValue> elems, uint16_t lanes) {
  kir::Builder& b = e_.frame().builder();
  std::vector<Value> out;
  auto add = [&](Value v) { out.push_back(b.type(v).lanes < lanes ? b.splat(v, lanes) : v); };
  for (size_t k = 0; k < elems.size(); ++k) {
    add(elems[k].re);
    if (is_complex(dtypes_[k])) add(elems[k].im);
  }
  return out;
}

std::vector<ElementValue> Combiner::unflatten(std::span<const Value> values) const {
  std::vector<ElementValue> out;
  size_t i = 0;
  for (DType t : dtypes_) {
    ElementValue e{values[i++], {}};
    if (is_complex(t)) e.im = values[i++];
    out.push_back(e);
  }
  return out;
}

size_t Combiner::registers() const {
  size_t n = 0;
  for (DType t : dtypes_) n += is_complex(t) ? 2 : 1;
  return n;
}

}  // namespace primset::schedule
