#include "decomps/engine/functionalization/view_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Kind = ViewStep::Kind;

size_t dim0(const ViewStep& s) {
  return static_cast<size_t>(s.dims[0]);
}

std::vector<int64_t> inverse(const std::vector<int64_t>& permutation) {
  std::vector<int64_t> out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    out[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return out;
}

template <typename List>
List permuted(const List& list, const std::vector<int64_t>& permutation) {
  List out;
  for (int64_t d : permutation) out.push_back(list[static_cast<size_t>(d)]);
  return out;
}

bool contains(const std::vector<int64_t>& dims, size_t d) {
  return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
}

SymInts without(const SymInts& list, const std::vector<int64_t>& dims) {
  SymInts out;
  for (size_t d = 0; d < list.size(); ++d) {
    if (!contains(dims, d)) out.push_back(list[d]);
  }
  return out;
}

// --- geometry ---

void insert_dim(ViewGeometry& at, size_t d) {
  const SymInt stride = d < at.sizes.size() ? at.sizes[d] * at.strides[d] : SymInt(1);
  at.sizes.insert(at.sizes.begin() + static_cast<std::ptrdiff_t>(d), SymInt(1));
  at.strides.insert(at.strides.begin() + static_cast<std::ptrdiff_t>(d), stride);
}

void expand(ViewGeometry& at, const SymInts& sizes) {
  SymInts strides(sizes.size());
  const size_t lead = sizes.size() - at.sizes.size();
  const bool number = at.sizes.empty();  // all strides are 0
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < lead) continue;  // 0
    const bool repeated =
        known_equal(at.sizes[d - lead], 1) == true && known_equal(sizes[d], 1) != true;
    strides[d] = repeated ? SymInt(0) : at.strides[d - lead];
  }
  // New leading dims of size 1 get the strides that expand gives them.
  for (size_t d = lead; d-- > 0;) {
    if (!number && known_equal(sizes[d], 1) == true)
      strides[d] = d + 1 < sizes.size() ? sizes[d + 1] * strides[d + 1] : SymInt(1);
  }
  at.sizes = sizes;
  at.strides = std::move(strides);
}

void take_diagonal(ViewGeometry& at, const ViewStep& s) {
  const auto d1 = static_cast<size_t>(s.dims[0]), d2 = static_cast<size_t>(s.dims[1]);
  if (!(s.count == SymInt(0))) {
    const bool right = s.start >= SymInt(0);
    at.offset += right ? s.start * at.strides[d2] : -s.start * at.strides[d1];
  }
  const SymInt stride = at.strides[d1] + at.strides[d2];
  at.sizes = without(at.sizes, s.dims);
  at.strides = without(at.strides, s.dims);
  at.sizes.push_back(s.count);
  at.strides.push_back(stride);
}

void take_slice(ViewGeometry& at, const ViewStep& s) {
  at.offset += s.start * at.strides[dim0(s)];
  at.sizes[dim0(s)] = s.count;
  at.strides[dim0(s)] *= s.step;
}

void take_windows(ViewGeometry& at, const ViewStep& s) {
  const SymInt stride = at.sizes.empty() ? SymInt(1) : at.strides[dim0(s)];
  if (!at.sizes.empty()) {
    at.sizes[dim0(s)] = floor_div(at.sizes[dim0(s)] - s.count, s.step) + 1;
    at.strides[dim0(s)] = stride * s.step;
  }
  at.sizes.push_back(s.count);
  at.strides.push_back(stride);
}

void scale(ViewGeometry& at, int64_t factor) {
  for (SymInt& stride : at.strides) stride *= factor;
  at.offset *= factor;
}

void require_divisible(const SymInt& value, int64_t factor, const std::string& text) {
  require(mod(value, factor) == SymInt(0), ErrorCode::runtime, text);
}

// view(dtype): to narrower elements the last dim grows, to wider ones it shrinks.
void reinterpret(ViewGeometry& at, DType to) {
  const auto from_size = static_cast<int64_t>(byte_size(at.dtype)),
             to_size = static_cast<int64_t>(byte_size(to));
  if (from_size == to_size) {
    at.dtype = to;
    return;
  }
  const auto names =
      fmt::format("{} as {} (different element sizes)", aten_name(at.dtype), aten_name(to));
  require(!at.sizes.empty(), ErrorCode::runtime,
          fmt::format("self.dim() cannot be 0 to view {}", names));
  const auto require_dense = [&] {
    require(at.strides.back() == SymInt(1), ErrorCode::runtime,
            fmt::format("self.stride(-1) must be 1 to view {}, but got {}", names,
                        at.strides.back().hint()));
  };
  if (to_size < from_size) {
    require_dense();
    const int64_t ratio = from_size / to_size;
    scale(at, ratio);
    at.sizes.back() *= ratio;
    at.strides.back() = 1;
  } else {
    const int64_t ratio = to_size / from_size;
    require_divisible(at.sizes.back(), ratio,
                      fmt::format("self.size(-1) must be divisible by {} to view {}, but got {}",
                                  ratio, names, at.sizes.back().hint()));
    require_dense();
    at.sizes.back() = floor_div(at.sizes.back(), ratio);
    for (size_t d = 0; d + 1 < at.strides.size(); ++d) {
      require_divisible(
          at.strides[d], ratio,
          fmt::format("self.stride({}) must be divisible by {} to view {}, but got {}", d, ratio,
                      names, at.strides[d].hint()));
      at.strides[d] = floor_div(at.strides[d], ratio);
    }
    at.offset = floor_div(at.offset, ratio);
  }
  at.dtype = to;
}

void take_complex(ViewGeometry& at) {
  require(!at.sizes.empty() && at.sizes.back() == SymInt(2), ErrorCode::runtime,
          fmt::format("Tensor must have a last dimension of size 2; found shape {}",
                      shape_text(at.sizes)));
  require(at.strides.back() == SymInt(1), ErrorCode::runtime,
          "Tensor must have a last dimension with stride 1");
  at.sizes.pop_back();
  at.strides.pop_back();
  for (size_t d = 0; d < at.strides.size(); ++d) {
    // Nobody steps along a dim of one element.
    if (known_equal(at.sizes[d], 1) != true) {
      require_divisible(at.strides[d], 2,
                        "Tensor must have a stride divisible by 2 for all but last dimension");
    }
    at.strides[d] = floor_div(at.strides[d], 2);
  }
  at.offset = floor_div(at.offset, 2);
  at.dtype = at.dtype == DType::f16 ? DType::c32 : complex_type(at.dtype);
}

void take_parts(ViewGeometry& at) {
  scale(at, 2);
  at.sizes.push_back(2);
  at.strides.push_back(1);
  at.dtype = real_type(at.dtype);
}

void take_part(ViewGeometry& at, bool imaginary) {
  scale(at, 2);
  if (imaginary) {
    at.offset += 1;
    at.neg = at.neg != at.conj;  // the imaginary part of a conjugate is negative
  }
  at.conj = false;
  at.dtype = real_type(at.dtype);
}

bool advance_reshape(ViewGeometry& at, const SymInts& sizes) {
  const auto strides = view_strides(at.sizes, at.strides, sizes);
  if (!strides) return false;
  at.sizes = sizes;
  at.strides = *strides;
  return true;
}

// --- values ---

// Index arrays of the two dims of a diagonal, each of its length.
std::array<Val, 2> diagonal_indices(Tracer& t, const ViewStep& s) {
  const Val i = t.iota({s.count}, 0, DType::i64);
  const bool right = s.start >= SymInt(0);
  const Val moved = i + t.constant(right ? s.start : -s.start, DType::i64, {s.count});
  return right ? std::array<Val, 2>{i, moved} : std::array<Val, 2>{moved, i};
}

Val diagonal_of(const Val& x, const ViewStep& s) {
  Tracer& t = x.tracer();
  if (s.start.is_constant())
    return t.prim1(Prim::diagonal, {x},
                   {{"offset", s.start.constant()}, {"dim1", s.dims[0]}, {"dim2", s.dims[1]}});
  const auto index = diagonal_indices(t, s);
  const ValueId gathered = t.builder().gather(x.id(), {index[0].id(), index[1].id()},
                                              {s.dims[0], s.dims[1]}, true, "index");
  const int64_t rank = x.rank() - 1;
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 1);
  order.back() = 0;
  return transpose(t.wrap(gathered), order);
}

Val unfold_of(const Val& x, const ViewStep& s) {
  if (s.count == SymInt(0)) {  // windows of nothing, as many as there are places for them
    SymInts shape = x.shape();
    SymInt& places = shape[static_cast<size_t>(s.dims[0])];
    places = floor_div(places, s.step) + 1;
    shape.emplace_back(0);
    return x.tracer().constant(0, x.dtype(), shape);
  }
  return x.tracer().prim1(Prim::window, {x},
                          {{"dims", s.dims},
                           {"sizes", SymInts{s.count}},
                           {"strides", SymInts{s.step}},
                           {"dilations", SymInts{1}}});
}

Val as_real(const Val& z) {
  return concatenate({unsqueeze(real(z), -1), unsqueeze(imag(z), -1)}, z.rank());
}

Val as_complex(const Val& x) {
  const int64_t last = x.rank() - 1;
  return complex(select(x, last, 0), select(x, last, 1));
}

// Other bytes of the same memory: bitcast splits an element along a new last dim, or joins one.
Val bits_of(const Val& x, DType to) {
  Tracer& t = x.tracer();
  SymInts shape = x.shape();
  const auto from_size = static_cast<int64_t>(byte_size(x.dtype())),
             to_size = static_cast<int64_t>(byte_size(to));
  if (to_size > from_size) {
    const int64_t ratio = to_size / from_size;
    shape.back() = floor_div(shape.back(), ratio);
    shape.push_back(ratio);
    return t.wrap(t.builder().bitcast(reshape(x, shape).id(), to));
  }
  const Val parts = t.wrap(t.builder().bitcast(x.id(), to));
  if (to_size == from_size) return parts;
  shape.back() *= from_size / to_size;
  return reshape(parts, shape);
}

// A value has no memory beyond its elements.
void require_within(const Val& x, const SymInts& sizes, const SymInts& strides,
                    const SymInt& offset) {
  require_in_storage(sizes, strides, offset, x.dtype(), x.numel());
}

Val strided_of(const Val& x, const ViewStep& s) {
  require_within(x, s.sizes, s.strides, s.start);
  return x.tracer().prim1(Prim::as_strided, {x},
                          {{"sizes", s.sizes}, {"strides", s.strides}, {"offset", s.start}});
}

// --- writing through ---

Val write_slice(const Val& base, const ViewStep& s, const Val& written) {
  Tracer& t = base.tracer();
  const int64_t dim = s.dims[0];
  if (s.step == SymInt(1)) {
    std::vector<ValueId> starts;
    for (int64_t d = 0; d < base.rank(); ++d)
      starts.push_back(t.constant(d == dim ? s.start : SymInt(0), DType::i64).id());
    return t.wrap(t.builder().dynamic_update_slice(base.id(), written.id(), std::move(starts)));
  }
  const Val index = t.iota({s.count}, 0, DType::i64) * t.constant(s.step, DType::i64, {s.count}) +
                    t.constant(s.start, DType::i64, {s.count});
  // Scatter's updates have the indexed dim first.
  std::vector<int64_t> order{dim};
  for (int64_t d = 0; d < base.rank(); ++d) {
    if (d != dim) order.push_back(d);
  }
  return t.wrap(t.builder().scatter(Prim::scatter, base.id(), {index.id()},
                                    transpose(written, order).id(), {dim}, true, false, "index"));
}

Val write_diagonal(const Val& base, const ViewStep& s, const Val& written) {
  Tracer& t = base.tracer();
  const auto index = diagonal_indices(t, s);
  std::vector<int64_t> order{written.rank() - 1};
  for (int64_t d = 0; d + 1 < written.rank(); ++d) order.push_back(d);
  std::vector<ValueId> indices = {index[0].id(), index[1].id()};
  std::vector<int64_t> dims = s.dims;
  if (dims[0] > dims[1]) {
    std::swap(dims[0], dims[1]);
    std::swap(indices[0], indices[1]);
  }
  return t.wrap(t.builder().scatter(Prim::scatter, base.id(), indices,
                                    transpose(written, order).id(), dims, true, false, "index"));
}

// Whether no two elements of a view share a place: each dim steps over all that those of lesser
// strides reach.
bool has_own_places(const ViewGeometry& view) {
  std::vector<size_t> dims(view.sizes.size());
  std::iota(dims.begin(), dims.end(), size_t{0});
  std::ranges::sort(dims, {}, [&](size_t d) { return view.strides[d].hint(); });
  SymInt reach = 1;
  for (const size_t d : dims) {
    if (view.sizes[d] == SymInt(1)) continue;
    if (view.strides[d] < reach) return false;
    reach += view.strides[d] * (view.sizes[d] - 1);
  }
  return true;
}

// Any view whatsoever: where each of its elements stands in the flat base.
Val write_strided(const Val& base, const ViewGeometry& view, const Val& written) {
  Tracer& t = base.tracer();
  require_within(base, view.sizes, view.strides, view.offset);
  Val index = t.constant(view.offset, DType::i64, view.sizes);
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    index = index + t.iota(view.sizes, static_cast<int64_t>(d), DType::i64) *
                        t.constant(view.strides[d], DType::i64, view.sizes);
  }
  const Val flat = reshape(base, {base.numel()});
  const ValueId scattered =
      t.builder().scatter(Prim::scatter, flat.id(), {index.id()}, written.id(), {0}, true,
                          !has_own_places(view), "index");
  return reshape(t.wrap(scattered), base.shape());
}

// Functionalization of one step: the base as it is after `written`, of the step's shape, was stored
// through it. A step that moves all elements is inverted; one that shows a part of them updates the
// base; expand, which shows an element many times, cannot be written.
Val write_step(const Val& base, const ViewStep& s, const Val& written) {
  switch (s.kind) {
    case Kind::permute:
      return transpose(written, inverse(s.dims));
    case Kind::reshape:
    case Kind::squeeze:
    case Kind::unsqueeze:
      return reshape(written, base.shape());
    case Kind::slice:
      return write_slice(base, s, written);
    case Kind::diagonal:
      return write_diagonal(base, s, written);
    case Kind::expand:
      fail(ErrorCode::runtime,
           "unsupported operation: more than one element of the written-to tensor refers to a "
           "single memory location. Please clone() the tensor before performing the operation.");
    case Kind::unfold:
    case Kind::strided: {
      ViewGeometry at = geometry_of(meta_of(base));
      advance(at, s);
      return write_strided(base, at, written);
    }
    case Kind::real:
      return complex(written, imag(base));
    case Kind::imag:
      return complex(real(base), written);
    case Kind::as_real:
      return as_complex(written);
    case Kind::as_complex:
      return as_real(written);
    case Kind::conj:
      return conj(written);
    case Kind::neg:
      return -written;
    case Kind::bits:
      return reshape(bits_of(written, base.dtype()), base.shape());
  }
  fail(ErrorCode::internal, "a view step of an unknown kind");
}

}  // namespace

void require_in_storage(const SymInts& sizes, const SymInts& strides, const SymInt& offset,
                        DType dtype, const SymInt& elements) {
  SymInt end = offset + SymInt(1);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == SymInt(0)) return;
    end += (sizes[d] - 1) * strides[d];
  }
  const auto width = static_cast<int64_t>(byte_size(dtype));
  require(offset >= SymInt(0) && end <= elements, ErrorCode::runtime,
          fmt::format("setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} "
                      "requiring a storage size of {} are out of bounds for storage of size {}",
                      shape_text(sizes), shape_text(strides), offset.hint(), width,
                      (end * width).hint(), (elements * width).hint()));
}

ViewGeometry geometry_of(const TensorMeta& t) {
  return {t.dtype, t.sizes, t.strides};
}

bool advance(ViewGeometry& at, const ViewStep& s) {
  switch (s.kind) {
    case Kind::permute:
      at.sizes = permuted(at.sizes, s.dims);
      at.strides = permuted(at.strides, s.dims);
      return true;
    case Kind::reshape:
      return advance_reshape(at, s.sizes);
    case Kind::squeeze:
      at.sizes = without(at.sizes, s.dims);
      at.strides = without(at.strides, s.dims);
      return true;
    case Kind::unsqueeze:
      insert_dim(at, dim0(s));
      return true;
    case Kind::slice:
      take_slice(at, s);
      return true;
    case Kind::expand:
      expand(at, s.sizes);
      return true;
    case Kind::diagonal:
      take_diagonal(at, s);
      return true;
    case Kind::unfold:
      take_windows(at, s);
      return true;
    case Kind::strided:
      at.sizes = s.sizes;
      at.strides = s.strides;
      at.offset += s.start;
      return true;
    case Kind::real:
      take_part(at, false);
      return true;
    case Kind::imag:
      take_part(at, true);
      return true;
    case Kind::as_real:
      take_parts(at);
      return true;
    case Kind::as_complex:
      take_complex(at);
      return true;
    case Kind::conj:
      at.conj = !at.conj;
      return true;
    case Kind::neg:
      at.neg = !at.neg;
      return true;
    case Kind::bits:
      reinterpret(at, s.dtype);
      return true;
  }
  return false;
}

bool advance(ViewGeometry& at, const View& view) {
  return std::all_of(view.steps.begin(), view.steps.end(),
                     [&](const ViewStep& s) { return advance(at, s); });
}

Val view_of(const Val& x, const ViewStep& s) {
  switch (s.kind) {
    case Kind::permute:
      return transpose(x, s.dims);
    case Kind::reshape:
      return reshape(x, s.sizes);
    case Kind::squeeze:
      return reshape(x, without(x.shape(), s.dims));
    case Kind::unsqueeze:
      return unsqueeze(x, s.dims[0]);
    case Kind::slice: {
      const SymInt last = s.start + (s.count - 1) * s.step + 1;
      const bool dense = known_equal(s.step, 1) == true;
      return slice(x, s.dims[0], s.start, dense ? s.start + s.count : max(last, s.start), s.step);
    }
    case Kind::expand:
      return broadcast_to(x, s.sizes);
    case Kind::diagonal:
      return diagonal_of(x, s);
    case Kind::unfold:
      return x.rank() == 0 ? reshape(x, {s.count}) : unfold_of(x, s);
    case Kind::strided:
      return strided_of(x, s);
    case Kind::real:
      return real(x);
    case Kind::imag:
      return imag(x);
    case Kind::as_real:
      return as_real(x);
    case Kind::as_complex:
      return as_complex(x);
    case Kind::conj:
      return conj(x);
    case Kind::neg:
      return -x;
    case Kind::bits:
      return bits_of(x, s.dtype);
  }
  fail(ErrorCode::internal, "a view step of an unknown kind");
}

Val view_of(const Val& x, const View& view) {
  Val v = x;
  for (const ViewStep& s : view.steps) v = view_of(v, s);
  return view.convert ? convert(v, *view.convert) : v;
}

Val write_through(const Val& base, const View& view, const Val& written) {
  std::vector<Val> bases = {base};
  for (const ViewStep& s : view.steps) bases.push_back(view_of(bases.back(), s));
  Val v = written;
  for (size_t i = view.steps.size(); i-- > 0;) v = write_step(bases[i], view.steps[i], v);
  return v;
}

std::vector<TensorMeta> viewed_metas(const Actual& argument) {
  if (auto* list = std::get_if<std::vector<TensorMeta>>(&argument.value)) return *list;
  auto* one = std::get_if<TensorMeta>(&argument.value);
  require(one != nullptr, ErrorCode::internal, "a view of something that is no tensor");
  return {*one};
}

std::vector<Val> viewed_values(const Tracer::Argument& argument) {
  if (auto* list = std::get_if<std::vector<Val>>(&argument.value)) return *list;
  return {std::get<Val>(argument.value)};
}

TensorMeta meta_of(const Val& x) {
  TensorMeta t;
  t.dtype = x.dtype();
  t.sizes = x.shape();
  t.strides = contiguous_strides(t.sizes);
  return t;
}

}  // namespace primset::decomps
