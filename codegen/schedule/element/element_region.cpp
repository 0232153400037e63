// Scalar regions inside kernels: the bodies of map, reduce and scan, with their own control flow.
#include "codegen/schedule/element/element.h"
#include "codegen/schedule/element/scalar_lowering.h"
#include "prims/graph/traits.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;
using prims::ValueId;

ElementValue ElementEmitter::map(ValueId v, const Node& n, const Indices& at) {
  std::vector<ElementValue> args;
  for (ValueId operand : n.operands) args.push_back(emit(operand, at));
  std::vector<ElementValue> results = run_region(n.regions[0], args);
  // The region computes all results at once; the others are memoised.
  ElementValue mine;
  for (size_t k = 0; k < results.size(); ++k) {
    if (n.results[k] == v) mine = results[k];
    std::string key =
        std::to_string(n.results[k]) + '@' + std::to_string(frame_.mask().id) + index_key(at);
    memo_.back().emplace(std::move(key), results[k]);
  }
  return mine;
}

std::vector<ElementValue> ElementEmitter::run_region(const prims::Region& region,
                                                     std::span<const ElementValue> args) {
  const prims::Graph& g = values_.graph;
  // A region is emitted again for every use, so its values are not in the memo.
  for (size_t i = 0; i < region.params.size(); ++i) region_values_[region.params[i]] = args[i];
  for (prims::NodeId id : region.nodes) {
    const Node& n = g.node(id);
    std::vector<ElementValue> in;
    for (ValueId operand : n.operands) in.push_back(region_values_.at(operand));
    std::vector<ElementValue> out;
    kir::Builder& b = frame_.builder();
    if (n.prim == Prim::constant) {
      out = {constant(n)};
    } else if (n.prim == Prim::convert) {
      out = {lower_convert(b, in[0], g.type(n.operands[0]).dtype, g.type(n.results[0]).dtype)};
    } else if (n.prim == Prim::bitcast) {
      out = {lower_bitcast(b, in[0], g.type(n.operands[0]).dtype, g.type(n.results[0]).dtype)};
    } else if (is_core_elementwise(n.prim)) {
      const DType from = g.type(n.operands[n.prim == Prim::select ? 1 : 0]).dtype;
      out = {lower_elementwise(b, n.prim, from, g.type(n.results[0]).dtype, in)};
    } else if (n.prim == Prim::for_loop) {
      out = region_loop(n, in);
    } else if (n.prim == Prim::while_loop) {
      out = region_while(n, in);
    } else {
      throw Error(ErrorCode::internal, "primitive " + std::string(info(n.prim).name) +
                                           " cannot stand in a scalar region");
    }
    for (size_t k = 0; k < out.size(); ++k) region_values_[n.results[k]] = out[k];
  }
  std::vector<ElementValue> results;
  for (ValueId v : region.results) results.push_back(region_values_.at(v));
  return results;
}

namespace {

// Loop-carried elements as plain values and back; every one widened to the kernel's lanes, since
// the first iteration may start from a number that all lanes share.
std::vector<Value> flatten(kir::Builder& b, uint16_t lanes, std::span<const ElementValue> elems) {
  std::vector<Value> out;
  auto add = [&](Value v) { out.push_back(b.type(v).lanes < lanes ? b.splat(v, lanes) : v); };
  for (const ElementValue& e : elems) {
    add(e.re);
    if (e.im.valid()) add(e.im);
  }
  return out;
}

std::vector<ElementValue> unflatten(std::span<const Value> values,
                                    std::span<const ElementValue> like) {
  std::vector<ElementValue> out;
  size_t i = 0;
  for (const ElementValue& e : like) {
    ElementValue r{values[i++], {}};
    if (e.im.valid()) r.im = values[i++];
    out.push_back(r);
  }
  return out;
}

}  // namespace

std::vector<ElementValue> ElementEmitter::region_loop(const Node& n,
                                                      std::span<const ElementValue> args) {
  kir::Builder& b = frame_.builder();
  if (n.attr<int64_t>("stacked") != 0) {
    throw Error(ErrorCode::internal, "for_loop in a scalar region cannot stack values");
  }
  const DType counter = values_.graph.type(n.regions[0].params[0]).dtype;
  auto out = b.for_loop(b.constant(frame_.index_type(), 0), frame_.param(n.attr<SymInt>("count")),
                        b.constant(frame_.index_type(), 1), flatten(b, frame_.lanes(), args),
                        [&](Value i, std::span<const Value> carried) {
                          std::vector<ElementValue> in{convert_integer(b, i, counter)};
                          for (ElementValue e : unflatten(carried, args)) in.push_back(e);
                          return flatten(b, frame_.lanes(), run_region(n.regions[0], in));
                        });
  return unflatten(out, args);
}

// Lanes whose condition is false keep their values while other lanes iterate.
std::vector<ElementValue> ElementEmitter::region_while(const Node& n,
                                                       std::span<const ElementValue> args) {
  kir::Builder& b = frame_.builder();
  const uint16_t lanes = frame_.lanes();
  auto condition = [&](std::span<const Value> carried) {
    Value c = run_region(n.regions[0], unflatten(carried, args))[0].re;
    return b.type(c).lanes < lanes ? b.splat(c, lanes) : c;
  };
  auto out = b.while_loop(
      flatten(b, lanes, args),
      [&](auto carried) {
        Value go = condition(carried);
        return b.any(frame_.mask().valid() ? b.and_(go, frame_.mask()) : go);
      },
      [&](auto carried) {
        Value go = condition(carried);
        auto next = flatten(b, lanes, run_region(n.regions[1], unflatten(carried, args)));
        for (size_t i = 0; i < next.size(); ++i) next[i] = b.select(go, next[i], carried[i]);
        return next;
      });
  return unflatten(out, args);
}

}  // namespace primset::schedule
