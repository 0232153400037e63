#include "sdk/runtime/plan.h"

#include <algorithm>

namespace primset::runtime {
namespace {

bool holds(int64_t value, prims::Guard::Relation relation) {
  switch (relation) {
    case prims::Guard::Relation::eq:
      return value == 0;
    case prims::Guard::Relation::ne:
      return value != 0;
    case prims::Guard::Relation::lt:
      return value < 0;
    case prims::Guard::Relation::ge:
      return value >= 0;
  }
  return false;
}

}  // namespace

bool Plan::admits(int64_t* slots) const {
  code.start(slots);
  Code::run(std::span(code.insts).first(guard_insts), slots);
  for (const GuardTest& g : guards) {
    if (!holds(slots[g.slot], g.relation)) return false;
  }
  if (outs == Outs::none || outs == Outs::after) return true;
  const bool fit = !rank_differs && std::ranges::all_of(out_sizes, [&](const SizePair& p) {
    return slots[p.have] == slots[p.want];
  });
  return fit == (outs == Outs::fit);
}

}  // namespace primset::runtime
