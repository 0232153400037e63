// Joining, repeating, reordering and padding.
#include "decomps/operators/rearrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "decomps/engine/engine.h"
#include "decomps/engine/functionalization/view_functions.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

DType common_type(const std::vector<Val>& xs) {
  std::vector<PromotionOperand> operands;
  for (const Val& x : xs)
    operands.push_back({x.dtype(), x.rank() == 0 ? PromotionOperand::Category::zero_dim
                                                 : PromotionOperand::Category::dimensioned});
  return result_type(operands);
}

// ATen lets vectors of no elements stand beside anything.
bool is_skipped(const Val& x) {
  return x.rank() == 1 && x.size(0) == SymInt(0);
}

void require_joinable(const std::vector<Val>& xs, int64_t dim) {
  const SymInts first = xs[0].shape();
  for (size_t i = 1; i < xs.size(); ++i) {
    const SymInts shape = xs[i].shape();
    require(shape.size() == first.size(), ErrorCode::runtime,
            fmt::format("Tensors must have same number of dimensions: got {} and {}", first.size(),
                        shape.size()));
    for (size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<int64_t>(d) == dim || shape[d] == first[d]) continue;
      fail(ErrorCode::runtime,
           fmt::format(
               "Sizes of tensors must match except in dimension {}. Expected size {} but got "
               "size {} for tensor number {} in the list.",
               dim, first[d].hint(), shape[d].hint(), i));
    }
  }
}

Val joined(const std::vector<Val>& tensors, int64_t dim) {
  require(!tensors.empty(), ErrorCode::value, "torch.cat(): expected a non-empty list of Tensors");
  for (size_t i = 0; i < tensors.size(); ++i)
    require(tensors[i].rank() > 0, ErrorCode::runtime,
            fmt::format("zero-dimensional tensor (at position {}) cannot be concatenated", i));
  const DType type = common_type(tensors);
  std::vector<Val> kept;
  for (const Val& x : tensors) {
    if (!is_skipped(x)) kept.push_back(convert(x, type));
  }
  if (kept.empty()) return convert(tensors[0], type);
  dim = wrap_dim(dim, kept[0].rank());
  require_joinable(kept, dim);
  return concatenate(kept, dim);
}

Val at_least(const Val& x, int64_t rank) {
  Val v = x;
  if (v.rank() == 0) v = reshape(v, {1});
  if (rank >= 2 && v.rank() == 1) v = unsqueeze(v, 0);
  if (rank == 3 && v.rank() == 2) v = unsqueeze(v, 2);
  return v;
}

std::vector<Val> all_at_least(const std::vector<Val>& xs, int64_t rank) {
  std::vector<Val> out;
  for (const Val& x : xs) out.push_back(at_least(x, rank));
  return out;
}

void require_tensors(const std::vector<Val>& xs, const char* op) {
  require(!xs.empty(), ErrorCode::runtime, fmt::format("{} expects a non-empty TensorList", op));
}

Val reversed(const Val& x, Dims dims) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().reverse(x.id(), std::move(dims)));
}

// Rotated to the right by shift, which may be any integer.
Val rotated(const Val& x, int64_t dim, const SymInt& shift) {
  const SymInt size = x.size(dim);
  if (size == SymInt(0)) return x;
  const SymInt start = mod(-shift, size);
  return concatenate({slice(x, dim, start, size, 1), slice(x, dim, 0, start, 1)}, dim);
}

Val triangle(const Val& x, const SymInt& diagonal, bool lower) {
  Tracer& t = x.tracer();
  require(x.rank() >= 2, ErrorCode::runtime,
          fmt::format("{}: input tensor must have at least 2 dimensions", lower ? "tril" : "triu"));
  const SymInts shape = x.shape();
  const Val row = t.iota(shape, x.rank() - 2, DType::i64);
  const Val column = t.iota(shape, x.rank() - 1, DType::i64);
  const Val offset = column - row, limit = t.constant(diagonal, DType::i64, shape);
  return where(lower ? le(offset, limit) : ge(offset, limit), x, full_like(x, Scalar(0)));
}

Val repeated(const Val& x, const SymInts& repeats) {
  require(repeats.size() >= static_cast<size_t>(x.rank()), ErrorCode::runtime,
          fmt::format("Number of dimensions of repeat dims can not be smaller than number of "
                      "dimensions of tensor; found {} repeats for {} dimensions",
                      repeats.size(), x.rank()));
  const SymInts shape = expand_dims_to(x, static_cast<int64_t>(repeats.size())).shape();
  SymInts split, spread, out;
  for (size_t d = 0; d < repeats.size(); ++d) {
    split.insert(split.end(), {SymInt(1), shape[d]});
    spread.insert(spread.end(), {repeats[d], shape[d]});
    out.push_back(repeats[d] * shape[d]);
  }
  for (const SymInt& n : out)
    require(
        n >= SymInt(0), ErrorCode::runtime,
        fmt::format("Trying to create tensor with negative dimension {}: {}; expected repeats of "
                    "at least 0",
                    n.hint(), shape_text(out)));
  return reshape(broadcast_to(reshape(x, split), spread), out);
}

void require_shape_of_view(const Val& src, const SymInts& want) {
  const SymInts have = src.shape();
  const bool fits =
      want.size() == have.size() && std::equal(want.begin(), want.end(), have.begin());
  require(
      fits, ErrorCode::runtime,
      fmt::format("expected src to have a size equal to the slice of self. src size = {}, slice "
                  "size = {}",
                  shape_text(have), shape_text(want)));
}

// A processor copies what lies before, in and behind a slice of whole rows as three pieces of
// memory.
bool is_slice_of_rows(const Val& self, const ViewStep& s) {
  return self.tracer().device().fast_launch && s.kind == ViewStep::Kind::slice &&
         known_equal(s.step, 1) == true && s.dims[0] + 1 < self.rank();
}

Val with_rows_replaced(const Val& self, const ViewStep& s, const Val& rows) {
  const int64_t dim = s.dims[0];
  const SymInt end = s.start + s.count, size = self.size(dim);
  SymInts shape = self.shape();
  shape[static_cast<size_t>(dim)] = s.count;
  std::vector<Val> parts;
  if (SymInt(0) < s.start) parts.push_back(slice(self, dim, 0, s.start, 1));
  parts.push_back(reshape(rows, shape));
  if (end < size) parts.push_back(slice(self, dim, end, size, 1));
  return concatenate(parts, dim);
}

Val written_through(Tracer& t, const Val& self, const Val& src, const char* view, Arguments rest) {
  rest.insert(rest.begin(), Tracer::Argument(self));
  const View v = find_view(view)(t, {{meta_of(self)}}, rest)[0];
  require_shape_of_view(src, view_of(self, v).shape());
  const Val written = convert(src, self.dtype());
  if (!v.steps.empty() && is_slice_of_rows(self, v.steps[0]))
    return with_rows_replaced(self, v.steps[0], written);
  return write_through(self, v, written);
}

// How ATen's copy of a tensor and its storage lies: as the tensor, unless that overlaps itself.
TensorMeta storage_copy(Tracer& t, const Val& self) {
  const MemoryPlace place = t.place_of(self);
  TensorMeta copy = meta_of(self);
  for (size_t d = 0; d < copy.sizes.size(); ++d) {
    if (known_equal(place.strides[d], 0) != true || known_equal(copy.sizes[d], 1) == true) continue;
    copy.strides = preserved_strides(copy.sizes, place.strides);
    return copy;
  }
  copy.strides = place.strides;
  copy.storage_offset = place.offset;
  return copy;
}

// From the first element to behind the last one.
SymInt extent(const SymInts& sizes, const SymInts& strides) {
  SymInt last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

}  // namespace

Val cat::decompose(Tracer& t, const std::vector<Val>& tensors, int64_t dim) {
  return joined(tensors, dim);
}

Val stack::decompose(Tracer& t, const std::vector<Val>& tensors, int64_t dim) {
  require(!tensors.empty(), ErrorCode::runtime, "stack expects a non-empty TensorList");
  const SymInts first = tensors[0].shape();
  const int64_t d = wrap_dim(dim, static_cast<int64_t>(first.size()) + 1);
  std::vector<Val> rows;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const SymInts shape = tensors[i].shape();
    const bool equal =
        shape.size() == first.size() && std::equal(shape.begin(), shape.end(), first.begin());
    require(
        equal, ErrorCode::runtime,
        fmt::format("stack expects each tensor to be equal size, but got {} at entry 0 and {} at "
                    "entry {}",
                    shape_text(first), shape_text(shape), i));
    rows.push_back(unsqueeze(tensors[i], d));
  }
  return joined(rows, d);
}

Val hstack::decompose(Tracer& t, const std::vector<Val>& tensors) {
  require_tensors(tensors, "hstack");
  const auto xs = all_at_least(tensors, 1);
  return joined(xs, xs.empty() || xs[0].rank() == 1 ? 0 : 1);
}
Val vstack::decompose(Tracer& t, const std::vector<Val>& tensors) {
  require_tensors(tensors, "vstack");
  return joined(all_at_least(tensors, 2), 0);
}
Val dstack::decompose(Tracer& t, const std::vector<Val>& tensors) {
  require_tensors(tensors, "dstack");
  return joined(all_at_least(tensors, 3), 2);
}
Val column_stack::decompose(Tracer& t, const std::vector<Val>& tensors) {
  require_tensors(tensors, "column_stack");
  std::vector<Val> columns;
  for (const Val& x : tensors)
    columns.push_back(x.rank() <= 1 ? reshape(x, {x.numel(), SymInt(1)}) : x);
  return joined(columns, 1);
}

Val flip::decompose(Tracer& t, const Val& self, const Dims& dims) {
  return reversed(self, wrap_dims(dims, self.rank(), false));
}
Val fliplr::decompose(Tracer& t, const Val& self) {
  require(self.rank() >= 2, ErrorCode::runtime, "Input must be >= 2-d.");
  return reversed(self, {1});
}
Val flipud::decompose(Tracer& t, const Val& self) {
  require(self.rank() >= 1, ErrorCode::runtime, "Input must be >= 1-d.");
  return reversed(self, {0});
}

Val roll::decompose(Tracer& t, const Val& self, const SymInts& shifts, const Dims& dims) {
  require(!shifts.empty(), ErrorCode::runtime, "`shifts` required");
  if (dims.empty() && shifts.size() == 1)
    return reshape(rotated(reshape(self, {self.numel()}), 0, shifts[0]), self.shape());
  require(shifts.size() == dims.size(), ErrorCode::runtime,
          fmt::format("shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(),
                      dims.size()));
  Val x = self;
  for (size_t i = 0; i < dims.size(); ++i) x = rotated(x, wrap_dim(dims[i], x.rank()), shifts[i]);
  return x;
}

Val rot90::decompose(Tracer& t, const Val& self, int64_t k, const Dims& dims) {
  require(dims.size() == 2, ErrorCode::runtime,
          fmt::format("expected total rotation dims == 2, but got dims = {}", dims.size()));
  require(self.rank() >= 2, ErrorCode::runtime,
          fmt::format("expected total dims >= 2, but got total dims = {}", self.rank()));
  const int64_t a = wrap_dim(dims[0], self.rank()), b = wrap_dim(dims[1], self.rank());
  require(a != b, ErrorCode::runtime,
          fmt::format("expected rotation dims to be different, but got dim0 = {} and dim1 = {}",
                      dims[0], dims[1]));
  Dims order(static_cast<size_t>(self.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  switch ((k % 4 + 4) % 4) {
    case 1:
      return transpose(reversed(self, {b}), order);
    case 2:
      return reversed(self, {a, b});
    case 3:
      return transpose(reversed(self, {a}), order);
    default:
      return self;
  }
}

Val tril::decompose(Tracer& t, const Val& self, SymInt diagonal) {
  return triangle(self, diagonal, true);
}
Val triu::decompose(Tracer& t, const Val& self, SymInt diagonal) {
  return triangle(self, diagonal, false);
}

Val constant_pad_nd::decompose(Tracer& t, const Val& self, const SymInts& pad,
                               const ScalarArg& value) {
  require(pad.size() % 2 == 0, ErrorCode::runtime,
          fmt::format("Length of pad must be even but instead it equals {}", pad.size()));
  const auto rank = static_cast<size_t>(self.rank());
  require(pad.size() / 2 <= rank, ErrorCode::runtime,
          fmt::format("Length of pad should be no more than twice the number of dimensions of the "
                      "input. Pad length is {}while the input has {}dimensions.",
                      pad.size(), rank));
  SymInts low(rank, SymInt(0)), high(rank, SymInt(0));
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = rank - 1 - i;
    low[d] = pad[2 * i];
    high[d] = pad[2 * i + 1];
    // What is taken away is taken from the front first.
    const SymInt size = self.size(static_cast<int64_t>(d));
    require(size + min(low[d], 0) + min(high[d], 0) >= SymInt(0), ErrorCode::runtime,
            fmt::format("narrow(): length must be non-negative. pad takes more from dimension {} "
                        "than its size {}",
                        d, size.hint()));
  }
  const Val filler = t.fitting_scalar(value, self.dtype());
  return t.wrap(t.builder().pad(self.id(), filler.id(), low, high, SymInts(rank, SymInt(0))));
}

Val repeat::decompose(Tracer& t, const Val& self, const SymInts& repeats) {
  return repeated(self, repeats);
}

Val tile::decompose(Tracer& t, const Val& self, const SymInts& dims) {
  SymInts repeats = dims;
  while (repeats.size() < static_cast<size_t>(self.rank())) repeats.insert(repeats.begin(), 1);
  return repeated(self, repeats);
}

// Copies beside each other that are fewer than a processor's vector has elements, which it fills by
// their places instead.
static bool are_few_neighbours(const Val& x, int64_t dim, const SymInt& copies) {
  constexpr int64_t kVector = 16;
  return x.tracer().device().fast_launch && dim + 1 == x.rank() && !x.is_empty() &&
         SymInt(1) < copies && copies < SymInt(kVector);
}

Val repeat_interleave_int::decompose(Tracer& t, const Val& self, SymInt repeats,
                                     const std::optional<int64_t>& dim,
                                     const std::optional<SymInt>& output_size) {
  require(repeats >= SymInt(0), ErrorCode::runtime, "Repeats must be non-negative");
  const Val x = dim ? self : reshape(self, {self.numel()});
  const int64_t d = dim ? wrap_dim(*dim, x.rank()) : 0;
  SymInts shape = at_least(x, 1).shape(), spread = shape;
  if (are_few_neighbours(x, d, repeats)) {
    const SymInt size = shape[static_cast<size_t>(d)] * repeats;
    return at_places(x, {d}, {quotient(t.iota({size}, 0, place_type(size)), repeats, size)});
  }
  spread.insert(spread.begin() + d + 1, repeats);
  const Val copies = broadcast_to(unsqueeze(at_least(x, 1), d + 1), spread);
  shape[static_cast<size_t>(d)] *= repeats;
  return reshape(copies, shape);
}

Val diag_embed::decompose(Tracer& t, const Val& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t rank = self.rank() + 1;
  const int64_t a = wrap_dim(dim1, rank), b = wrap_dim(dim2, rank);
  require(a != b, ErrorCode::runtime,
          fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  const SymInt size = self.size(-1) + (offset < 0 ? -SymInt(offset) : SymInt(offset));
  SymInts shape = self.shape();
  shape.pop_back();
  shape.insert(shape.begin() + std::min(a, b), size);
  shape.insert(shape.begin() + std::max(a, b), size);
  const Val zeros = t.constant(0, self.dtype(), shape);
  return written_through(t, zeros, self, "diagonal", {offset, a, b});
}

Val select_scatter::decompose(Tracer& t, const Val& self, const Val& src, int64_t dim,
                              SymInt index) {
  return written_through(t, self, src, "select", {dim, index});
}
Val slice_scatter::decompose(Tracer& t, const Val& self, const Val& src, int64_t dim,
                             const std::optional<SymInt>& start, const std::optional<SymInt>& end,
                             SymInt step) {
  return written_through(t, self, src, "slice", {dim, start, end, step});
}
Val diagonal_scatter::decompose(Tracer& t, const Val& self, const Val& src, int64_t offset,
                                int64_t dim1, int64_t dim2) {
  return written_through(t, self, src, "diagonal", {offset, dim1, dim2});
}

// ATen copies self with its storage and writes into that: where self is not dense, or starts
// further on, its elements are only some of those.
Val as_strided_scatter::decompose(Tracer& t, const Val& self, const Val& src, const SymInts& size,
                                  const SymInts& stride,
                                  const std::optional<SymInt>& storage_offset) {
  const TensorMeta copy = storage_copy(t, self);
  const View v = find_view("as_strided")(t, {{copy}},
                                         {Tracer::Argument(self), size, stride, storage_offset})[0];
  require_shape_of_view(src, v.steps[0].sizes);
  if (src.is_empty()) return self;
  // Of the storage no more is known than that it begins at 0 and has all of self.
  const SymInt& start = v.steps[0].start;
  const SymInt own_extent = extent(copy.sizes, copy.strides);
  require_in_storage(size, stride, copy.storage_offset + start, self.dtype(),
                     copy.storage_offset + own_extent);
  if (self.is_empty()) return self;
  const Val given = convert(src, self.dtype());
  if (!(start < SymInt(0)) && is_contiguous(copy.sizes, copy.strides))
    return write_through(self, v, given);
  const SymInt before = start < SymInt(0) ? -start : SymInt(0);
  const ViewStep own{ViewStep::Kind::strided, {}, copy.sizes, copy.strides, before};
  const ViewStep written{ViewStep::Kind::strided, {}, size, stride, start + before};
  Val memory = t.constant(0, self.dtype(), {own_extent + before});
  memory = write_through(memory, {{own}}, self);
  memory = write_through(memory, {{written}}, given);
  return view_of(memory, own);
}

Val pixel_shuffle::decompose(Tracer& t, const Val& self, int64_t factor) {
  require(
      self.rank() >= 3, ErrorCode::runtime,
      fmt::format("pixel_shuffle expects input to have at least 3 dimensions, but got input with "
                  "{} dimension(s)",
                  self.rank()));
  require(factor > 0, ErrorCode::runtime,
          fmt::format("pixel_shuffle expects a positive upscale_factor, but got {}", factor));
  const SymInts shape = self.shape();
  const SymInt c = self.size(-3), h = self.size(-2), w = self.size(-1);
  const SymInt squared = SymInt(factor) * SymInt(factor);
  require(
      mod(c, squared) == SymInt(0), ErrorCode::runtime,
      fmt::format("pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
                  "square of upscale_factor, but input.size(-3)={} is not divisible by {}",
                  c.hint(), squared.hint()));
  const SymInts outer(shape.begin(), shape.end() - 3);
  const SymInt channels = floor_div(c, squared);
  SymInts split = outer, out = outer;
  split.insert(split.end(), {channels, SymInt(factor), SymInt(factor), h, w});
  out.insert(out.end(), {channels, h * factor, w * factor});
  const auto n = static_cast<int64_t>(outer.size());
  Dims order(outer.size());
  std::iota(order.begin(), order.end(), 0);
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(n + d);
  return reshape(transpose(reshape(self, split), order), out);
}

Val pixel_unshuffle::decompose(Tracer& t, const Val& self, int64_t factor) {
  require(self.rank() >= 3, ErrorCode::runtime,
          fmt::format("pixel_unshuffle expects input to have at least 3 dimensions, but got input "
                      "with {} dimension(s)",
                      self.rank()));
  require(factor > 0, ErrorCode::runtime,
          fmt::format("pixel_unshuffle expects a positive downscale_factor, but got {}", factor));
  const SymInts shape = self.shape();
  const SymInt c = self.size(-3);
  const auto require_divisible = [&](int64_t dim, const char* name) {
    require(mod(self.size(dim), factor) == SymInt(0), ErrorCode::runtime,
            fmt::format("pixel_unshuffle expects {} to be divisible by downscale_factor, but "
                        "input.size({})={} is not divisible by {}",
                        name, dim, self.size(dim).hint(), factor));
  };
  require_divisible(-2, "height");
  require_divisible(-1, "width");
  if (self.is_empty()) return self;  // as it is, in ATen
  const SymInt h = floor_div(self.size(-2), factor), w = floor_div(self.size(-1), factor);
  const SymInts outer(shape.begin(), shape.end() - 3);
  SymInts split = outer, out = outer;
  split.insert(split.end(), {c, h, SymInt(factor), w, SymInt(factor)});
  out.insert(out.end(), {c * SymInt(factor) * SymInt(factor), h, w});
  const auto n = static_cast<int64_t>(outer.size());
  Dims order(outer.size());
  std::iota(order.begin(), order.end(), 0);
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(n + d);
  return reshape(transpose(reshape(self, split), order), out);
}

Val channel_shuffle::decompose(Tracer& t, const Val& self, SymInt groups) {
  require(self.rank() > 2, ErrorCode::runtime,
          fmt::format("channel_shuffle expects input with > 2 dims, but got input with sizes {}",
                      shape_text(self.shape())));
  const SymInts shape = self.shape();
  require(groups > SymInt(0), ErrorCode::runtime,
          fmt::format("Number of groups to divide channels in must be positive. Value of groups:{}",
                      groups.hint()));
  require(mod(shape[1], groups) == SymInt(0), ErrorCode::runtime,
          fmt::format("Number of channels must be divisible by groups. Got {} channels and {} "
                      "groups.",
                      shape[1].hint(), groups.hint()));
  SymInts split = shape;
  split[1] = floor_div(shape[1], groups);
  split.insert(split.begin() + 1, groups);
  Dims order(split.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[1], order[2]);
  return reshape(transpose(reshape(self, split), order), shape);
}

}  // namespace primset::decomps
