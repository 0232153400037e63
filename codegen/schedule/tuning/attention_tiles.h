// Tiles of fused attention, by the longest head that they serve.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_ATTENTION_TILES_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_ATTENTION_TILES_H_

#include <cstdint>
#include <span>

#include "prims/graph/symint.h"

namespace primset::schedule {

struct AttentionTile {
  int head;     // of up to so many elements; a power of two, which a tile's lines have
  int queries;  // of a workgroup
  int keys;     // that are gone through at a time
  int threads;
};

// Matrices in registers: the tiles fit into workgroup memory and a thread's shares into registers.
inline constexpr AttentionTile kMatrixAttention[] = {
    {32, 128, 64, 128}, {64, 128, 64, 128}, {128, 64, 32, 128}};
// Cooperative matrices. Small tiles: drivers that have these give a multiprocessor's groups 48 KiB
// in all, and only several of them have something to do while one waits at a barrier.
inline constexpr AttentionTile kCooperativeAttention[] = {{64, 64, 16, 128}, {128, 64, 16, 128}};

// Up to so many queries, a tile's other rows are wasted, and from so many keys on that takes longer
// than scores in memory: products of few rows read keys and values at the copy rate.
inline constexpr int64_t kFewQueries = 4;
inline constexpr int64_t kManyKeys = 2048;

inline bool is_long_and_narrow(const prims::SymInt& queries, const prims::SymInt& keys) {
  return queries <= prims::SymInt(kFewQueries) && keys >= prims::SymInt(kManyKeys);
}

// The first that serves heads of so many elements; the last one serves the longest.
constexpr const AttentionTile& attention_tile(std::span<const AttentionTile> tiles, int64_t head) {
  for (const AttentionTile& t : tiles) {
    if (head <= t.head) return t;
  }
  return tiles.back();
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_ATTENTION_TILES_H_
