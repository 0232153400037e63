// How the threads of a workgroup share segments: a tile of some segments and some of the columns
// behind them, and for each element of it several threads, which take the segment's elements in
// turn. Neighbouring threads have neighbouring columns, and where there is one column neighbouring
// elements.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENT_TILE_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENT_TILE_H_

#include <cstdint>

#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// All are powers of two.
struct SegmentTile {
  uint32_t segments = 1, parts = 1, width = 1;
  uint32_t threads() const { return segments * parts * width; }
};

// By sizes alone: how many columns there are, and how long the segments are on average. Guards
// where these are not known. The order of additions follows from it.
SegmentTile segment_tile(const Machine& machine, const prims::SymInt& elements,
                         const prims::SymInt& segments, const prims::SymInt& columns);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENT_TILE_H_
