#include <algorithm>
#include <numeric>

#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

// NaN is greater than everything and equal to itself.
bool goes_before(DType t, const Element& a, const Element& b, bool descending) {
  const Element &low = descending ? b : a, &high = descending ? a : b;
  if (is_nan(low)) return false;
  return is_nan(high) || less(t, low, high);
}

// Where the sorted key at each place may trade places with another on a device.
std::vector<bool> ambiguous_places(const std::vector<Element>& sorted) {
  std::vector<bool> ambiguous(sorted.size(), false);
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = i + 1; j < sorted.size(); ++j) {
      if (!may_tie_or_cross(sorted[i], sorted[j])) continue;
      ambiguous[i] = ambiguous[j] = true;
    }
  }
  return ambiguous;
}

std::vector<size_t> stable_order(const NodeRun& run, const std::vector<size_t>& line) {
  const Array& keys = run.x(0);
  bool descending = run.flag("descending");
  std::vector<size_t> order = line;
  // Offsets rise along the line, so that equal keys keep their order.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (goes_before(keys.dtype, keys.data[a], keys.data[b], descending)) return true;
    return !goes_before(keys.dtype, keys.data[b], keys.data[a], descending) && a < b;
  });
  return order;
}

// A key's bound after sorting: the k-th of numbers that move by at most e moves by at most e.
long double greatest_error(const std::vector<Element>& keys) {
  long double error = 0;
  for (const Element& k : keys) error = std::max(error, k.error);
  return error;
}

std::vector<Array> sort(NodeRun& run) {
  std::vector<Array> results;
  for (size_t k = 0; k < run.count(); ++k) results.push_back(run.result(k));
  Ints dims{run.integer("dim")};
  for_each_group(run.x(0).shape, dims, [&](size_t, const std::vector<size_t>& line) {
    std::vector<size_t> order = stable_order(run, line);
    std::vector<Element> sorted;
    for (size_t at : order) sorted.push_back(run.x(0).data[at]);
    bool exact = greatest_error(sorted) == 0 && !any_undecided(sorted);
    std::vector<bool> ambiguous =
        exact ? std::vector<bool>(line.size(), false) : ambiguous_places(sorted);
    for (size_t i = 0; i < line.size(); ++i) {
      for (size_t k = 0; k < run.count(); ++k) {
        Element moved = run.x(k).data[order[i]];
        if (ambiguous[i] && k > 0) moved = undecided_element();
        if (ambiguous[i] && k == 0) moved.error = greatest_error(sorted);
        if (any_undecided(sorted)) moved = undecided_element();
        results[k].data[line[i]] = moved;
      }
    }
  });
  return results;
}

}  // namespace

void add_sort_operations(OperationTable& t) {
  t.set(Prim::sort, reference::sort);
}

}  // namespace primset::prims::reference
