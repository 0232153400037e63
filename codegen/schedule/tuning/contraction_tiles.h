// Which matrix products are tiled and by which tiles, and the roles of a product's dims.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_CONTRACTION_TILES_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_CONTRACTION_TILES_H_

#include <span>
#include <vector>

#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

using prims::SymInt;
using prims::SymInts;
using DimList = std::vector<int64_t>;

// The dims of an operand by role: batch, free (rows or columns of the result), contracted (k).
// Batch and contracted dims correspond by position between the operands.
struct ContractionRoles {
  DimList batch, free, contract;
};
// The roles of operand 0 or 1, which has `rank` dims.
ContractionRoles contraction_roles(const prims::Node& n, size_t operand, size_t rank);

// The product of the sizes of `dims`.
SymInt size_of(const SymInts& shape, const DimList& dims);

// Is a dot_general of operands of these shapes tiled? Else it is a sum of products, element by
// element. Records a guard where sizes are symbolic.
bool tiles_contraction(const prims::Node& n, const SymInts& a, const SymInts& b,
                       const Machine& machine);

// The tile of the result that a workgroup computes, and its threads.
struct TileShape {
  int rows, columns, threads;
  // Workgroups that should be resident on a multiprocessor together (an occupancy hint); 0: none.
  uint32_t min_groups_per_multiprocessor = 0;
};

// What computes a tile.
enum class TileKind : uint8_t { group_matrix, async_matrix, async_scalar, cooperative };

// A row of contraction_tilings.def.
struct ContractionTiling {
  TileKind kind;
  TileShape shape;
  int depth;   // of a tile along K
  int stages;  // of tiles in workgroup memory
  // Of the part that a subgroup computes, where subgroups multiply matrices.
  int subgroup_rows, subgroup_columns;
  int busy_percent;
  bool fills_depth, selects;

  // Of workgroup memory, for tiles of elements of so many bytes without padding.
  uint32_t group_bytes(int element) const {
    return static_cast<uint32_t>((shape.rows + shape.columns) * depth * stages * element);
  }
};

std::span<const ContractionTiling> contraction_tilings(TileKind kind);
// The tiling for a result of so many elements of sums over K. Guards, where sizes are symbolic.
const ContractionTiling& choose_tiling(TileKind kind, const SymInt& elements, const SymInt& k,
                                       const Machine& machine);

// Are there at least as many tiles as `multiprocessors`? Records a guard.
bool enough_tiles(const SymInt& elements, const TileShape& t, int64_t multiprocessors);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_CONTRACTION_TILES_H_
