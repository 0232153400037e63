// Sparse tensors of parts that the caller has: sparse_coo_tensor, sparse_csr_tensor and their kin.
// Their geometry is always checked. The indices' values, which would have to be read from the
// device, are where no sizes are given and by the _validate operators; kernels check them as they
// use them.
#include <algorithm>

#include "sdk/runtime/sparse/invariants.h"
#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {
namespace {

Layout compressed_layout(const SparseCall& call) {
  const std::optional<Layout> named = layout_in_name(call.op());
  const std::optional<Layout> given = call.layout();
  if (named && given && *given != *named)
    call.fail(fmt::format("expected sparse {} tensor layout but got {}", layout_name(*named),
                          layout_name(*given)));
  if (named) return *named;
  if (!given || *given == Layout::strided || *given == Layout::sparse_coo)
    call.fail(
        fmt::format("sparse_compressed_tensor expected sparse compressed tensor layout but "
                    "got {}",
                    given ? layout_name(*given) : "none"));
  return *given;
}

void require_coo_layout(const SparseCall& call) {
  const std::optional<Layout> given = call.layout();
  if (given && *given != Layout::sparse_coo)
    call.fail(fmt::format("expected layout sparse_coo but got {}", layout_name(*given)));
}

// A tensor of the dtype and on the device that the call names.
Tensor placed(const SparseCall& call, const Tensor& t, bool cast) {
  Tensor out = t.to(call.device(t));
  if (const std::optional<DType> dtype = call.dtype(); cast && dtype && *dtype != out.dtype())
    out = op("to.dtype", out, *dtype);
  return out;
}

// The size that the greatest index along each sparse dim needs.
Sizes least_sizes(const Tensor& indices, const Tensor& values) {
  Sizes sizes(static_cast<size_t>(indices.size(0)), 0);
  if (indices.numel() != 0) {
    const Tensor greatest = op("amax", indices, IntList{1}).cpu();
    const std::vector<int64_t> host = greatest.to_vector<int64_t>();
    std::ranges::transform(host, sizes.begin(), [](int64_t i) { return i + 1; });
  }
  for (int64_t d = 1; d < values.dim(); ++d) sizes.push_back(values.size(d));
  return sizes;
}

Sizes least_sizes(const SparseParts& parts) {
  const bool blocks = has_blocks(parts.layout), rows = compresses_rows(parts.layout);
  const int64_t batch = parts.compressed.dim() - 1, first = batch + 1;
  int64_t block[2] = {1, 1};
  if (blocks && parts.values.dim() >= first + 2) {
    block[0] = parts.values.size(first);
    block[1] = parts.values.size(first + 1);
  }
  const int64_t compressed = parts.compressed.size(-1) - 1;
  const int64_t plain = parts.plain.numel() == 0 ? 0 : integer_in(op("max", parts.plain)) + 1;
  Sizes sizes(parts.compressed.sizes().begin(), parts.compressed.sizes().end() - 1);
  sizes.push_back((rows ? compressed : plain) * block[0]);
  sizes.push_back((rows ? plain : compressed) * block[1]);
  for (int64_t d = first + (blocks ? 2 : 0); d < parts.values.dim(); ++d)
    sizes.push_back(parts.values.size(d));
  return sizes;
}

// The compressed indices are called so by the layouts of both kinds.
Tensor first_of(const SparseCall& call, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (call.has(name)) return call.tensor(name);
  }
  return {};
}

SparseParts compressed_parts(const SparseCall& call, Layout layout) {
  SparseParts parts;
  parts.layout = layout;
  parts.compressed = first_of(call, {"compressed_indices", "crow_indices", "ccol_indices"});
  parts.plain = first_of(call, {"plain_indices", "col_indices", "row_indices"});
  parts.values = call.tensor("values");
  return parts;
}

Tensor coo_as_said(const SparseCall& call, const Tensor& indices, const Tensor& values,
                   Ints sizes) {
  return call.has("is_coalesced")
             ? make_coo_as_said(indices, values, sizes, call.flag("is_coalesced"))
             : make_coo(indices, values, sizes, false);
}

void require_contiguous_indices(const SparseCall& call, const SparseParts& parts) {
  const bool rows = compresses_rows(parts.layout);
  const std::pair<const char*, const Tensor*> all[] = {
      {rows ? "crow_indices" : "ccol_indices", &parts.compressed},
      {rows ? "col_indices" : "row_indices", &parts.plain}};
  for (const auto& [name, indices] : all) {
    if (indices->size(-1) > 1 && indices->strides().back() != 1)
      call.fail(
          fmt::format("expected {} to be a contiguous tensor per batch, but the last of its "
                      "strides is {}",
                      name, indices->strides().back()));
  }
}

Sizes given_sizes(const SparseCall& call) {
  const Ints given = call.ints("size");
  return {given.begin(), given.end()};
}

}  // namespace

std::vector<Tensor> sparse_functions::coo_tensor(SparseCall& call) {
  require_coo_layout(call);
  if (!call.has("indices")) return coo_of_sizes(call);
  const Tensor indices = placed(call, call.tensor("indices"), false);
  const Tensor values = placed(call, call.tensor("values"), true);
  require_coo_parts(indices, values);
  const Sizes sizes = call.has("size") ? given_sizes(call) : least_sizes(indices, values);
  require_coo_geometry(indices, values, sizes);
  return {coo_as_said(call, indices, values, sizes)};
}

// Without elements. Of more dims than `sparse_dim` says the others are dense.
std::vector<Tensor> sparse_functions::coo_of_sizes(SparseCall& call) {
  require_coo_layout(call);
  const Sizes sizes = given_sizes(call);
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t sparse = call.integer("sparse_dim", rank),
                dense = call.integer("dense_dim", rank - sparse);
  require_sparse_dims(sparse, dense, sizes);
  const Device device = call.device(call.tensor("out"));
  Sizes values{0};
  values.insert(values.end(), sizes.begin() + sparse, sizes.end());
  const DType dtype =
      call.dtype().value_or(call.has("out") ? call.tensor("out").dtype() : DType::f32);
  return {make_coo(Tensor::empty({sparse, 0}, DType::i64, device),
                   Tensor::empty(values, dtype, device), sizes, true)};
}

std::vector<Tensor> sparse_functions::coo_of_parts(SparseCall& call) {
  require_coo_layout(call);
  const Sizes sizes = given_sizes(call);
  const Tensor indices = call.tensor("indices"), values = placed(call, call.tensor("values"), true);
  require_sparse_dims(call.integer("sparse_dim"), call.integer("dense_dim"), sizes);
  require_coo_parts(indices, values);
  require_coo_geometry(indices, values, sizes);
  return {coo_as_said(call, indices, values, sizes)};
}

std::vector<Tensor> sparse_functions::compressed_tensor(SparseCall& call) {
  SparseParts parts = compressed_parts(call, compressed_layout(call));
  parts.compressed = placed(call, parts.compressed, false);
  parts.plain = placed(call, parts.plain, false);
  parts.values = placed(call, parts.values, true);
  require_compressed_parts(parts);
  const Sizes sizes = call.has("size") ? given_sizes(call) : least_sizes(parts);
  require_compressed_geometry(parts, sizes);
  return {make_sparse(std::move(parts), sizes)};
}

// Room for so many entries, whose indices and values are not set.
std::vector<Tensor> sparse_functions::compressed_of_sizes(SparseCall& call) {
  const Layout layout = compressed_layout(call);
  const Sizes sizes = given_sizes(call);
  const int64_t nnz = call.integer("nnz"), dense = call.integer("dense_dim");
  const Ints block = call.ints("blocksize");
  const auto rank = static_cast<int64_t>(sizes.size());
  if (nnz < 0) call.fail(fmt::format("nnz must be non-negative, but got {}", nnz));
  if (dense < 0 || rank - dense < 2)
    call.fail(fmt::format("expected 2 dims besides {} dense ones, but got size {}", dense,
                          list_text(sizes)));
  if (block.size() != (has_blocks(layout) ? 2u : 0u))
    call.fail(fmt::format("expected blocksize of {} numbers for layout {}, but got {}",
                          has_blocks(layout) ? 2 : 0, layout_name(layout), list_text(block)));
  const auto row = static_cast<size_t>(rank - dense - 2);
  const size_t compressed = compresses_rows(layout) ? 0 : 1;
  const int64_t block_size = block.empty() ? 1 : block[compressed];
  if (block_size <= 0)
    call.fail(fmt::format("blocksize must be positive, but got {}", list_text(block)));
  Sizes pointers(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(row));
  Sizes plain = pointers;
  pointers.push_back(sizes[row + compressed] / block_size + 1);
  plain.push_back(nnz);
  Sizes values = plain;
  values.insert(values.end(), block.begin(), block.end());
  values.insert(values.end(), sizes.end() - dense, sizes.end());
  const Device device = call.device({});
  const DType index = call.dtype("index_dtype").value_or(DType::i64);
  SparseParts parts;
  parts.layout = layout;
  parts.compressed = op("zeros", IntList(pointers), index, std::nullopt, device);
  parts.plain = op("zeros", IntList(plain), index, std::nullopt, device);
  parts.values = Tensor::empty(values, call.dtype().value_or(DType::f32), device);
  require_compressed_parts(parts);
  require_compressed_geometry(parts, sizes);
  return {make_sparse(std::move(parts), sizes)};
}

std::vector<Tensor> sparse_functions::validate_coo(SparseCall& call) {
  const Tensor indices = call.tensor("indices"), values = call.tensor("values");
  const Sizes sizes = given_sizes(call);
  require_coo_parts(indices, values);
  require_coo_geometry(indices, values, sizes);
  require_coo_indices(indices, sizes, call.flag("is_coalesced"));
  return {};
}

std::vector<Tensor> sparse_functions::validate_compressed(SparseCall& call) {
  const SparseParts parts = compressed_parts(call, compressed_layout(call));
  const Sizes sizes = given_sizes(call);
  require_compressed_parts(parts);
  require_compressed_geometry(parts, sizes);
  require_contiguous_indices(call, parts);
  require_compressed_indices(parts, sizes);
  return {};
}

// _validate_compressed_sparse_indices: of indices alone, with the sizes as numbers.
std::vector<Tensor> sparse_functions::validate_indices(SparseCall& call) {
  require_pointers_and_indices({call.flag("is_crow"), call.tensor("compressed_idx"),
                                call.tensor("plain_idx"), call.integer("cdim"), call.integer("dim"),
                                call.integer("nnz")});
  return {};
}

}  // namespace primset::runtime
