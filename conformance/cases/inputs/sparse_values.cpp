#include "conformance/cases/inputs/sparse_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "prims/reference/array.h"
#include "prims/reference/element.h"
#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Ints = std::vector<int64_t>;

Ints sub_list(const Ints& sizes, size_t from, size_t count) {
  const auto begin = sizes.begin() + static_cast<ptrdiff_t>(from);
  return {begin, begin + static_cast<ptrdiff_t>(count)};
}

// The numbers that a tensor of a compressed layout is described by. Of COO `batch` is 0 and
// `sparse` the number of sparse dims; of the others these are those of a batch and two more.
struct SparseGeometry {
  size_t batch = 0, sparse = 0;
  Ints block = {1, 1};
};

SparseGeometry sparse_geometry(const SparseValues& t) {
  SparseGeometry g;
  if (t.layout == Layout::sparse_coo) {
    g.sparse = static_cast<size_t>(t.parts[0].shape[0]);
    return g;
  }
  g.batch = t.parts[0].shape.size() - 1;
  g.sparse = g.batch + 2;
  if (has_blocks(t.layout)) g.block = sub_list(t.values().shape, g.batch + 1, 2);
  return g;
}

// Where an entry lies: its row and column, of a block those of the block among blocks.
using UseEntry = std::function<void(const Ints& place, size_t entry)>;

void for_each_coo_entry(const SparseValues& t, const UseEntry& use) {
  const Array& indices = t.parts[0];
  const auto dims = static_cast<size_t>(indices.shape[0]);
  const auto count = static_cast<size_t>(indices.shape[1]);
  Ints place(dims);
  for (size_t e = 0; e < count; ++e) {
    for (size_t d = 0; d < dims; ++d) place[d] = indices.data[d * count + e].integer;
    use(place, e);
  }
}

// Pointers say which entries are of a row; of the layouts that compress columns, of a column.
void for_each_compressed_entry(const SparseValues& t, const UseEntry& use) {
  const Array &pointers = t.parts[0], &plain = t.parts[1];
  const Ints batch(pointers.shape.begin(), pointers.shape.end() - 1);
  const auto lines = static_cast<size_t>(pointers.shape.back() - 1);
  const auto count = static_cast<size_t>(plain.shape.back());
  ref::for_each_index(batch, [&](const Ints& matrix, size_t b) {
    Ints place = matrix;
    place.resize(batch.size() + 2);
    const size_t line_at = batch.size() + (compresses_rows(t.layout) ? 0 : 1);
    const size_t plain_at = batch.size() + (compresses_rows(t.layout) ? 1 : 0);
    for (size_t line = 0; line < lines; ++line) {
      const size_t at = b * (lines + 1) + line;
      place[line_at] = static_cast<int64_t>(line);
      for (int64_t e = pointers.data[at].integer; e < pointers.data[at + 1].integer; ++e) {
        const size_t entry = b * count + static_cast<size_t>(e);
        place[plain_at] = plain.data[entry].integer;
        use(place, entry);
      }
    }
  });
}

void for_each_entry(const SparseValues& t, const UseEntry& use) {
  t.layout == Layout::sparse_coo ? for_each_coo_entry(t, use) : for_each_compressed_entry(t, use);
}

// Every stored element: where it is in the dense tensor and where among the values.
void for_each_element(const SparseValues& t, const std::function<void(size_t, size_t)>& use) {
  const SparseGeometry g = sparse_geometry(t);
  const Ints places = sub_list(t.sizes, 0, g.sparse);
  const int64_t dense = ref::element_count(sub_list(t.sizes, g.sparse, t.sizes.size() - g.sparse));
  const int64_t area = g.block[0] * g.block[1];
  for_each_entry(t, [&](const Ints& place, size_t entry) {
    for (int64_t within = 0; within < area; ++within) {
      Ints at = place;
      if (t.layout != Layout::sparse_coo) {
        at[g.batch] = at[g.batch] * g.block[0] + within / g.block[1];
        at[g.batch + 1] = at[g.batch + 1] * g.block[1] + within % g.block[1];
      }
      const int64_t to = ref::offset_of(at, places) * dense;
      const int64_t from = (static_cast<int64_t>(entry) * area + within) * dense;
      for (int64_t i = 0; i < dense; ++i)
        use(static_cast<size_t>(to + i), static_cast<size_t>(from + i));
    }
  });
}

Element sum_of(const Element& a, const Element& b, DType t) {
  Element out;
  if (is_bool(t)) {
    out.integer = a.integer | b.integer;
  } else if (is_integral(t)) {
    const uint64_t bits = static_cast<uint64_t>(a.integer) + static_cast<uint64_t>(b.integer);
    out.integer = ref::wrap(static_cast<int64_t>(bits), t);
  } else {
    out.re = ref::round_to(a.re + b.re, t);
    out.im = is_complex(t) ? ref::round_to(a.im + b.im, t) : 0;
  }
  return out;
}

// --- what parts must be to each other ------------------------------------------------------------

std::string coo_mistake(const SparseValues& t) {
  const Array& indices = t.parts[0];
  if (indices.dtype != DType::i64 || indices.shape.size() != 2)
    return "indices are no matrix of i64";
  const auto dims = static_cast<size_t>(indices.shape[0]);
  const Ints& values = t.values().shape;
  if (values.empty() || values[0] != indices.shape[1])
    return "there are not as many values as indices";
  if (dims > t.sizes.size() ||
      sub_list(values, 1, values.size() - 1) != sub_list(t.sizes, dims, t.sizes.size() - dims))
    return "dense dims are not those of the sizes";
  std::string wrong;
  Ints last;
  for_each_coo_entry(t, [&](const Ints& place, size_t entry) {
    for (size_t d = 0; d < dims; ++d) {
      if (place[d] < 0 || place[d] >= t.sizes[d])
        wrong = fmt::format("index {} of entry {} lies outside of size {}", place[d], entry,
                            t.sizes[d]);
    }
    if (t.coalesced && entry > 0 && !(last < place) && wrong.empty())
      wrong = fmt::format("entry {} of a coalesced tensor does not come after the one before it",
                          entry);
    last = place;
  });
  return wrong;
}

// One matrix of a batch.
std::string matrix_mistake(const SparseValues& t, size_t matrix, int64_t lines, int64_t bound) {
  const Array &pointers = t.parts[0], &plain = t.parts[1];
  const int64_t count = plain.shape.back();
  const Element* p = pointers.data.data() + matrix * static_cast<size_t>(lines + 1);
  const Element* index = plain.data.data() + matrix * static_cast<size_t>(count);
  if (p[0].integer != 0 || p[lines].integer != count)
    return fmt::format("pointers go from {} to {}, not from 0 to the number of entries, {}",
                       p[0].integer, p[lines].integer, count);
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t from = p[line].integer, to = p[line + 1].integer;
    if (from > to || from < 0 || to > count)
      return fmt::format("pointers {} and {} do not ascend within {} entries", from, to, count);
    for (int64_t e = from; e < to; ++e) {
      const int64_t i = index[e].integer;
      if (i < 0 || i >= bound) return fmt::format("index {} lies outside of size {}", i, bound);
      if (e > from && i <= index[e - 1].integer)
        return fmt::format("index {} does not come after {} before it", i, index[e - 1].integer);
    }
  }
  return "";
}

std::string compressed_shape_mistake(const SparseValues& t) {
  const Array &pointers = t.parts[0], &plain = t.parts[1];
  const Ints& values = t.values().shape;
  if (pointers.dtype != plain.dtype || (plain.dtype != DType::i64 && plain.dtype != DType::i32))
    return "pointers and indices are not of one index dtype";
  if (pointers.shape.empty() || plain.shape.size() != pointers.shape.size())
    return "pointers and indices are of different ranks";
  const size_t batch = pointers.shape.size() - 1, block = has_blocks(t.layout) ? 2 : 0;
  if (values.size() < batch + 1 + block) return "values have too few dims";
  const size_t dense = values.size() - batch - 1 - block;
  if (t.sizes.size() != batch + 2 + dense) return "the sizes are of another rank";
  const Ints batches = sub_list(t.sizes, 0, batch);
  if (sub_list(pointers.shape, 0, batch) != batches || sub_list(plain.shape, 0, batch) != batches ||
      sub_list(values, 0, batch) != batches || values[batch] != plain.shape[batch])
    return "batches or numbers of entries differ";
  if (sub_list(values, batch + 1 + block, dense) != sub_list(t.sizes, batch + 2, dense))
    return "dense dims are not those of the sizes";
  const Ints blocks = sparse_geometry(t).block;
  if (blocks[0] <= 0 || blocks[1] <= 0 || t.sizes[batch] % blocks[0] != 0 ||
      t.sizes[batch + 1] % blocks[1] != 0)
    return "blocks do not fill the sizes";
  const size_t line = compresses_rows(t.layout) ? 0 : 1;
  if (pointers.shape[batch] != t.sizes[batch + line] / blocks[line] + 1)
    return "there is not one pointer more than what is compressed";
  return "";
}

std::string compressed_mistake(const SparseValues& t) {
  if (std::string wrong = compressed_shape_mistake(t); !wrong.empty()) return wrong;
  const SparseGeometry g = sparse_geometry(t);
  const size_t line = compresses_rows(t.layout) ? 0 : 1;
  const int64_t lines = t.sizes[g.batch + line] / g.block[line];
  const int64_t bound = t.sizes[g.batch + 1 - line] / g.block[1 - line];
  const auto matrices = static_cast<size_t>(ref::element_count(sub_list(t.sizes, 0, g.batch)));
  for (size_t m = 0; m < matrices; ++m) {
    if (std::string wrong = matrix_mistake(t, m, lines, bound); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

int64_t SparseValues::entries() const {
  return layout == Layout::sparse_coo ? parts[0].shape[1] : parts[1].shape.back();
}

int64_t SparseValues::dense_dims() const {
  return std::ssize(sizes) - static_cast<int64_t>(sparse_geometry(*this).sparse);
}

SparseValues read_sparse(const std::vector<HostStorage>& storages, const HostTensor& t) {
  SparseValues out{t.layout, t.sizes, {}, t.coalesced};
  for (const HostTensor& part : t.parts) out.parts.push_back(read(storages, part));
  return out;
}

std::string pattern_mistake(const SparseValues& t) {
  const size_t wanted = t.layout == Layout::sparse_coo ? 2 : 3;
  if (t.parts.size() != wanted) return fmt::format("{} parts, not {}", t.parts.size(), wanted);
  return wanted == 2 ? coo_mistake(t) : compressed_mistake(t);
}

Array nothing_stored(DType dtype, const std::vector<int64_t>& sizes) {
  Array out = ref::make_array(dtype, sizes);
  std::ranges::fill(out.data, ref::convert(Element{}, DType::f64, dtype));
  return out;
}

Array made_dense(const SparseValues& t) {
  Array out = nothing_stored(t.values().dtype, t.sizes);
  std::vector<bool> taken(out.data.size());
  for_each_element(t, [&](size_t to, size_t from) {
    const Element& e = t.values().data[from];
    out.data[to] = taken[to] ? sum_of(out.data[to], e, out.dtype) : e;
    taken[to] = true;
  });
  return out;
}

Array dense_values(const std::vector<HostStorage>& storages, const HostTensor& t) {
  return t.is_sparse() ? made_dense(read_sparse(storages, t)) : read(storages, t);
}

Array stored_elements(const SparseValues& t) {
  Array out = ref::make_array(DType::i64, t.sizes);
  for_each_element(t, [&](size_t to, size_t) { out.data[to].integer = 1; });
  return out;
}

}  // namespace primset::conformance
