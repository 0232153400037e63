#include "codegen/schedule/families/segments/segment_tile.h"

#include <algorithm>
#include <bit>

namespace primset::schedule {

using prims::SymInt;

// Parts hide that threads wait where there are few columns; where there are enough they add up more
// than they save. Few sizes are asked for, since each answer is a guard of the plan: parts are a
// factor of kStep apart.
SegmentTile segment_tile(const Machine& machine, const SymInt& elements, const SymInt& segments,
                         const SymInt& columns) {
  constexpr uint32_t kStep = 4;
  const auto& tuning = machine.tuning.segments;
  const SymInt resident(int64_t{machine.target.multiprocessors} *
                        machine.tuning.loops.resident_threads);
  const uint32_t threads = std::bit_floor(machine.target.group_threads);
  const auto widest = std::min(static_cast<uint32_t>(tuning.width), threads);
  SegmentTile tile;
  while (tile.width < widest && columns > SymInt(int64_t{tile.width})) tile.width *= 2;
  const uint32_t most = threads / tile.width;
  while (tile.parts < most &&
         elements > segments * SymInt(int64_t{tile.parts} * tuning.part_elements) &&
         segments * columns * SymInt(int64_t{tile.parts}) < resident)
    tile.parts *= std::min(kStep, most / tile.parts);
  tile.segments = threads / (tile.width * tile.parts);
  return tile;
}

}  // namespace primset::schedule
