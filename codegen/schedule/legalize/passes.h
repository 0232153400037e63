// The table of what legalize() does, and the shape of a pass.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_PASSES_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_PASSES_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::schedule {

class Legalizer;
struct Op;

// What stands for the results of the op; nothing where the pass has nothing to do with it.
using Rewrite = std::optional<std::vector<prims::ValueId>> (*)(Legalizer&, const Op&);

struct Pass {
  std::string_view name;
  Rewrite rewrite;
  std::string_view reason;  // why it stands where it does
};

// In their order.
std::span<const Pass> legalize_passes();

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_PASSES_H_
