// Strides of results, as TensorIterator, empty_like and view() choose them.
#include "decomps/engine/strides.h"

#include <algorithm>
#include <numeric>

namespace primset::decomps {
namespace {

using Permutation = std::vector<size_t>;

SymInt positive(const SymInt& size) {
  return known_equal(size, 0) == true ? SymInt(1) : size;
}

bool is_one(const SymInt& size) {
  return known_equal(size, 1) == true;
}

// Dense strides with dims nested in this order, innermost first.
SymInts nested_strides(const SymInts& sizes, const Permutation& inner_first) {
  SymInts strides(sizes.size());
  SymInt next = 1;
  for (size_t d : inner_first) {
    strides[d] = next;
    next *= positive(sizes[d]);
  }
  return strides;
}

bool matches_order(const SymInts& sizes, const SymInts& strides, const Permutation& inner_first) {
  SymInt next = 1;
  for (size_t d : inner_first) {
    if (is_one(sizes[d])) continue;
    if (!(strides[d] == next)) return false;
    next *= sizes[d];
  }
  return true;
}

Permutation channels_last_order(size_t rank) {
  Permutation order{1};
  for (size_t d = rank - 1; d >= 2; --d) order.push_back(d);
  order.push_back(0);
  return order;
}

Permutation contiguous_order(size_t rank) {
  Permutation order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  return order;
}

bool any_empty(const SymInts& sizes) {
  return std::any_of(sizes.begin(), sizes.end(),
                     [](const SymInt& s) { return known_equal(s, 0) == true; });
}

// TensorIterator's should_swap: 1 when dim a must come further out than b, -1 when they are in
// order, 0 when no operand tells.
int compare_dims(const SymInts& sizes, std::span<const SymInts> operands, size_t a, size_t b) {
  for (const SymInts& strides : operands) {
    const SymInt &x = strides[a], &y = strides[b];
    if (known_equal(x, 0) == true || known_equal(y, 0) == true) continue;
    if (x.same(y)) {
      if (sizes[a] > sizes[b]) return 1;
      continue;
    }
    if (x < y) return -1;
    if (x > y) return 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

// TensorIterator's reorder_dimensions: an insertion sort that keeps undecided pairs.
Permutation iteration_order(const SymInts& sizes, std::span<const SymInts> operands) {
  Permutation order = contiguous_order(sizes.size());
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moved = i;
    for (size_t j = i; j-- > 0;) {
      const int c = compare_dims(sizes, operands, order[j], order[moved]);
      if (c > 0) {
        std::swap(order[j], order[moved]);
        moved = j;
      } else if (c < 0) {
        break;
      }
    }
  }
  return order;
}

bool equal_ints(const SymInts& a, const SymInts& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// The strides by which an operand is read while iterating over `sizes`.
SymInts broadcast_strides(const TensorMeta& operand, const SymInts& sizes) {
  SymInts strides(sizes.size());
  const size_t lead = sizes.size() - operand.sizes.size();
  for (size_t d = 0; d < operand.sizes.size(); ++d) {
    const bool repeated = is_one(operand.sizes[d]) && !is_one(sizes[lead + d]);
    strides[lead + d] = repeated ? SymInt(0) : operand.strides[d];
  }
  return strides;
}

template <typename Predicate>
bool all_operands(std::span<const TensorMeta> operands, Predicate holds) {
  return std::all_of(operands.begin(), operands.end(),
                     [&](const TensorMeta& t) { return holds(t.sizes, t.strides); });
}

// Dims by increasing stride, of dims with more than one element.
std::optional<Permutation> dense_order(const SymInts& sizes, const SymInts& strides) {
  Permutation order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!is_one(sizes[d])) order.push_back(d);
  }
  for (size_t d : order) {
    if (known_equal(strides[d], 0) == true) return std::nullopt;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return strides[a].same(strides[b]) ? a < b : strides[a] < strides[b];
  });
  return order;
}

}  // namespace

SymInts contiguous_strides(const SymInts& sizes) {
  return nested_strides(sizes, contiguous_order(sizes.size()));
}

SymInts channels_last_strides(const SymInts& sizes) {
  return nested_strides(sizes, channels_last_order(sizes.size()));
}

bool is_contiguous(const SymInts& sizes, const SymInts& strides) {
  return any_empty(sizes) || matches_order(sizes, strides, contiguous_order(sizes.size()));
}

bool is_channels_last(const SymInts& sizes, const SymInts& strides) {
  if (sizes.size() != 4 && sizes.size() != 5) return false;
  return matches_order(sizes, strides, channels_last_order(sizes.size()));
}

bool is_dense(const SymInts& sizes, const SymInts& strides) {
  if (is_contiguous(sizes, strides)) return true;
  const auto order = dense_order(sizes, strides);
  return order && matches_order(sizes, strides, *order);
}

SymInts elementwise_strides(const SymInts& sizes, std::span<const SymInts> operand_strides) {
  const Permutation order = iteration_order(sizes, operand_strides);
  if (order == contiguous_order(sizes.size())) return contiguous_strides(sizes);
  SymInts strides(sizes.size());
  SymInt next = 1;
  for (size_t d : order) {
    strides[d] = next;
    next *= sizes[d];
  }
  return strides;
}

SymInts elementwise_strides(const SymInts& sizes, std::span<const TensorMeta> operands) {
  const bool one_shape = std::all_of(operands.begin(), operands.end(), [&](const TensorMeta& t) {
    return t.sizes.size() == sizes.size() && equal_ints(t.sizes, sizes);
  });
  if (one_shape && !operands.empty()) {
    if (all_operands(operands, is_contiguous)) return contiguous_strides(sizes);
    if (sizes.size() == 4 && all_operands(operands, is_channels_last))
      return channels_last_strides(sizes);
    const SymInts& first = operands.back().strides;
    const bool alike = std::all_of(operands.begin(), operands.end(), [&](const TensorMeta& t) {
      return equal_ints(t.strides, first);
    });
    if (alike && is_dense(sizes, first)) return first;
  }
  std::vector<SymInts> strides;
  for (const TensorMeta& t : operands) strides.push_back(broadcast_strides(t, sizes));
  return elementwise_strides(sizes, std::span<const SymInts>(strides));
}

// at::infer_dense_strides: dims keep the order of their strides, gaps and repetitions go.
SymInts preserved_strides(const SymInts& sizes, const SymInts& strides) {
  if (is_dense(sizes, strides)) return strides;
  const SymInts one[] = {strides};
  return nested_strides(sizes, iteration_order(sizes, one));
}

std::optional<SymInts> view_strides(const SymInts& sizes, const SymInts& strides,
                                    const SymInts& shape) {
  if (any_empty(sizes)) {
    return equal_ints(sizes, shape) ? strides : contiguous_strides(shape);
  }
  if (sizes.empty()) return SymInts(shape.size(), SymInt(1));
  SymInts out(shape.size());
  auto to = static_cast<int64_t>(shape.size()) - 1;
  SymInt base = strides.back();
  SymInt chunk = 1, filled = 1;
  for (auto d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    const auto at = static_cast<size_t>(d);
    chunk *= sizes[at];
    const bool ends = d == 0 || (!is_one(sizes[at - 1]) && !(strides[at - 1] == chunk * base));
    if (!ends) continue;
    while (to >= 0 && (filled < chunk || shape[static_cast<size_t>(to)] == SymInt(1))) {
      out[static_cast<size_t>(to)] = filled * base;
      filled *= shape[static_cast<size_t>(to)];
      --to;
    }
    if (!(filled == chunk)) return std::nullopt;
    if (d > 0) {
      base = strides[at - 1];
      chunk = 1;
      filled = 1;
    }
  }
  if (to >= 0) return std::nullopt;
  return out;
}

}  // namespace primset::decomps
