// Which products of matrices are worth tiles, and the dims of a product by what they are for.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_CONTRACTION_TILES_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_CONTRACTION_TILES_H_

#include <vector>

#include "codegen/kernel/ir/target_model.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

using prims::SymInt;
using prims::SymInts;
using DimList = std::vector<int64_t>;

// Which dimensions of an operand are batch, free and contracted, in the order of the result.
struct ContractionRoles {
  DimList batch, free, contract;
};
// Of operand 0 or 1, which has `rank` dims.
ContractionRoles contraction_roles(const prims::Node& n, size_t operand, size_t rank);

SymInt size_of(const SymInts& shape, const DimList& dims);

// Threads across a tile of a product.
inline constexpr int kTileThreadsAcross = 16;
// Matrices of so many rows and columns are computed in tiles.
inline constexpr int kTiledContraction = 32;

// Is a dot_general of operands of these shapes computed in tiles? Else it is a sum of products,
// element by element. A guard, where sizes are symbolic.
bool tiles_contraction(const prims::Node& n, const SymInts& a, const SymInts& b,
                       const kir::TargetModel& target);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_CONTRACTION_TILES_H_
