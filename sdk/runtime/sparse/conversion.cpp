#include "sdk/runtime/sparse/conversion.h"

#include <algorithm>
#include <numeric>

#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

// Whether any element of each entry's dense dims is not zero.
Tensor nonzero_entries(const Tensor& t, int64_t sparse) {
  const Tensor nonzero = op("ne.Scalar", t, Scalar(int64_t{0}));
  Sizes dims;
  for (int64_t d = sparse; d < t.dim(); ++d) dims.push_back(d);
  return dims.empty() ? nonzero : op("any.dims", nonzero, IntList(dims));
}

// Indices [2 + batch dims, entries] and values of a compressed tensor, a block an entry.
Tensor block_indices(const Tensor& t) {
  const SparseParts& parts = parts_of(t);
  const Tensor coo = op("_convert_indices_from_csr_to_coo", parts.compressed, parts.plain, false,
                        !compresses_rows(parts.layout));
  return op("to.dtype", coo, DType::i64);
}

// Each entry with a block becomes as many as the block has elements.
Tensor blocks_to_elements(const Tensor& indices, const Tensor& values, Ints sizes, int64_t batch) {
  const int64_t nnz = values.size(0), rows = values.size(1), columns = values.size(2);
  const int64_t dims = indices.size(0);
  std::vector<Tensor> parts;
  for (int64_t d = 0; d < dims; ++d) {
    Tensor i = op("view", op("select.int", indices, int64_t{0}, d), IntList{nnz, 1, 1});
    const int64_t block = d == batch ? rows : d == batch + 1 ? columns : 1;
    if (d >= batch) {
      const Tensor within = op("arange", Scalar(block), DType::i64, std::nullopt, indices.device());
      const Tensor shaped =
          op("view", within, d == batch ? IntList{1, rows, 1} : IntList{1, 1, columns});
      i = op("add.Tensor", op("mul.Scalar", i, Scalar(block)), shaped);
    }
    parts.push_back(op("reshape", op("expand", i, IntList{nnz, rows, columns}), IntList{-1}));
  }
  const Sizes dense = concat({IntList{nnz * rows * columns}, values.sizes().subspan(3)});
  return make_coo(op("stack", parts), op("reshape", values, IntList(dense)), sizes, false);
}

Tensor compressed_to_coo(const Tensor& t) {
  const SparseParts& parts = parts_of(t);
  const int64_t batch = batch_dims(t);
  const Tensor indices = block_indices(t);
  Tensor values = parts.values;
  if (batch > 0) values = op("flatten.using_ints", values, int64_t{0}, batch);
  if (has_blocks(parts.layout)) return blocks_to_elements(indices, values, t.sizes(), batch);
  return make_coo(indices, values, t.sizes(), parts.layout == Layout::sparse_csr);
}

// The number of entries of each matrix of a batch, which must be one for all.
int64_t entries_of_each(const Tensor& coo, int64_t batch) {
  const int64_t matrices = product(coo.sizes().first(static_cast<size_t>(batch)));
  const int64_t all = stored_entries(coo);
  if (batch == 0) return all;
  if (matrices == 0) return 0;
  const Tensor leading = op("slice.Tensor", parts_of(coo).indices, int64_t{0}, int64_t{0}, batch);
  const Tensor matrix = linear_indices(leading, coo.sizes().first(static_cast<size_t>(batch)));
  const Tensor counts = op("bincount", matrix, std::nullopt, matrices);
  const int64_t each = all / matrices;
  if (!op("all", op("eq.Scalar", counts, Scalar(each))).item().to_bool())
    throw Error(ErrorCode::runtime, "Expect the same number of specified elements per batch.");
  return each;
}

// A tensor whose rows are what is compressed: of columns the last two dims change places.
Tensor with_rows_first(const Tensor& coo, int64_t batch) {
  Sizes sizes(coo.sizes().begin(), coo.sizes().end());
  const auto row = static_cast<size_t>(batch);
  std::swap(sizes[row], sizes[row + 1]);
  Sizes order(static_cast<size_t>(sparse_dims(coo)));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[row], order[row + 1]);
  const Tensor at = Tensor::of(std::span<const int64_t>(order),
                               {static_cast<int64_t>(order.size())}, coo.device());
  return make_coo(op("index_select", parts_of(coo).indices, int64_t{0}, at), parts_of(coo).values,
                  sizes, false);
}

// Entries gathered into blocks, each of which becomes an entry with two more dense dims. Elements
// of a block that no entry names are zero.
Tensor gathered_into_blocks(const Tensor& coo, int64_t batch, Ints block) {
  const Tensor indices = parts_of(coo).indices, values = parts_of(coo).values;
  std::vector<Tensor> outer;
  Tensor inner;
  for (int64_t d = 0; d < indices.size(0); ++d) {
    const Tensor i = op("select.int", indices, int64_t{0}, d);
    if (d < batch) {
      outer.push_back(i);
      continue;
    }
    const Scalar size(block[static_cast<size_t>(d - batch)]);
    outer.push_back(op("div.Scalar_mode", i, size, std::string_view("floor")));
    const Tensor within = op("remainder.Scalar", i, size);
    inner = inner.defined() ? op("add.Tensor", op("mul.Scalar", inner, size), within) : within;
  }
  const auto row = static_cast<size_t>(batch);
  Sizes grid(coo.sizes().begin(), coo.sizes().begin() + batch + 2);
  grid[row] /= block[0];
  grid[row + 1] /= block[1];
  const Tensor key = linear_indices(op("stack", outer), grid);
  const std::vector<Tensor> unique = ops("_unique2", key, true, true, false);
  const Tensor& blocks = unique[0];
  const int64_t count = blocks.size(0), area = block[0] * block[1];
  const Sizes flat = concat({IntList{count * area}, values.sizes().subspan(1)});
  const Tensor zeros = op("new_zeros", values, IntList(flat));
  const Tensor at = op("add.Tensor", op("mul.Scalar", unique[1], Scalar(area)), inner);
  const Tensor filled = op("index_add", zeros, int64_t{0}, at, values);
  const Sizes shape = concat({IntList{count, block[0], block[1]}, values.sizes().subspan(1)});
  // The grid's coordinates of each block from its place among all.
  std::vector<Tensor> coordinates(grid.size());
  Tensor rest = blocks;
  for (size_t d = grid.size(); d-- > 0;) {
    const Scalar size(std::max<int64_t>(grid[d], 1));
    coordinates[d] = op("remainder.Scalar", rest, size);
    rest = op("div.Scalar_mode", rest, size, std::string_view("floor"));
  }
  const Sizes sizes = concat({grid, IntList{block[0], block[1]}, values.sizes().subspan(1)});
  return make_coo(op("stack", coordinates), op("reshape", filled, IntList(shape)), sizes, true);
}

void require_divisible(Ints sizes, size_t row, Ints block) {
  for (size_t k = 0; k < 2; ++k) {
    if (block[k] <= 0 || sizes[row + k] % block[k] != 0)
      throw Error(ErrorCode::runtime,
                  fmt::format("Tensor size({}) {} needs to be divisible by blocksize[{}] {}",
                              row + k, sizes[row + k], k, block[k]));
  }
}

// Of ordered entries whose rows are what is compressed, a tensor of these sizes.
Tensor compressed_rows(const Tensor& entries, Layout layout, Ints sizes) {
  const int64_t batch = sparse_dims(entries) - 2;
  const auto row = static_cast<size_t>(batch);
  const int64_t each = entries_of_each(entries, batch), rows = entries.sizes()[row];
  const Ints batches = entries.sizes().first(row);
  const int64_t matrices = product(batches);
  const Tensor indices = parts_of(entries).indices;
  // Rows of all matrices one after another, so that one list of pointers serves them all.
  const Tensor leading = op("slice.Tensor", indices, int64_t{0}, int64_t{0}, batch + 1);
  const Tensor all_rows = linear_indices(leading, entries.sizes());
  Tensor pointers = op("_compress_rows", all_rows, matrices * rows);
  if (batch > 0) {
    const Tensor first = op("arange", Scalar(matrices), DType::i64, std::nullopt, entries.device());
    const Tensor within =
        op("arange", Scalar(rows + 1), DType::i64, std::nullopt, entries.device());
    const Tensor at = op(
        "add.Tensor", op("unsqueeze", op("mul.Scalar", first, Scalar(rows)), int64_t{1}), within);
    const Tensor taken =
        op("reshape", op("index_select", pointers, int64_t{0}, op("reshape", at, IntList{-1})),
           IntList{matrices, rows + 1});
    const Tensor offset = op("unsqueeze", op("mul.Scalar", first, Scalar(each)), int64_t{1});
    const Sizes shape = concat({batches, IntList{rows + 1}});
    pointers = op("reshape", op("sub.Tensor", taken, offset), IntList(shape));
  }
  const Sizes plain_shape = concat({batches, IntList{each}});
  const Tensor plain =
      op("reshape", op("select.int", indices, int64_t{0}, batch + 1), IntList(plain_shape));
  const Tensor values = parts_of(entries).values;
  const Sizes value_shape = concat({plain_shape, values.sizes().subspan(1)});
  return make_compressed(layout, pointers, op("clone", plain, MemoryFormat::contiguous),
                         op("reshape", values, IntList(value_shape)), sizes);
}

// A view of a strided tensor with blocks as its dims behind the grid of blocks.
Tensor in_blocks(const Tensor& t, int64_t row, Ints block) {
  const auto split = [](const Tensor& x, int64_t dim, int64_t size) {
    return op("unflatten.int", x, dim, IntList{x.size(dim) / size, size});
  };
  return op("transpose.int", split(split(t, row + 1, block[1]), row, block[0]), row + 1, row + 2);
}

}  // namespace

Tensor linear_indices(const Tensor& indices, Ints sizes) {
  if (indices.size(0) == 0) return op("new_zeros", indices, IntList{indices.size(1)});
  Tensor linear = op("select.int", indices, int64_t{0}, int64_t{0});
  for (int64_t d = 1; d < indices.size(0); ++d)
    linear = op("add.Tensor", op("mul.Scalar", linear, Scalar(sizes[static_cast<size_t>(d)])),
                op("select.int", indices, int64_t{0}, d));
  return linear;
}

Tensor dense_to_coo(const Tensor& t, int64_t sparse) {
  const Tensor where = op("nonzero", nonzero_entries(t, sparse));
  const Tensor indices = op("clone", op("t", where), MemoryFormat::contiguous);
  const Sizes flat = concat({IntList{product(t.sizes().first(static_cast<size_t>(sparse)))},
                             t.sizes().subspan(static_cast<size_t>(sparse))});
  const Tensor entries = op("reshape", t, IntList(flat));
  const Tensor values = op("index_select", entries, int64_t{0}, linear_indices(indices, t.sizes()));
  return make_coo(indices, values, t.sizes(), true);
}

Tensor to_coo(const Tensor& t) {
  if (!is_sparse(t)) return dense_to_coo(t, t.dim());
  return is_coo(t) ? t : compressed_to_coo(t);
}

Tensor coo_to_compressed(const Tensor& coo, Layout layout, Ints block) {
  const int64_t batch = sparse_dims(coo) - 2;
  const auto row = static_cast<size_t>(batch);
  Tensor entries = coo;
  if (has_blocks(layout)) {
    require_divisible(coo.sizes(), row, block);
    entries = gathered_into_blocks(coo, batch, block);
  }
  if (!compresses_rows(layout)) entries = with_rows_first(entries, batch);
  return compressed_rows(coalesced(entries), layout, coo.sizes());
}

// What comes first in the order of the entries wanted is first in the view that they are found in:
// nothing is to be sorted.
Tensor dense_to_compressed(const Tensor& t, Layout layout, Ints block, int64_t batch) {
  Tensor view = t;
  if (has_blocks(layout)) {
    require_divisible(t.sizes(), static_cast<size_t>(batch), block);
    view = in_blocks(t, batch, block);
  }
  if (!compresses_rows(layout)) view = op("transpose.int", view, batch, batch + 1);
  return compressed_rows(dense_to_coo(view, batch + 2), layout, t.sizes());
}

Sizes block_of(const Tensor& compressed) {
  if (!has_blocks(compressed.layout())) return {};
  const int64_t first = batch_dims(compressed) + 1;
  return {parts_of(compressed).values.size(first), parts_of(compressed).values.size(first + 1)};
}

Tensor to_strided(const Tensor& t) {
  if (!is_sparse(t)) return t;
  const Tensor coo = to_coo(t);
  const SparseParts& parts = parts_of(coo);
  const Sizes flat = concat({IntList{product(sparse_sizes(coo))}, parts.values.sizes().subspan(1)});
  const Tensor zeros = op("new_zeros", parts.values, IntList(flat));
  const Tensor filled =
      op("index_add", zeros, int64_t{0}, linear_indices(parts.indices, t.sizes()), parts.values);
  return op("reshape", filled, t.sizes());
}

Tensor coalesced(const Tensor& t) {
  const SparseParts& parts = parts_of(t);
  if (parts.coalesced) return t;
  if (stored_entries(t) < 2)
    return make_coo(op("clone", parts.indices, MemoryFormat::contiguous),
                    op("clone", parts.values, MemoryFormat::contiguous), t.sizes(), true);
  const std::vector<Tensor> made =
      ops("_coo_coalesce", parts.indices, parts.values, IntList(sparse_sizes(t)));
  return make_coo(made[0], made[1], t.sizes(), true);
}

}  // namespace primset::runtime
