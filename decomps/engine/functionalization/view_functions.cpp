// The view operators, each as the steps from its argument to its view.
#include "decomps/engine/functionalization/view_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "decomps/engine/boxing.h"
#include "decomps/engine/functionalization/view_lists.h"

namespace primset::decomps {

template <>
TensorMeta unbox<TensorMeta>(Tracer& t, const Tracer::Argument& a);
template <>
TensorMeta unbox<TensorMeta>(Tracer& t, const Tracer::Argument& a) {
  return meta_of(unbox<Val>(t, a));
}

// A namespace of their own: tracer.h has functions over values of the same names.
namespace view_operators {
namespace {

using Dims = std::vector<int64_t>;
using Kind = ViewStep::Kind;
using Views = std::vector<View>;

int64_t rank_of(const TensorMeta& t) {
  return static_cast<int64_t>(t.sizes.size());
}
SymInt size_of(const TensorMeta& t, int64_t dim) {
  require(!t.sizes.empty(), ErrorCode::index,
          fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  return t.sizes[static_cast<size_t>(dim)];
}

Views one(ViewStep step) {
  return {View{{std::move(step)}}};
}
Views same() {
  return {View{}};
}

ViewStep permute_step(Dims permutation) {
  return {Kind::permute, std::move(permutation)};
}
ViewStep reshape_step(SymInts sizes) {
  return {Kind::reshape, {}, std::move(sizes)};
}
ViewStep slice_step(int64_t dim, SymInt start, SymInt count, SymInt step = 1) {
  return {Kind::slice, {dim}, {}, {}, start, step, count};
}
ViewStep squeeze_step(Dims dims) {
  return {Kind::squeeze, std::move(dims)};
}
ViewStep expand_step(SymInts sizes) {
  return {Kind::expand, {}, std::move(sizes)};
}

Dims identity(int64_t rank) {
  Dims dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

std::string list_text(const SymInts& list) {
  Dims hints;
  for (const SymInt& s : list) hints.push_back(s.hint());
  return fmt::format("[{}]", fmt::join(hints, ", "));
}

// --- shapes ---

// at::infer_size: one -1 stands for what is left.
SymInts inferred(const SymInts& shape, const SymInt& numel) {
  SymInts out = shape;
  SymInt known = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == SymInt(-1)) {
      require(!open, ErrorCode::runtime,
              fmt::format("only one dimension can be inferred; expected at most one -1 in shape {}",
                          list_text(shape)));
      open = d;
      continue;
    }
    require(shape[d] >= SymInt(0), ErrorCode::runtime,
            fmt::format("invalid shape dimension {} at index {} of shape {}", shape[d].hint(), d,
                        list_text(shape)));
    known *= shape[d];
  }
  const std::string mismatch =
      fmt::format("shape '{}' is invalid for input of size {}; expected sizes that multiply to {}",
                  list_text(shape), numel.hint(), numel.hint());
  if (!open) {
    require(known == numel, ErrorCode::runtime, mismatch);
    return out;
  }
  require(!(known == SymInt(0)), ErrorCode::runtime,
          fmt::format("cannot reshape tensor of {} elements into shape {} because the unspecified "
                      "dimension size -1 can be any value and is ambiguous",
                      numel.hint(), list_text(shape)));
  require(mod(numel, known) == SymInt(0), ErrorCode::runtime, mismatch);
  out[*open] = floor_div(numel, known);
  return out;
}

Views view(const TensorMeta& self, const SymInts& size) {
  return one(reshape_step(inferred(size, prims::product(self.sizes))));
}

Views reshape(const TensorMeta& self, const SymInts& size) {
  Views views = view(self, size);
  views[0].may_copy = true;
  return views;
}

Views view_as(const TensorMeta& self, const TensorMeta& other) {
  return view(self, other.sizes);
}
Views reshape_as(const TensorMeta& self, const TensorMeta& other) {
  return reshape(self, other.sizes);
}

Views flatten(const TensorMeta& self, int64_t start, int64_t end) {
  const int64_t rank = rank_of(self);
  start = wrap_dim(start, rank);
  end = wrap_dim(end, rank);
  require(start <= end, ErrorCode::runtime,
          fmt::format(
              "flatten() has invalid args: start_dim cannot come after end_dim; found {} and {} "
              "of {} dimensions",
              start, end, rank));
  if (rank == 0) return reshape(self, {1});
  if (start == end) {
    Views views = same();
    views[0].returns_self = true;
    return views;
  }
  SymInts shape(self.sizes.begin(), self.sizes.begin() + start);
  SymInt joined = 1;
  for (int64_t d = start; d <= end; ++d) joined *= size_of(self, d);
  shape.push_back(joined);
  shape.insert(shape.end(), self.sizes.begin() + end + 1, self.sizes.end());
  return reshape(self, shape);
}

Views ravel(const TensorMeta& self) {
  Views views = reshape(self, {prims::product(self.sizes)});
  views[0].format = MemoryFormat::contiguous;
  return views;
}

Views unflatten(const TensorMeta& self, int64_t dim, const SymInts& sizes) {
  dim = wrap_dim(dim, rank_of(self));
  require(!sizes.empty(), ErrorCode::runtime, "unflatten: sizes must be non-empty");
  const SymInts inner = inferred(sizes, size_of(self, dim));
  SymInts shape(self.sizes.begin(), self.sizes.begin() + dim);
  shape.insert(shape.end(), inner.begin(), inner.end());
  shape.insert(shape.end(), self.sizes.begin() + dim + 1, self.sizes.end());
  return one(reshape_step(shape));
}

Views unsqueeze(const TensorMeta& self, int64_t dim) {
  return one({Kind::unsqueeze, {wrap_dim(dim, rank_of(self) + 1)}});
}

Views squeeze_all(const TensorMeta& self) {
  Dims dims;
  for (int64_t d = 0; d < rank_of(self); ++d) {
    if (size_of(self, d) == SymInt(1)) dims.push_back(d);
  }
  return one(squeeze_step(dims));
}

Views squeeze_dims(const TensorMeta& self, const Dims& dims) {
  Dims ones;
  for (int64_t d : wrap_dims(dims, rank_of(self), false)) {
    if (size_of(self, d) == SymInt(1)) ones.push_back(d);
  }
  return one(squeeze_step(ones));
}

Views squeeze_dim(const TensorMeta& self, int64_t dim) {
  return squeeze_dims(self, {dim});
}

// --- order of dims ---

Views permute(const TensorMeta& self, const Dims& dims) {
  const int64_t rank = rank_of(self);
  require(
      static_cast<int64_t>(dims.size()) == rank, ErrorCode::runtime,
      fmt::format("permute(sparse_coo): number of dimensions in the tensor input does not match "
                  "the length of the desired ordering of dimensions i.e. input.dim() = {} is "
                  "not equal to len(dims) = {}",
                  rank, dims.size()));
  Dims wrapped;
  for (int64_t d : dims) {
    wrapped.push_back(wrap_dim(d, rank));
    require(
        std::count(wrapped.begin(), wrapped.end(), wrapped.back()) == 1, ErrorCode::runtime,
        fmt::format("permute(): duplicate dims are not allowed. Found dim {} twice; expected each "
                    "of the {} dimensions once",
                    d, rank));
  }
  return one(permute_step(wrapped));
}

Views transpose(const TensorMeta& self, int64_t a, int64_t b) {
  a = wrap_dim(a, rank_of(self));
  b = wrap_dim(b, rank_of(self));
  Dims order = identity(rank_of(self));
  if (!order.empty()) std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return one(permute_step(order));
}

Views t(const TensorMeta& self) {
  require(rank_of(self) <= 2, ErrorCode::runtime,
          fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D", rank_of(self)));
  return rank_of(self) < 2 ? same() : transpose(self, 0, 1);
}

Views numpy_t(const TensorMeta& self) {
  Dims order = identity(rank_of(self));
  std::reverse(order.begin(), order.end());
  return one(permute_step(order));
}

Views matrix_transpose(const TensorMeta& self) {
  require(rank_of(self) != 1, ErrorCode::runtime,
          "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return rank_of(self) == 0 ? same() : transpose(self, -2, -1);
}

Views adjoint(const TensorMeta& self) {
  require(rank_of(self) != 1, ErrorCode::runtime,
          "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  Views views = rank_of(self) == 0 ? same() : transpose(self, -2, -1);
  if (is_complex(self.dtype)) views[0].steps.push_back({Kind::conj});
  return views;
}

Views matrix_adjoint(const TensorMeta& self) {
  require(
      rank_of(self) == 0 || rank_of(self) == 2, ErrorCode::runtime,
      fmt::format("tensor.H is only supported on matrices (2-D tensors). Got {}-D tensor.{}",
                  rank_of(self),
                  rank_of(self) > 2 ? " For batches of matrices, consider using tensor.mH" : ""));
  return adjoint(self);
}

// The dims that are named go to their places; the others fill the places left, in their order.
Views movedim(const TensorMeta& self, const Dims& from, const Dims& to) {
  const int64_t rank = rank_of(self);
  require(
      from.size() == to.size(), ErrorCode::runtime,
      fmt::format("movedim: Invalid source or destination dims: source ({} dims) should contain "
                  "the same number of dims as destination ({} dims)",
                  from.size(), to.size()));
  Dims order(static_cast<size_t>(rank), -1), rest;
  Dims sources;
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t source = wrap_dim(from[i], rank), place = wrap_dim(to[i], rank);
    if (rank == 0) continue;
    require(std::count(sources.begin(), sources.end(), source) == 0, ErrorCode::runtime,
            "movedim: repeated dim in `source`");
    require(order[static_cast<size_t>(place)] < 0, ErrorCode::runtime,
            "movedim: repeated dim in `destination`");
    sources.push_back(source);
    order[static_cast<size_t>(place)] = source;
  }
  int64_t next = 0;
  for (int64_t& o : order) {
    if (o >= 0) continue;
    while (std::count(sources.begin(), sources.end(), next)) ++next;
    o = next++;
  }
  return one(permute_step(order));
}
Views movedim_int(const TensorMeta& self, int64_t from, int64_t to) {
  return movedim(self, Dims{from}, Dims{to});
}

// --- parts ---

Views select(const TensorMeta& self, int64_t dim, SymInt index) {
  require(rank_of(self) > 0, ErrorCode::index, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, rank_of(self));
  const SymInt size = size_of(self, dim);
  if (index.hint() < -size.hint() || index.hint() >= size.hint())
    fail(ErrorCode::index,
         fmt::format("select(): index {} out of range for tensor of size {} at dimension {}",
                     index.hint(), list_text(self.sizes), dim));
  require(index >= -size && index < size, ErrorCode::internal, "a guard contradicts its hint");
  if (index < SymInt(0)) index += size;
  return {View{{slice_step(dim, index, 1), squeeze_step({dim})}}};
}

Views slice(const TensorMeta& self, int64_t dim, const std::optional<SymInt>& start,
            const std::optional<SymInt>& end, const SymInt& step) {
  require(rank_of(self) > 0, ErrorCode::index, "slice() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, rank_of(self));
  require(step > SymInt(0), ErrorCode::runtime, "slice step must be positive");
  const SymInt size = size_of(self, dim);
  const bool whole = !end || (end->is_constant() && end->constant() == INT64_MAX);
  const SliceBounds b =
      clamped_slice_bounds(size, start.value_or(SymInt(0)), whole ? size : *end, step);
  return one(slice_step(dim, b.start, b.count, step));
}

Views narrow(const TensorMeta& self, int64_t dim, SymInt start, const SymInt& length) {
  require(rank_of(self) > 0, ErrorCode::runtime, "narrow() cannot be applied to a 0-dim tensor.");
  require(length >= SymInt(0), ErrorCode::runtime,
          fmt::format("narrow(): length must be non-negative. Found length {}", length.hint()));
  dim = wrap_dim(dim, rank_of(self));
  const SymInt size = size_of(self, dim);
  if (start.hint() < -size.hint() || start.hint() > size.hint())
    fail(ErrorCode::index, fmt::format("start out of range (expected to be in range of [{}, {}], "
                                       "but got {})",
                                       -size.hint(), size.hint(), start.hint()));
  require(start >= -size && start <= size, ErrorCode::internal, "a guard contradicts its hint");
  if (start < SymInt(0)) start += size;
  require(start + length <= size, ErrorCode::runtime,
          fmt::format("start ({}) + length ({}) exceeds dimension size ({}).", start.hint(),
                      length.hint(), size.hint()));
  return one(slice_step(dim, start, length));
}

// A list of views is part of a plan: as many as no program wants are refused, before they are made.
size_t check_view_count(const char* op, int64_t count) {
  constexpr int64_t kMostViews = int64_t{1} << 20;
  require(count <= kMostViews, ErrorCode::value,
          fmt::format("{}: {} views of a tensor in one call; at most {} are made", op, count,
                      kMostViews));
  return static_cast<size_t>(count);
}

Views parts_of_sizes(const TensorMeta& self, const SymInts& sizes, int64_t dim) {
  Views views;
  SymInt at = 0;
  for (const SymInt& size : sizes) {
    views.push_back(View{{slice_step(dim, at, size)}});
    at += size;
  }
  return views;
}

Views split_with_sizes(const TensorMeta& self, const SymInts& sizes, int64_t dim) {
  require(rank_of(self) > 0, ErrorCode::runtime, "split expects at least a 1-dimensional tensor");
  dim = wrap_dim(dim, rank_of(self));
  SymInt sum = 0;
  for (const SymInt& s : sizes) {
    require(s >= SymInt(0), ErrorCode::runtime,
            fmt::format("split_with_sizes expects split_sizes have only non-negative entries, but "
                        "got split_sizes={}",
                        list_text(sizes)));
    sum += s;
  }
  require(sum == size_of(self, dim), ErrorCode::runtime,
          fmt::format("split_with_sizes expects split_sizes to sum exactly to {} (input tensor's "
                      "size at dimension {}), but got split_sizes={}",
                      size_of(self, dim).hint(), dim, list_text(sizes)));
  return parts_of_sizes(self, sizes, dim);
}

// The number of parts is part of the plan, so the sizes that decide it become constants.
Views split(const TensorMeta& self, const SymInt& split_size, int64_t dim) {
  require(rank_of(self) > 0, ErrorCode::runtime, "split expects at least a 1-dimensional tensor");
  dim = wrap_dim(dim, rank_of(self));
  require(split_size >= SymInt(0), ErrorCode::runtime,
          fmt::format("split expects split_size be non-negative, but got split_size={}",
                      split_size.hint()));
  const SymInt size = size_of(self, dim);
  if (split_size == SymInt(0)) {
    require(size == SymInt(0), ErrorCode::runtime,
            fmt::format("split_size can only be 0 if dimension size is 0, but got dimension size "
                        "of {}",
                        size.hint()));
    return {View{{slice_step(dim, 0, 0)}}};
  }
  const int64_t count = std::max<int64_t>(ceil_div(size, split_size).specialize(), 1);
  SymInts sizes(check_view_count("split", count), split_size);
  sizes.back() = size - split_size * (count - 1);
  return parts_of_sizes(self, sizes, dim);
}

Views chunk(const TensorMeta& self, int64_t chunks, int64_t dim) {
  require(rank_of(self) > 0, ErrorCode::runtime, "chunk expects at least a 1-dimensional tensor");
  require(chunks > 0, ErrorCode::runtime,
          fmt::format("chunk expects `chunks` to be greater than 0, got: {}", chunks));
  dim = wrap_dim(dim, rank_of(self));
  const SymInt size = size_of(self, dim);
  const SymInt split_size = ceil_div(size, chunks);
  if (split_size == SymInt(0))
    return parts_of_sizes(self, SymInts(check_view_count("chunk", chunks), SymInt(0)), dim);
  return split(self, split_size, dim);
}

Views tensor_split_sections(const TensorMeta& self, const SymInt& sections, int64_t dim) {
  require(rank_of(self) > 0, ErrorCode::runtime,
          "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  dim = wrap_dim(dim, rank_of(self));
  const int64_t n = sections.specialize();
  require(n > 0, ErrorCode::runtime,
          fmt::format("number of sections must be larger than 0, got {}", n));
  check_view_count("tensor_split", n);
  const SymInt size = size_of(self, dim);
  const SymInt small = floor_div(size, n), larger = mod(size, n);
  SymInts sizes;
  for (int64_t i = 0; i < n; ++i) sizes.push_back(small + min(max(larger - i, 0), 1));
  return parts_of_sizes(self, sizes, dim);
}

Views tensor_split_indices(const TensorMeta& self, const SymInts& indices, int64_t dim) {
  require(rank_of(self) > 0, ErrorCode::runtime,
          "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  dim = wrap_dim(dim, rank_of(self));
  Views views;
  SymInt start = 0;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const SymInt size = size_of(self, dim);
    const SymInt end = i < indices.size() ? indices[i] : size;
    const SliceBounds b = clamped_slice_bounds(size, start, end, 1);
    views.push_back(View{{slice_step(dim, b.start, b.count)}});
    start = end;
  }
  return views;
}

// hsplit, vsplit and dsplit: tensor_split along one dim, where sections must divide it.
Views split_evenly(const TensorMeta& self, int64_t sections, int64_t dim, const char* name,
                   int64_t least_rank) {
  require(rank_of(self) >= least_rank, ErrorCode::runtime,
          fmt::format("torch.{} requires a tensor with at least {} dimension{}, but got a tensor "
                      "with {} dimensions!",
                      name, least_rank, least_rank == 1 ? "" : "s", rank_of(self)));
  require(sections != 0 && mod(size_of(self, dim), sections) == SymInt(0), ErrorCode::runtime,
          fmt::format("torch.{} attempted to split along dimension {}, but the size of the "
                      "dimension {} is not divisible by the split_size {}!",
                      name, dim, size_of(self, dim).hint(), sections));
  return tensor_split_sections(self, sections, dim);
}
Views hsplit_int(const TensorMeta& self, int64_t sections) {
  return split_evenly(self, sections, rank_of(self) == 1 ? 0 : 1, "hsplit", 1);
}
Views vsplit_int(const TensorMeta& self, int64_t sections) {
  return split_evenly(self, sections, 0, "vsplit", 2);
}
Views dsplit_int(const TensorMeta& self, int64_t sections) {
  return split_evenly(self, sections, 2, "dsplit", 3);
}
Views hsplit_array(const TensorMeta& self, const SymInts& indices) {
  return tensor_split_indices(self, indices, rank_of(self) == 1 ? 0 : 1);
}
Views vsplit_array(const TensorMeta& self, const SymInts& indices) {
  return tensor_split_indices(self, indices, 0);
}
Views dsplit_array(const TensorMeta& self, const SymInts& indices) {
  return tensor_split_indices(self, indices, 2);
}

Views unbind(const TensorMeta& self, int64_t dim) {
  require(rank_of(self) > 0, ErrorCode::index,
          "Dimension specified as 0 but tensor has no dimensions");
  dim = wrap_dim(dim, rank_of(self));
  Views views;
  const int64_t count = size_of(self, dim).specialize();
  check_view_count("unbind", count);
  for (int64_t i = 0; i < count; ++i)
    views.push_back(View{{slice_step(dim, i, 1), squeeze_step({dim})}});
  return views;
}

Views diagonal(const TensorMeta& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t a = wrap_dim(dim1, rank_of(self)), b = wrap_dim(dim2, rank_of(self));
  require(a != b, ErrorCode::runtime,
          fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  const SymInt size = offset >= 0 ? min(size_of(self, a), size_of(self, b) - offset)
                                  : min(size_of(self, a) + offset, size_of(self, b));
  return one({Kind::diagonal, {a, b}, {}, {}, offset, 1, max(size, 0)});
}

Views unfold(const TensorMeta& self, int64_t dim, int64_t size, int64_t step) {
  dim = wrap_dim(dim, rank_of(self));
  const SymInt extent = rank_of(self) == 0 ? SymInt(1) : size_of(self, dim);
  require(step > 0, ErrorCode::runtime, fmt::format("step is {} but must be > 0", step));
  require(size >= 0, ErrorCode::runtime, fmt::format("size is {} but must be >= 0", size));
  require(SymInt(size) <= extent, ErrorCode::runtime,
          fmt::format("maximum size for tensor at dimension {} is {} but size is {}", dim,
                      extent.hint(), size));
  return one({Kind::unfold, {dim}, {}, {}, 0, step, size});
}

// --- strides ---

// Sizes are matched from the last dim on; -1 keeps a size, and only a size of 1 grows.
Views expand(const TensorMeta& self, const SymInts& size, bool implicit) {
  require(size.size() >= self.sizes.size(), ErrorCode::runtime,
          fmt::format("expand(torch.{}Tensor{{{}}}, size={}): the number of sizes provided ({}) "
                      "must be greater or "
                      "equal to the number of dimensions in the tensor ({})",
                      aten_name(self.dtype), list_text(self.sizes), list_text(size), size.size(),
                      self.sizes.size()));
  SymInts target = size;
  const size_t lead = size.size() - self.sizes.size();
  for (size_t d = 0; d < size.size(); ++d) {
    const bool open = size[d] == SymInt(-1);
    require(!open || d >= lead, ErrorCode::runtime,
            fmt::format("The expanded size of the tensor ({}) isn't allowed in a leading, "
                        "non-existing dimension {}",
                        size[d].hint(), d));
    if (d < lead) continue;
    const SymInt& have = self.sizes[d - lead];
    if (open) target[d] = have;
    if (open || known_equal(have, 1) == true || have == size[d]) continue;
    require(have == SymInt(1), ErrorCode::runtime,
            fmt::format("The expanded size of the tensor ({}) must match the existing size ({}) at "
                        "non-singleton dimension {}.  Target sizes: {}.  Tensor sizes: {}",
                        size[d].hint(), have.hint(), d, list_text(size), list_text(self.sizes)));
  }
  return one(expand_step(target));
}
Views broadcast_to(const TensorMeta& self, const SymInts& size) {
  return expand(self, size, false);
}
Views expand_as(const TensorMeta& self, const TensorMeta& other) {
  return expand(self, other.sizes, false);
}

Views as_strided(const TensorMeta& self, const SymInts& size, const SymInts& stride,
                 const std::optional<SymInt>& offset) {
  require(size.size() == stride.size(), ErrorCode::runtime,
          fmt::format("mismatch in length of strides and shape; found {} strides for {} sizes",
                      stride.size(), size.size()));
  for (const SymInt& s : stride)
    require(s >= SymInt(0), ErrorCode::runtime,
            fmt::format("as_strided: Negative strides are not supported at the moment, got "
                        "strides: {}",
                        list_text(stride)));
  const SymInt start = offset ? *offset - self.storage_offset : SymInt(0);
  return one({Kind::strided, {}, size, stride, start});
}
Views reshape_alias(const TensorMeta& self, const SymInts& size, const SymInts& stride) {
  return as_strided(self, size, stride, std::nullopt);
}

// --- elements ---

Views alias(const TensorMeta& self) {
  return same();
}
Views conj_view(const TensorMeta& self) {
  require(is_complex(self.dtype), ErrorCode::runtime,
          fmt::format("_conj: only complex tensors have a conjugate bit; got {}",
                      aten_name(self.dtype)));
  return one({Kind::conj});
}
Views neg_view(const TensorMeta& self) {
  require(!is_bool(self.dtype), ErrorCode::runtime,
          "Negation, the `-` operator, on a bool tensor is not supported.");
  return one({Kind::neg});
}

Views itself() {
  Views views = same();
  views[0].returns_self = true;
  return views;
}
Views resolved(const TensorMeta& self) {
  return itself();
}
Views positive(const TensorMeta& self) {
  require(!is_bool(self.dtype), ErrorCode::runtime,
          "The `+` operator, on a bool tensor is not supported.");
  return itself();
}
Views conj_if_complex(const TensorMeta& self) {
  return is_complex(self.dtype) ? conj_view(self) : itself();
}
Views real(const TensorMeta& self) {
  return is_complex(self.dtype) ? one({Kind::real}) : itself();
}
Views imag(const TensorMeta& self) {
  require(is_complex(self.dtype), ErrorCode::runtime,
          fmt::format("imag is not implemented for tensors with non-complex dtypes. self is {}",
                      name(self.dtype)));
  return one({Kind::imag});
}
Views view_as_real(const TensorMeta& self) {
  require(is_complex(self.dtype), ErrorCode::runtime,
          fmt::format("view_as_real is only supported for complex tensors; self is {}",
                      name(self.dtype)));
  return one({Kind::as_real});
}
Views view_as_complex(const TensorMeta& self) {
  const bool part =
      self.dtype == DType::f16 || self.dtype == DType::f32 || self.dtype == DType::f64;
  require(part, ErrorCode::runtime,
          fmt::format("view_as_complex is only supported for half, float and double tensors, but "
                      "got a tensor of scalar type: {}",
                      aten_name(self.dtype)));
  require(mod(self.storage_offset, 2) == SymInt(0), ErrorCode::runtime,
          "Tensor must have a storage_offset divisible by 2");
  return one({Kind::as_complex});
}
Views view_dtype(const TensorMeta& self, DType dtype) {
  if (dtype == self.dtype) return same();
  const auto narrow = static_cast<int64_t>(byte_size(self.dtype));
  const auto wide = static_cast<int64_t>(byte_size(dtype));
  if (wide > narrow) {
    require(mod(self.storage_offset, wide / narrow) == SymInt(0), ErrorCode::runtime,
            fmt::format("self.storage_offset() must be divisible by {} to view {} as {} (different "
                        "element sizes)",
                        wide / narrow, aten_name(self.dtype), aten_name(dtype)));
  }
  return one({Kind::bits, {}, {}, {}, 0, 1, 0, dtype});
}

// --- copies where needed ---

Views contiguous(const TensorMeta& self, MemoryFormat format) {
  require(format != MemoryFormat::preserve, ErrorCode::runtime,
          "preserve memory format is unsupported by the contiguous operator");
  View v;
  v.returns_self = v.may_copy = true;
  v.format = format;
  return {v};
}

Views to_type(const TensorMeta& self, DType dtype, bool copy,
              const std::optional<MemoryFormat>& format) {
  View v;
  v.returns_self = v.may_copy = true;
  v.must_copy = copy;
  v.convert = dtype;
  v.any_strides = true;
  v.format = format.value_or(MemoryFormat::preserve);
  return {v};
}
Views to_dtype(const TensorMeta& self, DType dtype, bool non_blocking, bool copy,
               const std::optional<MemoryFormat>& format) {
  return to_type(self, dtype, copy, format);
}
Views to_other(const TensorMeta& self, const TensorMeta& other, bool non_blocking, bool copy,
               const std::optional<MemoryFormat>& format) {
  return to_type(self, other.dtype, copy, format);
}
// Moving to another device is the runtime's business; here it is the same call without one.
Views to_device(const TensorMeta& self, const DeviceArg& device, DType dtype, bool non_blocking,
                bool copy, const std::optional<MemoryFormat>& format) {
  return to_type(self, dtype, copy, format);
}
Views to_dtype_layout(const TensorMeta& self, const std::optional<DType>& dtype,
                      const std::optional<Layout>& layout, const std::optional<DeviceArg>& device,
                      const std::optional<bool>& pin_memory, bool non_blocking, bool copy,
                      const std::optional<MemoryFormat>& format) {
  return to_type(self, dtype.value_or(self.dtype), copy, format);
}
Views type_as(const TensorMeta& self, const TensorMeta& other) {
  Views views = to_type(self, other.dtype, false, std::nullopt);
  views[0].unannotated = true;
  return views;
}
Views atleast(const TensorMeta& self, int64_t rank) {
  View v;
  v.unannotated = true;
  v.returns_self = rank_of(self) >= rank;
  if (v.returns_self) return {v};
  if (rank_of(self) == 0) v.steps.push_back({Kind::unsqueeze, {0}});
  if (rank >= 2 && rank_of(self) < 2) v.steps.push_back({Kind::unsqueeze, {0}});
  if (rank == 3) v.steps.push_back({Kind::unsqueeze, {2}});
  return {v};
}
Views atleast_1d(const TensorMeta& self) {
  return atleast(self, 1);
}
Views atleast_2d(const TensorMeta& self) {
  return atleast(self, 2);
}
Views atleast_3d(const TensorMeta& self) {
  return atleast(self, 3);
}

// ViewBox<&select>::call: the arguments behind self, unboxed.
template <auto f>
struct ViewBox;
template <typename... Params, Views (*f)(const TensorMeta&, Params...)>
struct ViewBox<f> {
  static Views call(Tracer& t, std::span<const TensorMeta> viewed, const Arguments& args) {
    require(args.size() == sizeof...(Params) + 1, ErrorCode::internal,
            "a view function is called with another number of arguments");
    return invoke(t, viewed[0], args, std::index_sequence_for<Params...>());
  }
  template <size_t... I>
  static Views invoke(Tracer& t, const TensorMeta& self, const Arguments& args,
                      std::index_sequence<I...>) {
    return f(self, Unboxed<std::remove_cvref_t<Params>>::get(t, args[I + 1])...);
  }
};

// An alias though the schema does not say so: autograd may not see it, memory does.
template <auto f>
Views unsafe(Tracer& t, std::span<const TensorMeta> viewed, const Arguments& args) {
  Views views = ViewBox<f>::call(t, viewed, args);
  for (View& v : views) v.unannotated = true;
  return views;
}

#define PRIMSET_VIEW_BOX(f) {#f, &ViewBox<&f>::call}
constexpr std::pair<std::string_view, ViewFunction> kViews[] = {
    PRIMSET_VIEW_BOX(adjoint),
    PRIMSET_VIEW_BOX(alias),
    PRIMSET_VIEW_BOX(as_strided),
    PRIMSET_VIEW_BOX(atleast_1d),
    PRIMSET_VIEW_BOX(atleast_2d),
    PRIMSET_VIEW_BOX(atleast_3d),
    PRIMSET_VIEW_BOX(broadcast_to),
    PRIMSET_VIEW_BOX(chunk),
    {"conj", &ViewBox<&conj_if_complex>::call},
    PRIMSET_VIEW_BOX(conj_view),
    PRIMSET_VIEW_BOX(contiguous),
    PRIMSET_VIEW_BOX(diagonal),
    PRIMSET_VIEW_BOX(dsplit_array),
    PRIMSET_VIEW_BOX(dsplit_int),
    PRIMSET_VIEW_BOX(expand),
    PRIMSET_VIEW_BOX(expand_as),
    PRIMSET_VIEW_BOX(flatten),
    PRIMSET_VIEW_BOX(hsplit_array),
    PRIMSET_VIEW_BOX(hsplit_int),
    PRIMSET_VIEW_BOX(imag),
    PRIMSET_VIEW_BOX(matrix_adjoint),
    PRIMSET_VIEW_BOX(matrix_transpose),
    PRIMSET_VIEW_BOX(movedim),
    PRIMSET_VIEW_BOX(movedim_int),
    PRIMSET_VIEW_BOX(narrow),
    PRIMSET_VIEW_BOX(neg_view),
    PRIMSET_VIEW_BOX(numpy_t),
    PRIMSET_VIEW_BOX(permute),
    PRIMSET_VIEW_BOX(positive),
    PRIMSET_VIEW_BOX(ravel),
    PRIMSET_VIEW_BOX(real),
    PRIMSET_VIEW_BOX(reshape),
    PRIMSET_VIEW_BOX(reshape_alias),
    PRIMSET_VIEW_BOX(reshape_as),
    {"itself", &ViewBox<&resolved>::call},
    PRIMSET_VIEW_BOX(select),
    PRIMSET_VIEW_BOX(slice),
    PRIMSET_VIEW_BOX(split),
    PRIMSET_VIEW_BOX(split_with_sizes),
    PRIMSET_VIEW_BOX(squeeze_all),
    PRIMSET_VIEW_BOX(squeeze_dim),
    PRIMSET_VIEW_BOX(squeeze_dims),
    PRIMSET_VIEW_BOX(t),
    PRIMSET_VIEW_BOX(tensor_split_indices),
    PRIMSET_VIEW_BOX(tensor_split_sections),
    PRIMSET_VIEW_BOX(to_dtype),
    PRIMSET_VIEW_BOX(to_other),
    PRIMSET_VIEW_BOX(transpose),
    PRIMSET_VIEW_BOX(to_device),
    PRIMSET_VIEW_BOX(to_dtype_layout),
    PRIMSET_VIEW_BOX(type_as),
    PRIMSET_VIEW_BOX(unbind),
    PRIMSET_VIEW_BOX(unflatten),
    PRIMSET_VIEW_BOX(unfold),
    {"unsafe_chunk", &unsafe<&chunk>},
    {"unsafe_split", &unsafe<&split>},
    {"unsafe_split_with_sizes", &unsafe<&split_with_sizes>},
    {"unsafe_view", &unsafe<&view>},
    PRIMSET_VIEW_BOX(unsqueeze),
    PRIMSET_VIEW_BOX(view),
    PRIMSET_VIEW_BOX(view_as),
    PRIMSET_VIEW_BOX(view_as_complex),
    PRIMSET_VIEW_BOX(view_as_real),
    PRIMSET_VIEW_BOX(view_dtype),
    PRIMSET_VIEW_BOX(vsplit_array),
    PRIMSET_VIEW_BOX(vsplit_int),
};
#undef PRIMSET_VIEW_BOX

}  // namespace
}  // namespace view_operators

ViewFunction find_view(std::string_view function) {
  using view_operators::kViews;
  static const auto* table =
      new std::unordered_map<std::string_view, ViewFunction>(std::begin(kViews), std::end(kViews));
  const auto found = table->find(function);
  return found == table->end() ? find_list_view(function) : found->second;
}

}  // namespace primset::decomps
