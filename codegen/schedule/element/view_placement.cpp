#include "codegen/schedule/element/view_placement.h"

#include <algorithm>

namespace primset::schedule {

using prims::Prim;
using prims::SymInt;
using prims::SymInts;

namespace {

struct Run {  // dims that are contiguous with each other
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

SymInts dense_strides(const SymInts& shape) {
  SymInts out(shape.size());
  SymInt stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    out[d] = stride;
    stride *= shape[d];
  }
  return out;
}

bool same_shape(const SymInts& a, const SymInts& b) {
  return std::ranges::equal(a, b, [](const SymInt& x, const SymInt& y) { return x.same(y); });
}

bool has_elements(const SymInts& shape) {
  return std::ranges::none_of(shape, [](const SymInt& s) { return s.same(SymInt(0)); });
}

bool may_be_empty(const SymInts& shape) {
  return std::ranges::any_of(shape,
                             [](const SymInt& s) { return prims::known_less(0, s) != true; });
}

// A transpose permutes the strides; a slice moves the offset and multiplies the strides; a reshape
// has strides only where the dims that it joins are contiguous.
std::optional<Placement> view_placement(const prims::Graph& g, const prims::Node& n,
                                        const Placement& operand) {
  Placement place = operand;
  switch (n.prim) {
    case Prim::transpose: {
      const auto& permutation = n.attr<std::vector<int64_t>>("permutation");
      for (size_t d = 0; d < permutation.size(); ++d)
        place.strides[d] = operand.strides[static_cast<size_t>(permutation[d])];
      return place;
    }
    case Prim::slice: {
      const auto &start = n.attr<SymInts>("start"), &stride = n.attr<SymInts>("stride");
      for (size_t d = 0; d < operand.strides.size(); ++d) {
        place.offset += start[d] * operand.strides[d];
        place.strides[d] = operand.strides[d] * stride[d];
      }
      return place;
    }
    case Prim::reshape: {
      auto strides =
          reshaped(g.type(n.operands[0]).shape, operand.strides, g.type(n.results[0]).shape);
      if (!strides) return std::nullopt;
      place.strides = std::move(*strides);
      return place;
    }
    default:
      return std::nullopt;
  }
}

std::optional<Placement> viewed_placement(const prims::Graph& g, const prims::Node& n,
                                          const Placement& view) {
  if (n.prim == Prim::transpose) {
    const auto& permutation = n.attr<std::vector<int64_t>>("permutation");
    SymInts strides(permutation.size());
    for (size_t d = 0; d < permutation.size(); ++d)
      strides[static_cast<size_t>(permutation[d])] = view.strides[d];
    return Placement{view.buffer, std::move(strides), view.offset};
  }
  if (n.prim == Prim::reshape &&
      same_shape(view.strides, dense_strides(g.type(n.results[0]).shape)))
    return Placement{view.buffer, dense_strides(g.type(n.operands[0]).shape), view.offset};
  return std::nullopt;
}

}  // namespace primset::schedule
