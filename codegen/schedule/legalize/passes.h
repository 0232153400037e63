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

// The new results of the op; nullopt: the pass does not rewrite it.
using Rewrite = std::optional<std::vector<prims::ValueId>> (*)(Legalizer&, const Op&);

struct Pass {
  std::string_view name;
  Rewrite rewrite;
  std::string_view reason;  // for its position in the table
};

// In their order.
std::span<const Pass> legalize_passes();

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_PASSES_H_
