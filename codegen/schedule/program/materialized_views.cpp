// Views of values that have memory: where strides can express them they need none of their own.
#include <optional>

#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

using prims::Prim;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

namespace {

struct Run {  // dims that lie one in another
  SymInt elements, step;
};

std::vector<Run> runs_of(const SymInts& sizes, const SymInts& strides) {
  std::vector<Run> runs;  // innermost first
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d].same(SymInt(1))) continue;
    if (!runs.empty() && strides[d].same(runs.back().step * runs.back().elements))
      runs.back().elements *= sizes[d];
    else
      runs.push_back({sizes[d], strides[d]});
  }
  return runs;
}

// Strides that see the elements of `sizes` and `strides` as `shape`; nullopt where there are none,
// or where that depends on the symbols' values.
std::optional<SymInts> reshaped(const SymInts& sizes, const SymInts& strides,
                                const SymInts& shape) {
  SymInts out(shape.size(), SymInt(1));
  size_t to = shape.size();
  for (const Run& run : runs_of(sizes, strides)) {
    SymInt covered = 1;
    while (!covered.same(run.elements)) {
      if (to == 0) return std::nullopt;
      --to;
      out[to] = run.step * covered;
      covered *= shape[to];
    }
  }
  while (to > 0) {
    if (!shape[--to].same(SymInt(1))) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<Placement> ProgramBuilder::viewed(ValueId v) const {
  if (auto it = places_.find(v); it != places_.end()) return it->second;
  const NodeId p = g_.producer(v);
  if (p == prims::Graph::kNoNode || is_native(p)) return std::nullopt;
  const Node& n = g_.node(p);
  if (n.prim != Prim::transpose && n.prim != Prim::slice && n.prim != Prim::reshape)
    return std::nullopt;
  std::optional<Placement> place = viewed(n.operands[0]);
  if (!place) return std::nullopt;
  const SymInts strides = place->strides;
  if (n.prim == Prim::transpose) {
    const auto& permutation = n.attr<std::vector<int64_t>>("permutation");
    for (size_t d = 0; d < permutation.size(); ++d)
      place->strides[d] = strides[static_cast<size_t>(permutation[d])];
  } else if (n.prim == Prim::slice) {
    const auto &start = n.attr<SymInts>("start"), &stride = n.attr<SymInts>("stride");
    for (size_t d = 0; d < strides.size(); ++d) {
      place->offset += start[d] * strides[d];
      place->strides[d] = strides[d] * stride[d];
    }
  } else {
    auto seen = reshaped(g_.type(n.operands[0]).shape, strides, g_.type(v).shape);
    if (!seen) return std::nullopt;
    place->strides = std::move(*seen);
  }
  return place;
}

}  // namespace primset::schedule
