// Diagonals, blocks, grids of indices and sequences of unlike lengths.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/rearrange.h"
#include "decomps/operators/sort_and_search.h"
#include "decomps/primitives/index_type.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

// x with zeros, or `value`, before and behind dim.
Val with_margins(const Val& x, int64_t dim, const SymInt& low, const SymInt& high,
                 const std::optional<Val>& value = {}) {
  Tracer& t = x.tracer();
  SymInts before(static_cast<size_t>(x.rank()), SymInt(0)), behind = before, none = before;
  before[static_cast<size_t>(dim)] = low;
  behind[static_cast<size_t>(dim)] = high;
  const Val filler = value ? *value : t.constant(0, x.dtype());
  return t.wrap(t.builder().pad(x.id(), filler.id(), before, behind, none));
}

Val as_matrix(const Val& x) {
  return x.rank() == 2 ? x : reshape(x, {SymInt(1), x.numel()});
}

DType dimensioned_type(const std::vector<Val>& xs) {
  std::vector<PromotionOperand> operands;
  for (const Val& x : xs) operands.push_back({x.dtype(), PromotionOperand::Category::dimensioned});
  return result_type(operands);
}

}  // namespace

// --- diagonals ---

Val diag::decompose(Tracer& t, const Val& self, int64_t diagonal) {
  require(self.rank() == 1 || self.rank() == 2, ErrorCode::runtime,
          fmt::format("diag(): Supports 1D or 2D tensors. Got {}D", self.rank()));
  if (self.rank() == 1) return diag_embed::decompose(t, self, diagonal, 0, 1);
  return t.call1("diagonal_copy", {self, diagonal, 0, 1});
}

Val diagflat::decompose(Tracer& t, const Val& self, int64_t offset) {
  return diag_embed::decompose(t, flattened(self), offset, 0, 1);
}

// Of a tall matrix the diagonal may start again, one row below where it ended.
Val fill_diagonal_::decompose(Tracer& t, const Val& self, const ScalarArg& fill_value, bool wrap) {
  require(self.rank() >= 2, ErrorCode::runtime, "dimensions must larger than 1");
  const SymInts shape = self.shape();
  for (size_t d = 1; self.rank() > 2 && d < shape.size(); ++d)
    require(shape[d] == shape[0], ErrorCode::runtime,
            "all dimensions of input must be of equal length");
  const DType type = self.dtype();
  Val row = t.iota(shape, 0, DType::i64), here;
  if (self.rank() == 2 && wrap) row = binary(Prim::rem, row, full_like(row, shape[1] + 1));
  for (int64_t d = 1; d < self.rank(); ++d) {
    const Val equal = eq(row, t.iota(shape, d, DType::i64));
    here = here.valid() ? here & equal : equal;
  }
  return where(here, broadcast_to(t.fitting_scalar(fill_value, type), shape), self);
}

Val block_diag::decompose(Tracer& t, const std::vector<Val>& tensors) {
  if (tensors.empty()) return zeros(t, {SymInt(1), SymInt(0)}, DType::f32);
  const DType type = dimensioned_type(tensors);
  std::vector<Val> blocks;
  SymInt width = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    require(tensors[i].rank() <= 2, ErrorCode::runtime,
            fmt::format("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {} "
                        "has {} dimensions",
                        i, tensors[i].rank()));
    blocks.push_back(convert(as_matrix(tensors[i]), type));
    width += blocks.back().size(1);
  }
  SymInt at = 0;
  for (Val& b : blocks) {
    const SymInt next = at + b.size(1);
    b = with_margins(b, 1, at, width - next);
    at = next;
  }
  return concatenate(blocks, 0);
}

// --- grids of indices ---

namespace {

// The elements of rows 0 to rows - 1 of which row r has `first + r`, but at least 0 and at most
// `columns`: none, then an arithmetic series, then whole rows.
SymInt triangle_count(int64_t rows, int64_t columns, __int128 first) {
  const auto row = [&](__int128 r) { return std::clamp<__int128>(r, 0, rows); };
  const __int128 begin = row(-first), end = std::max(begin, row(columns - first));
  const __int128 series = (end - begin) * (begin + end - 1) / 2 + first * (end - begin);
  const __int128 count = series + (rows - end) * columns;
  require(count <= INT64_MAX, ErrorCode::runtime,
          fmt::format("a triangle of {} rows and {} columns has too many elements", rows, columns));
  return static_cast<int64_t>(count);
}

// The coordinates of a triangle, in row-major order. Their number is known beforehand.
Val triangle_indices(Tracer& t, int64_t rows, int64_t columns, int64_t offset, bool lower,
                     const std::optional<DType>& dtype) {
  require(rows >= 0, ErrorCode::runtime,
          fmt::format("row must be non-negative, got{}; expected at least 0", rows));
  require(columns >= 0, ErrorCode::runtime,
          fmt::format("col must be non-negative, got{}", columns));
  const DType type = dtype.value_or(DType::i64);
  if (!is_index(type)) not_implemented_for(lower ? "tril_indices" : "triu_indices", type);
  const SymInt all = SymInt(rows) * SymInt(columns);
  const SymInt below =
      triangle_count(rows, columns, static_cast<__int128>(offset) + (lower ? 1 : 0));
  const SymInt count = lower ? below : all - below;
  if (count.same(SymInt(0))) return zeros(t, {SymInt(2), SymInt(0)}, type);
  // Beyond these no offset changes anything.
  const int64_t nearest = std::clamp(offset, -rows - 1, columns + 1);
  const Val row = t.iota({SymInt(rows)}, 0, DType::i64), none = full_like(row, 0);
  const Val all_columns = full_like(row, SymInt(columns));
  const Val reach = row + full_like(row, SymInt(nearest + (lower ? 1 : 0)));
  const Val left = binary(Prim::min, binary(Prim::max, reach, none), all_columns);
  const Val length = lower ? left : all_columns - left, first_column = lower ? none : left;
  const Val ends = t.wrap(t.builder().scan(Prim::scan_sum, length.id(), 0)[0]);
  const Val pointers = concatenate({t.constant(0, DType::i64, {1}), ends}, 0);
  const Val rows_of_places = t.prim1(Prim::expand_rows, {pointers}, {{"entries", count}});
  // The place less the row's first, and the row's first column.
  const Val before = t.wrap(t.builder().gather((ends - length - first_column).id(),
                                               {rows_of_places.id()}, {0}, true, "row"));
  const Val columns_of_places = t.iota({count}, 0, DType::i64) - before;
  return convert(concatenate({unsqueeze(rows_of_places, 0), unsqueeze(columns_of_places, 0)}, 0),
                 type);
}

}  // namespace

Val tril_indices::decompose(Tracer& t, int64_t row, int64_t col, int64_t offset,
                            const std::optional<DType>& dtype, const std::optional<Layout>&,
                            const std::optional<DeviceArg>&, const std::optional<bool>&) {
  return triangle_indices(t, row, col, offset, true, dtype);
}

Val triu_indices::decompose(Tracer& t, int64_t row, int64_t col, int64_t offset,
                            const std::optional<DType>& dtype, const std::optional<Layout>&,
                            const std::optional<DeviceArg>&, const std::optional<bool>&) {
  return triangle_indices(t, row, col, offset, false, dtype);
}

Val cartesian_prod::decompose(Tracer& t, const std::vector<Val>& tensors) {
  SymInts grid;
  for (const Val& x : tensors) {
    require(x.rank() == 1, ErrorCode::runtime,
            fmt::format("Expect a 1D vector, but got shape {}", shape_text(x.shape())));
    grid.push_back(x.size(0));
  }
  require(!tensors.empty(), ErrorCode::runtime, "meshgrid expects a non-empty TensorList");
  if (tensors.size() == 1) return tensors[0];
  std::vector<Val> columns;
  for (size_t i = 0; i < tensors.size(); ++i) {
    require(tensors[i].dtype() == tensors[0].dtype(), ErrorCode::runtime,
            "meshgrid expects all tensors to have the same dtype");
    SymInts own(grid.size(), SymInt(1));
    own[i] = grid[i];
    const Val spread = broadcast_to(reshape(tensors[i], own), grid);
    columns.push_back(reshape(spread, {prims::product(grid), SymInt(1)}));
  }
  return concatenate(columns, 1);
}

namespace {

constexpr int64_t kMostOfACombination = 20;  // whose factorial an integer holds

// How many choices of r among n there are.
SymInt choices(const SymInt& n, int64_t r) {
  SymInt above = 1;
  int64_t below = 1;
  for (int64_t i = 0; i < r; ++i) {
    above *= n - i;
    below *= i + 1;
  }
  return floor_div(above, below);
}

}  // namespace

Val combinations::decompose(Tracer& t, const Val& self, int64_t r, bool with_replacement) {
  require(self.rank() == 1, ErrorCode::runtime,
          fmt::format("Expect a 1D vector, but got shape {}", shape_text(self.shape())));
  require(r >= 0, ErrorCode::runtime, fmt::format("Expect a non-negative number, but got {}", r));
  if (r == 0) return zeros(t, {SymInt(0)}, self.dtype());
  const SymInt n = self.size(0);
  if (self.is_empty() || (!with_replacement && n < SymInt(r)))
    return zeros(t, {SymInt(0), SymInt(r)}, self.dtype());
  require(r <= kMostOfACombination, ErrorCode::runtime,
          fmt::format("combinations: of {} elements each there are too many; at most {} are "
                      "supported",
                      r, kMostOfACombination));
  const SymInt count = choices(with_replacement ? n + (r - 1) : n, r);
  const SymInts grid(static_cast<size_t>(r), n);
  Val kept = t.constant(true, DType::boolean, grid);
  for (int64_t d = 0; d + 1 < r; ++d) {
    const Val a = t.iota(grid, d, DType::i64), b = t.iota(grid, d + 1, DType::i64);
    kept = kept & (with_replacement ? le(a, b) : lt(a, b));
  }
  std::vector<Val> columns;
  for (int64_t d = 0; d < r; ++d) {
    const Val all = flattened(t.iota(grid, d, DType::i64));
    const Val chosen = resized_front(t.prim(Prim::compact, {all, flattened(kept)})[0], count);
    const Val values = t.wrap(t.builder().gather(self.id(), {chosen.id()}, {0}, true, "index"));
    columns.push_back(reshape(values, {count, SymInt(1)}));
  }
  return concatenate(columns, 1);
}

// --- sequences ---

Val pad_sequence::decompose(Tracer& t, const std::vector<Val>& sequences, bool batch_first,
                            double padding_value, const std::string& padding_side) {
  require(!sequences.empty(), ErrorCode::runtime, "received an empty list of sequences");
  require(
      padding_side == "left" || padding_side == "right", ErrorCode::runtime,
      fmt::format("Expected padding_side to be one of left or right, but got {}.", padding_side));
  require(sequences[0].rank() > 0, ErrorCode::runtime, "ArrayRef: invalid slice, N = 1; size = 0");
  const SymInts first = sequences[0].shape();
  SymInt longest = first[0];
  for (const Val& s : sequences) longest = max(longest, s.size(0));
  std::vector<Val> rows;
  for (const Val& s : sequences) {
    SymInts want = first;
    want[0] = s.size(0);
    require(equal_sizes(s.shape(), want), ErrorCode::runtime,
            fmt::format("output with shape {} doesn't match the broadcast shape {}",
                        shape_text(want), shape_text(s.shape())));
    const Val filler = t.constant(padding_value, sequences[0].dtype());
    const SymInt missing = longest - s.size(0);
    const bool left = padding_side == "left";
    const Val x = convert(s, sequences[0].dtype());
    const Val full = with_margins(x, 0, left ? missing : 0, left ? 0 : missing, filler);
    rows.push_back(unsqueeze(full, batch_first ? 0 : 1));
  }
  return concatenate(rows, batch_first ? 0 : 1);
}

Val flatten_dense_tensors::decompose(Tracer& t, const std::vector<Val>& tensors) {
  std::vector<Val> flat;
  for (const Val& x : tensors) flat.push_back(flattened(x));
  return t.call1("cat", {flat});
}

// Each tensor cut along dim into chunks, filled up with zeros; chunk i of all stand in row i.
Val _chunk_cat::decompose(Tracer& t, const std::vector<Val>& tensors, int64_t dim,
                          int64_t num_chunks) {
  require(!tensors.empty(), ErrorCode::runtime, "_chunk_cat expects a non-empty input tensor list");
  require(num_chunks >= 1, ErrorCode::runtime, "_chunk_cat expects positive num_chunks");
  const int64_t d = wrap_dim(dim, tensors[0].rank());
  const SymInt chunks = num_chunks;
  for (const Val& x : tensors)
    require(x.rank() > d, ErrorCode::runtime,
            fmt::format("_chunk_cat expects dim < ndim, but dim is {} and a tensor has {} dims", d,
                        x.rank()));
  std::vector<Val> rows;
  for (const Val& x : tensors) {
    require(x.dtype() == tensors[0].dtype(), ErrorCode::runtime,
            "_chunk_cat expects all input tensors with the same dtype");
    require(!x.is_empty(), ErrorCode::runtime, "_chunk_cat expects non-empty tensor");
    const SymInts shape = x.shape();
    const SymInts outer(shape.begin(), shape.begin() + d);
    const SymInt size = shape[static_cast<size_t>(d)], length = ceil_div(size, chunks);
    SymInts split = outer;
    split.push_back(chunks);
    SymInt rest = length;
    for (size_t i = static_cast<size_t>(d) + 1; i < shape.size(); ++i) rest *= shape[i];
    split.push_back(rest);
    const bool fills = size == length * chunks;
    rows.push_back(reshape(fills ? x : with_margins(x, d, 0, length * chunks - size), split));
  }
  return concatenate(rows, d + 1);
}

// --- repeats ---

namespace {

// The entries of x along dim as often as the vector of repeats says.
Val repeated_entries(Tracer& t, const Val& x, const Val& repeats, int64_t dim,
                     const std::optional<SymInt>& size) {
  if (!is_index(repeats.dtype())) not_implemented_for("repeat_interleave_cpu", repeats.dtype());
  require(size.has_value(), ErrorCode::not_implemented,
          "repeat_interleave: without output_size the size of the result depends on the values of "
          "repeats; pass output_size");
  if (repeats.is_empty()) return slice(x, dim, 0, 0, 1);  // whatever size is asked for
  require(*size >= SymInt(0), ErrorCode::runtime,
          fmt::format("Trying to create tensor with negative dimension {}: [{}]", size->hint(),
                      size->hint()));
  return t.prim1(Prim::repeat_interleave, {x, repeats}, {{"dim", dim}, {"size", *size}});
}

}  // namespace

Val repeat_interleave_places::decompose(Tracer& t, const Val& repeats,
                                        const std::optional<SymInt>& output_size) {
  require(repeats.rank() == 1, ErrorCode::runtime,
          fmt::format("repeat_interleave only accept 1D vector as repeat, but got repeats of shape "
                      "{}",
                      shape_text(repeats.shape())));
  const Val places = t.iota(repeats.shape(), 0, repeats.dtype());
  return repeated_entries(t, places, repeats, 0, output_size);
}

Val repeat_interleave_tensor::decompose(Tracer& t, const Val& self, const Val& repeats,
                                        const std::optional<int64_t>& dim,
                                        const std::optional<SymInt>& output_size) {
  const Val x = dim ? self : flattened(self);
  const int64_t d = wrap_dim(dim.value_or(0), x.rank());
  require(repeats.rank() <= 1, ErrorCode::runtime, "repeats must be 0-dim or 1-dim tensor");
  const bool one = repeats.rank() == 0 || repeats.size(0) == SymInt(1);
  require(one || repeats.size(0) == x.size(d), ErrorCode::runtime,
          fmt::format("repeats must have the same size as input along dim, but got "
                      "repeats.size(0) = {} and input.size({}) = {}",
                      repeats.rank() ? repeats.size(0).hint() : 1, d, x.size(d).hint()));
  const Val each = one ? broadcast_to(reshape(repeats, {SymInt(1)}), {x.size(d)}) : repeats;
  return repeated_entries(t, at_least_1d(x), each, d, output_size);
}

}  // namespace primset::decomps
