#include "codegen/schedule/legalize/legalize.h"

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

Legalized legalize(const prims::Graph& graph, const Machine& machine, const IsNative& native,
                   std::span<const Pass> passes) {
  return Legalizer(graph, machine, native, passes).run();
}

}  // namespace primset::schedule
