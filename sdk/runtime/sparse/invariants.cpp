#include "sdk/runtime/sparse/invariants.h"

#include <algorithm>

namespace primset::runtime {
namespace {

void require(bool holds, std::string text) {
  if (!holds) throw Error(ErrorCode::runtime, std::move(text));
}

std::string_view compressed_name(Layout layout) {
  return compresses_rows(layout) ? "crow_indices" : "ccol_indices";
}
std::string_view plain_name(Layout layout) {
  return compresses_rows(layout) ? "col_indices" : "row_indices";
}

std::vector<int64_t> host_integers(const Tensor& t) {
  return op("to.dtype", t, DType::i64).cpu().to_vector<int64_t>();
}

Sizes leading(const Tensor& t, int64_t count) {
  return {t.sizes().begin(), t.sizes().begin() + count};
}

}  // namespace

void require_sparse_dims(int64_t sparse, int64_t dense, Ints sizes) {
  require(sparse >= 0 && dense >= 0,
          fmt::format("sparse_dim and dense_dim must be non-negative, but got {} and {}", sparse,
                      dense));
  require(sparse + dense == static_cast<int64_t>(sizes.size()),
          fmt::format("number of dimensions must be sparse_dim ({}) + dense_dim ({}), but got {}",
                      sparse, dense, sizes.size()));
  require(std::ranges::none_of(sizes, [](int64_t s) { return s < 0; }),
          fmt::format("Trying to create tensor with negative dimension: {}", list_text(sizes)));
}

void require_coo_parts(const Tensor& indices, const Tensor& values) {
  require(!is_sparse(indices), fmt::format("expected indices to be a dense tensor, but got indices "
                                           "of layout {}",
                                           layout_name(indices.layout())));
  require(!is_sparse(values),
          fmt::format("expected values to be a dense tensor, but got values of layout {}",
                      layout_name(values.layout())));
  require(indices.dtype() == DType::i64,
          fmt::format("indices must be an int64 tensor, but got {}", name(indices.dtype())));
  require(indices.device() == values.device(),
          fmt::format("device of indices ({}) must match device of values ({})",
                      indices.device().to_string(), values.device().to_string()));
  require(indices.dim() == 2,
          fmt::format("indices must be sparse_dim x nnz, but got: {}", list_text(indices.sizes())));
  require(values.dim() >= 1,
          fmt::format("values must be nnz x dense dims, but got: {}", list_text(values.sizes())));
  require(indices.size(1) == values.size(0),
          fmt::format("indices and values must have same nnz, but got nnz from indices: {}, nnz "
                      "from values: {}",
                      indices.size(1), values.size(0)));
}

void require_coo_geometry(const Tensor& indices, const Tensor& values, Ints sizes) {
  const int64_t sparse = indices.size(0), dense = values.dim() - 1;
  require(sparse + dense == static_cast<int64_t>(sizes.size()),
          fmt::format("'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {}, "
                      "sparse_dim = {}, dense_dim = {}",
                      sizes.size(), sparse, dense));
  require_sparse_dims(sparse, dense, sizes);
  require(std::ranges::equal(values.sizes().subspan(1), sizes.subspan(static_cast<size_t>(sparse))),
          fmt::format("values has incorrect size, expected nnz and {}, got {}",
                      list_text(sizes.subspan(static_cast<size_t>(sparse))),
                      list_text(values.sizes())));
}

void require_coo_indices(const Tensor& indices, Ints sizes, bool coalesced) {
  const std::vector<int64_t> all = host_integers(indices);
  const auto nnz = static_cast<size_t>(indices.size(1));
  const auto dims = static_cast<size_t>(indices.size(0));
  for (size_t d = 0; d < dims; ++d) {
    for (size_t e = 0; e < nnz; ++e) {
      const int64_t i = all[d * nnz + e];
      require(i >= 0, fmt::format("found negative index {} for dim {}", i, d));
      require(i < sizes[d],
              fmt::format("size is inconsistent with indices: for dim {}, size is {} but found "
                          "index {}",
                          d, sizes[d], i));
    }
  }
  for (size_t e = 1; coalesced && e < nnz; ++e) {
    const auto entry = [&](size_t at) {
      Sizes out;
      for (size_t d = 0; d < dims; ++d) out.push_back(all[d * nnz + at]);
      return out;
    };
    require(entry(e - 1) < entry(e),
            fmt::format("cannot set is_coalesced to true if indices correspond to uncoalesced COO "
                        "tensor: entry {} at {} does not stand before entry {} at {}",
                        e - 1, list_text(entry(e - 1)), e, list_text(entry(e))));
  }
}

void require_compressed_parts(const SparseParts& parts) {
  const std::string_view compressed = compressed_name(parts.layout),
                         plain = plain_name(parts.layout);
  const std::pair<std::string_view, const Tensor*> all[] = {
      {compressed, &parts.compressed}, {plain, &parts.plain}, {"values", &parts.values}};
  for (const auto& [what, t] : all) {
    require(!is_sparse(*t), fmt::format("expected {} to be a strided tensor, but got layout {}",
                                        what, layout_name(t->layout())));
    require(t->device() == parts.values.device(),
            fmt::format("device of {} ({}) must match device of values ({})", what,
                        t->device().to_string(), parts.values.device().to_string()));
  }
  require(parts.compressed.dtype() == DType::i64 || parts.compressed.dtype() == DType::i32,
          fmt::format("{} and {} must be an int32 or int64 type, but got {}", compressed, plain,
                      name(parts.compressed.dtype())));
  require(parts.compressed.dtype() == parts.plain.dtype(),
          fmt::format("{} and {} must have the same dtype, but got {} and {}", compressed, plain,
                      name(parts.compressed.dtype()), name(parts.plain.dtype())));
  const int64_t batch = parts.compressed.dim() - 1, blocks = has_blocks(parts.layout) ? 2 : 0;
  require(batch >= 0 && parts.compressed.size(-1) >= 1,
          fmt::format("{} must have dimensionality >= 1 and an element, but got {}", compressed,
                      list_text(parts.compressed.sizes())));
  require(parts.plain.dim() == batch + 1,
          fmt::format("{} and {} dimensionalities must be equal, but got {} and {}, respectively",
                      compressed, plain, parts.compressed.dim(), parts.plain.dim()));
  require(parts.values.dim() >= batch + 1 + blocks,
          fmt::format("values must have dimensionality >= {}, but got {}", batch + 1 + blocks,
                      parts.values.dim()));
  require(std::ranges::equal(leading(parts.values, batch + 1), parts.plain.sizes()) &&
              leading(parts.compressed, batch) == leading(parts.plain, batch),
          fmt::format("batch dimensions and numbers of entries must agree, but got {} of {}, {} of "
                      "{} and values of {}",
                      compressed, list_text(parts.compressed.sizes()), plain,
                      list_text(parts.plain.sizes()), list_text(parts.values.sizes())));
}

void require_compressed_geometry(const SparseParts& parts, Ints sizes) {
  const int64_t batch = parts.compressed.dim() - 1, blocks = has_blocks(parts.layout) ? 2 : 0;
  const int64_t dense = parts.values.dim() - batch - 1 - blocks;
  require(
      static_cast<int64_t>(sizes.size()) == batch + 2 + dense,
      fmt::format("tensor dimensionality must be sum of batch, base, and dense dimensionalities "
                  "(={} + 2 + {}), but got {}",
                  batch, dense, sizes.size()));
  require(std::ranges::none_of(sizes, [](int64_t s) { return s < 0; }),
          fmt::format("Trying to create tensor with negative dimension: {}", list_text(sizes)));
  const auto row = static_cast<size_t>(batch);
  require(
      std::ranges::equal(sizes.first(row), leading(parts.compressed, batch)) &&
          std::ranges::equal(sizes.subspan(row + 2),
                             parts.values.sizes().subspan(row + 1 + static_cast<size_t>(blocks))),
      fmt::format("size {} does not fit the batch dimensions of {} {} and the dense dimensions "
                  "of values {}",
                  list_text(sizes), compressed_name(parts.layout),
                  list_text(parts.compressed.sizes()), list_text(parts.values.sizes())));
  for (size_t k = 0; blocks != 0 && k < 2; ++k) {
    const int64_t block = parts.values.size(batch + 1 + static_cast<int64_t>(k));
    require(block > 0 && sizes[row + k] % block == 0,
            fmt::format("tensor shape[{}] ({}) must be divisible with blocksize[{}] ({})", row + k,
                        sizes[row + k], k, block));
  }
  const size_t k = compresses_rows(parts.layout) ? 0 : 1;
  const int64_t block = blocks != 0 ? parts.values.size(batch + 1 + static_cast<int64_t>(k)) : 1;
  require(parts.compressed.size(-1) == sizes[row + k] / block + 1,
          fmt::format("{}.shape[-1] must be equal to the number of {} + 1 ({}), but got {}",
                      compressed_name(parts.layout), k == 0 ? "rows" : "columns",
                      sizes[row + k] / block + 1, parts.compressed.size(-1)));
}

void require_compressed_indices(const SparseParts& parts, Ints sizes) {
  require(parts.plain.strides().back() == 1,
          fmt::format("expected {} to be a contiguous tensor per batch, but got strides {}",
                      plain_name(parts.layout), list_text(parts.plain.strides())));
  const int64_t batch = parts.compressed.dim() - 1;
  const auto row = static_cast<size_t>(batch);
  const bool rows = compresses_rows(parts.layout), blocks = has_blocks(parts.layout);
  const int64_t plain = blocks ? parts.values.size(batch + (rows ? 2 : 1)) : 1;
  require_pointers_and_indices({rows, parts.compressed, parts.plain, parts.compressed.size(-1) - 1,
                                sizes[row + (rows ? 1 : 0)] / plain, parts.plain.size(-1)});
}

void require_pointers_and_indices(const CompressedIndices& of) {
  const std::string_view c = of.rows ? "crow_indices" : "ccol_indices";
  const std::string_view p = of.rows ? "col_indices" : "row_indices";
  const DType type = of.compressed.dtype();
  require((type == DType::i32 || type == DType::i64) && of.plain.dtype() == type,
          fmt::format("{} and {} must be of one dtype, int32 or int64, but got {} and {}", c, p,
                      info(type).torch_name, info(of.plain.dtype()).torch_name));
  const std::vector<int64_t> pointers = host_integers(of.compressed),
                             plain = host_integers(of.plain);
  const auto width = static_cast<size_t>(of.compressed_dim) + 1;
  require(of.compressed.dim() >= 1 && of.compressed.size(-1) == static_cast<int64_t>(width) &&
              of.plain.dim() == of.compressed.dim() && of.plain.size(-1) == of.nnz,
          fmt::format("{} of {} and {} of {} do not fit {} compressed entries and nnz {}", c,
                      list_text(of.compressed.sizes()), p, list_text(of.plain.sizes()),
                      of.compressed_dim, of.nnz));
  const auto nnz = static_cast<size_t>(of.nnz);
  for (size_t b = 0; b * width < pointers.size(); ++b) {
    const int64_t* at = pointers.data() + b * width;
    require(at[0] == 0, fmt::format("`{}[..., 0] == 0` is not satisfied: found {}", c, at[0]));
    require(at[width - 1] == of.nnz,
            fmt::format("`{}[..., -1] == nnz` is not satisfied: found {}, nnz is {}", c,
                        at[width - 1], of.nnz));
    for (size_t i = 1; i < width; ++i) {
      const int64_t count = at[i] - at[i - 1];
      require(
          count >= 0 && count <= of.plain_dim && at[i] <= of.nnz,
          fmt::format("`0 <= {0}[..., 1:] - {0}[..., :-1] <= plain_dim` is not satisfied: found "
                      "{1} between {2} and {3}",
                      c, count, i - 1, i));
      for (int64_t e = at[i - 1]; e < at[i]; ++e) {
        const int64_t index = plain[b * nnz + static_cast<size_t>(e)];
        require(index >= 0 && index < of.plain_dim,
                fmt::format("`0 <= {} < plain_dim` is not satisfied: found {}, plain_dim is {}", p,
                            index, of.plain_dim));
        require(
            e == at[i - 1] || plain[b * nnz + static_cast<size_t>(e) - 1] < index,
            fmt::format("`{}[..., {}[..., i - 1]:{}[..., i]] for all i = 1, ..., are sorted and "
                        "distinct along the last dimension values` is not satisfied at entry {}",
                        p, c, c, e));
      }
    }
  }
}

}  // namespace primset::runtime
