#include "codegen/schedule/families/sort/sort_costs.h"

#include <algorithm>
#include <cmath>

#include "codegen/schedule/families/sort/group_sort.h"

namespace primset::schedule {

SortSize sort_size(const prims::Graph& g, const prims::Node& n) {
  const SymInts& shape = g.type(n.operands[0]).shape;
  SortSize s;
  s.length = static_cast<double>(
      std::max<int64_t>(1, shape[static_cast<size_t>(n.attr<int64_t>("dim"))].hint()));
  s.rows = static_cast<double>(std::max<int64_t>(1, prims::product(shape).hint())) / s.length;
  s.key_bytes = bits(g.type(n.operands[0]).dtype) / 8.0;
  for (size_t k = 1; k < n.operands.size(); ++k)
    s.payload_bytes += bits(g.type(n.operands[k]).dtype) / 8.0;
  s.arrays = static_cast<double>(n.operands.size() + 1);
  return s;
}

// A thread's neighbours are exchanged in as many rounds as they are; then each pass finds an
// element's place by bisection, shared by neighbours, and moves it. Words of 64 bits take two
// instructions where others take one. A row fills its last thread's slots.
Cost group_sort_cost(const SortSize& s, const Machine& machine) {
  constexpr double kMoving = 60, kExchange = 5, kPass = 30;  // operations of an element
  const auto items = static_cast<double>(machine.tuning.sort.group_items);
  const double passes = std::max(0.0, std::ceil(std::log2(s.length / items)));
  const double threads = s.rows * std::ceil(s.length / items);
  const double words = s.key_bytes == 8 ? 1.5 : 1;
  const double bytes = s.rows * s.length * (3 * s.key_bytes + 2 * s.payload_bytes);
  const double operations = kMoving + words * (kExchange * items / 2 + kPass * passes);
  return {bytes, threads * items * operations, 1, threads};
}

// Keys travel with the payloads and with positions. A thread finds its place by bisection and then
// walks along two runs alone, so that each of its accesses moves a sector of memory of its own, and
// mostly twice, since it has left the caches before the thread comes to the next element.
Cost merge_sort_cost(const SortSize& s, const Machine& machine) {
  constexpr double kSector = 32, kTimes = 2;
  const auto run = static_cast<double>(machine.tuning.sort.run);
  const double passes = std::max(0.0, std::ceil(std::log2(s.length / run)));
  const double elements = s.rows * s.length;
  const double accesses = 2 + 2 * s.arrays;
  // Sorting the runs takes as long as two passes.
  return {(passes + 2) * elements * accesses * kSector * kTimes, 0, passes + 2, elements / run};
}

// Counting reads the keys, scattering reads and writes keys and positions. A tile takes the same
// time whatever a row fills of it: ranking its elements, and counting all digits.
Cost radix_sort_cost(const SortSize& s, const RadixTile& tile) {
  constexpr double kOperations = 180;  // of an element
  const auto tile_elements = static_cast<double>(tile.elements());
  const double passes = 8 * s.key_bytes / kDigitBits, place_bytes = 4;
  const double tiles = s.rows * std::ceil(s.length / tile_elements);
  const double elements = s.rows * s.length;
  const double bytes =
      passes * elements * (3 * s.key_bytes + 2 * place_bytes) + 2 * elements * s.payload_bytes;
  return {bytes, passes * tiles * tile_elements * kOperations, 3 * passes, tiles * tile.threads};
}

Cost radix_select_cost(const SortSize& s) {
  constexpr double kOperations = 12;  // of an element
  const double passes = 8 * s.key_bytes / kDigitBits, elements = s.rows * s.length;
  return {(passes + 1) * elements * s.key_bytes, passes * elements * kOperations, 2 * passes + 3};
}

namespace {

// Rows of this length, as many as keep the machine busy.
SortSize busy_rows(SortSize s, double length, const Machine& machine) {
  s.length = length;
  s.rows = std::max(1.0, 64 * machine.rates.busy_threads / length);
  return s;
}

}  // namespace

int64_t longest_grouped_row(const SortSize& size, DType key, const Machine& machine) {
  const int64_t fits = longest_grouped_row(machine, key);
  if (machine.tuning.sort.group_row >= 0) return std::min(fits, machine.tuning.sort.group_row);
  const auto tile = radix_tile(machine, key, DType::i64);
  if (!tile) return fits;
  const int64_t by_digits = crossover(
      machine.rates,
      [&](double length) { return group_sort_cost(busy_rows(size, length, machine), machine); },
      [&](double length) { return radix_sort_cost(busy_rows(size, length, machine), *tile); });
  return std::min(fits, by_digits - 1);
}

bool is_grouped(const prims::Graph& g, const prims::Node& n, const Machine& machine) {
  const DType key = g.type(n.operands[0]).dtype;
  const int64_t longest = longest_grouped_row(sort_size(g, n), key, machine);
  const SymInt& length = g.type(n.operands[0]).shape[static_cast<size_t>(n.attr<int64_t>("dim"))];
  return longest > 0 && length <= SymInt(longest);
}

int64_t longest_merged_row(const SortSize& size, const RadixTile& tile, const Machine& machine) {
  if (machine.tuning.sort.radix_row >= 0) return machine.tuning.sort.radix_row;
  const auto busy = [&](double length) { return busy_rows(size, length, machine); };
  return crossover(
      machine.rates, [&](double length) { return merge_sort_cost(busy(length), machine); },
      [&](double length) { return radix_sort_cost(busy(length), tile); });
}

}  // namespace primset::schedule
