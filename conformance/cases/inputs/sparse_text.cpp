#include "conformance/cases/inputs/sparse_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "conformance/cases/inputs/case_text.h"
#include "conformance/cases/inputs/sparse_values.h"
#include "prims/reference/array.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Ints = std::vector<int64_t>;

[[noreturn]] void malformed_sparse(std::string_view text, std::string_view expected) {
  throw Error(ErrorCode::value, fmt::format("'{}' in a case: expected {}", text, expected));
}

std::optional<Layout> layout_of_name(std::string_view name) {
  for (const auto& [layout, full] : primset::kLayoutNames) {
    if (name == full || (full.starts_with("sparse_") && name == full.substr(7))) return layout;
  }
  return std::nullopt;
}

void read_option(SparseText& out, std::string_view option) {
  const size_t equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : option.substr(equals + 1);
  if (name == "repeated" && value.empty()) {
    out.repeated = true;
  } else if (name == "entries") {
    out.entries = read_integer(value);
  } else if (name == "dense") {
    out.dense = read_integer(value);
  } else if (name == "block") {
    out.block = read_integers(value);
  } else if (name == "index") {
    const std::optional<DType> t = dtype_from_name(value);
    if (!t || !is_integral(*t)) malformed_sparse(option, "index=i32 or index=i64");
    out.index = *t;
  } else {
    malformed_sparse(option, "entries=, dense=, block=, index= or repeated");
  }
}

Array integers(DType dtype, Ints shape, const Ints& numbers) {
  Array out = ref::make_array(dtype, std::move(shape));
  for (size_t i = 0; i < numbers.size(); ++i) out.data[i].integer = numbers[i];
  return out;
}

// `count` of the numbers below `places`, ascending.
Ints drawn(Rng& rng, int64_t places, int64_t count) {
  Ints all(static_cast<size_t>(places));
  std::iota(all.begin(), all.end(), 0);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    std::swap(all[i], all[i + rng.below(all.size() - i)]);
  all.resize(static_cast<size_t>(count));
  std::ranges::sort(all);
  return all;
}

int64_t number_of_entries(const SparseText& text, int64_t places, int64_t distinct_of_three) {
  const int64_t entries = text.entries.value_or((places + 1) / 2);
  if (entries < 0 || entries * distinct_of_three > places * 3)
    malformed_sparse(text.tensor, fmt::format("at most {} entries, and found {}", places, entries));
  return entries;
}

// Indices want elements of their own each: what `expanded` shares is values alone.
LayoutKind memory_of_indices(LayoutKind memory) {
  return memory == LayoutKind::expanded ? LayoutKind::contiguous : memory;
}

Ints concat(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

HostTensor made_of(Layout layout, const FilledTensor& tensor, std::vector<HostTensor> parts) {
  HostTensor out{tensor.dtype, tensor.sizes, Ints(tensor.sizes.size(), 0), 0, parts.back().storage};
  out.layout = layout;
  out.parts = std::move(parts);
  return out;
}

// Entries of a COO tensor: where they lie, and of which drawn one each is a copy.
struct CooEntries {
  Ints places;              // row-major, among the sparse dims
  std::vector<size_t> row;  // of the values that are drawn
};

CooEntries draw_coo(Rng& rng, const SparseText& text, int64_t places) {
  const int64_t count = number_of_entries(text, places, text.repeated ? 2 : 3);
  const int64_t again = text.repeated ? count / 3 : 0;
  CooEntries out{drawn(rng, places, count - again), {}};
  out.row.resize(out.places.size());
  std::iota(out.row.begin(), out.row.end(), size_t{0});
  for (size_t i = 0; i < static_cast<size_t>(again); ++i) {
    out.places.push_back(out.places[i]);
    out.row.push_back(i);
  }
  for (size_t i = out.row.size(); text.repeated && i > 1; --i) {
    const size_t j = rng.below(i);
    std::swap(out.places[i - 1], out.places[j]);
    std::swap(out.row[i - 1], out.row[j]);
  }
  return out;
}

HostTensor place_coo(std::vector<HostStorage>& storages, Rng& rng, const SparseText& text,
                     const FilledTensor& tensor) {
  const auto sparse = std::ssize(tensor.sizes) - text.dense;
  if (text.dense < 0 || sparse < 0) malformed_sparse(text.tensor, "as many sizes as dense dims");
  const Ints sizes(tensor.sizes.begin(), tensor.sizes.begin() + sparse);
  const Ints dense(tensor.sizes.begin() + sparse, tensor.sizes.end());
  const CooEntries entries = draw_coo(rng, text, ref::element_count(sizes));
  const size_t count = entries.places.size();
  Ints coordinates(static_cast<size_t>(sparse) * count);
  for (size_t e = 0; e < count; ++e) {
    int64_t rest = entries.places[e];
    for (auto d = static_cast<size_t>(sparse); d-- > 0;) {
      coordinates[d * count + e] = rest % sizes[d];
      rest /= sizes[d];
    }
  }
  const auto n = static_cast<int64_t>(count);
  Array values = fill(rng, tensor.dtype, concat({n}, dense), tensor.fill);
  const Array once = values;
  const size_t each = count == 0 ? 0 : once.data.size() / count;
  for (size_t i = 0; i < values.data.size(); ++i)
    values.data[i] = once.data[entries.row[i / each] * each + i % each];
  HostTensor out = made_of(text.layout, tensor,
                           {place(storages, integers(DType::i64, {sparse, n}, coordinates),
                                  memory_of_indices(tensor.memory)),
                            place(storages, values, tensor.memory)});
  out.coalesced = !text.repeated;
  return out;
}

// Pointers and indices of one matrix, appended.
void draw_matrix(Rng& rng, int64_t lines, int64_t across, int64_t count, Ints& pointers,
                 Ints& plain) {
  const Ints places = drawn(rng, lines * across, count);
  for (int64_t line = 0; line <= lines; ++line)
    pointers.push_back(std::ranges::lower_bound(places, line * across) - places.begin());
  for (int64_t place : places) plain.push_back(place % across);
}

HostTensor place_compressed(std::vector<HostStorage>& storages, Rng& rng, const SparseText& text,
                            const FilledTensor& tensor) {
  const auto batch = std::ssize(tensor.sizes) - text.dense - 2;
  if (batch < 0 || text.dense < 0 || text.repeated)
    malformed_sparse(text.tensor, "two sizes besides the dense dims', and no entry repeated");
  const Ints block = text.block.empty() ? Ints{1, 1} : text.block;
  if (text.block.empty() == has_blocks(text.layout) || block.size() != 2)
    malformed_sparse(text.tensor, "block=[rows,columns] of bsr and bsc, and of them alone");
  const auto row = static_cast<size_t>(batch);
  Ints grid(2);
  for (size_t k = 0; k < 2; ++k) {
    if (block[k] <= 0 || tensor.sizes[row + k] % block[k] != 0)
      malformed_sparse(text.tensor, "sizes that blocks fill");
    grid[k] = tensor.sizes[row + k] / block[k];
  }
  if (!compresses_rows(text.layout)) std::swap(grid[0], grid[1]);
  const int64_t count = number_of_entries(text, grid[0] * grid[1], 3);
  const Ints batches(tensor.sizes.begin(), tensor.sizes.begin() + batch);
  Ints pointers, plain;
  for (int64_t m = 0; m < ref::element_count(batches); ++m)
    draw_matrix(rng, grid[0], grid[1], count, pointers, plain);
  Ints values = concat(batches, {count});
  if (has_blocks(text.layout)) values = concat(values, block);
  values = concat(values, Ints(tensor.sizes.end() - text.dense, tensor.sizes.end()));
  const LayoutKind memory = memory_of_indices(tensor.memory);
  std::vector<HostTensor> parts;
  parts.push_back(
      place(storages, integers(text.index, concat(batches, {grid[0] + 1}), pointers), memory));
  parts.push_back(place(storages, integers(text.index, concat(batches, {count}), plain), memory));
  parts.push_back(place(storages, fill(rng, tensor.dtype, values, tensor.fill), tensor.memory));
  return made_of(text.layout, tensor, std::move(parts));
}

}  // namespace

std::optional<SparseText> SparseText::parse(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return std::nullopt;
  const std::optional<Layout> layout = layout_of_name(text.substr(0, open));
  if (!layout || *layout == Layout::strided) return std::nullopt;
  const std::vector<std::string> items =
      split_outside_brackets(text.substr(open + 1, text.size() - open - 2), ',');
  if (items.empty()) malformed_sparse(text, "a tensor such as coo(T[3,4])");
  SparseText out;
  out.layout = *layout;
  out.tensor = items[0];
  for (size_t i = 1; i < items.size(); ++i) read_option(out, items[i]);
  return out;
}

Layout read_sparse_layout(std::string_view text) {
  const std::optional<Layout> layout = layout_of_name(text);
  if (!layout) malformed_sparse(text, "strided, coo, csr, csc, bsr or bsc");
  return *layout;
}

HostTensor place_sparse(std::vector<HostStorage>& storages, Rng& rng, const SparseText& text,
                        const FilledTensor& tensor) {
  return text.layout == Layout::sparse_coo ? place_coo(storages, rng, text, tensor)
                                           : place_compressed(storages, rng, text, tensor);
}

}  // namespace primset::conformance
