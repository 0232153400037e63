#include "prims/graph/traits.h"

#include <algorithm>
#include <array>

namespace primset::prims {
namespace {

struct Sibling {
  Prim of, other;
};
constexpr Sibling kSiblings[] = {
#define PRIMSET_PRIM_SIBLING(id, other) {Prim::id, Prim::other},
#include "prims/prim_traits.inc"
};

constexpr auto kSiblingPrims = [] {
  std::array<Prim, std::size(kSiblings)> others{};
  std::ranges::transform(kSiblings, others.begin(), &Sibling::other);
  return others;
}();

}  // namespace

std::span<const Prim> siblings(Prim p) {
  // The table is in the primitives' order, so that those of one stand together.
  const auto range = std::ranges::equal_range(kSiblings, p, {}, &Sibling::of);
  return {kSiblingPrims.data() + (range.begin() - kSiblings), range.size()};
}

}  // namespace primset::prims
