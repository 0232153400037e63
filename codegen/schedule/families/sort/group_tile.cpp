#include <algorithm>
#include <bit>

#include "codegen/schedule/families/sort/group_sort.h"
#include "codegen/schedule/families/sort/sorted_rows.h"

namespace primset::schedule {

namespace {

// Workgroups of a power of two of threads whose memory suffices, the smallest one first.
std::vector<GroupTile> group_tiles(const Machine& machine, DType key) {
  const kir::TargetModel& target = machine.target;
  std::vector<GroupTile> out;
  if (!target.simt || (byte_size(key) == 8 && !target.i64)) return out;
  const auto& tuning = machine.tuning.sort;
  const uint32_t most = std::bit_floor(target.max_group_threads);
  const uint32_t memory = std::max(target.group_memory, target.large_group_memory);
  for (uint32_t threads = std::min(static_cast<uint32_t>(tuning.group_threads), most);
       threads <= most; threads *= 2) {
    const GroupTile tile{threads, static_cast<uint32_t>(tuning.group_items)};
    if (SortedRows::group_bytes(key, tile.elements()) > memory) break;
    out.push_back(tile);
  }
  return out;
}

}  // namespace

int64_t longest_grouped_row(const Machine& machine, DType key) {
  const std::vector<GroupTile> tiles = group_tiles(machine, key);
  return tiles.empty() ? 0 : tiles.back().elements();
}

// Of interleaved rows it takes a few, so that what lies side by side is used.
GroupTile group_tile(const Machine& machine, DType key, const SymInt& length, bool interleaved) {
  const std::vector<GroupTile> tiles = group_tiles(machine, key);
  const int64_t rows = interleaved ? machine.tuning.sort.interleaved_rows : 1;
  for (const GroupTile& tile : tiles)
    if (length <= SymInt(tile.elements() / rows)) return tile;
  return tiles.back();
}

}  // namespace primset::schedule
