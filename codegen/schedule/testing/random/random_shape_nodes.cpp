// Random views, and what else moves elements to places that shapes alone decide.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "codegen/schedule/testing/random/random_nodes.h"
#include "prims/graph/signature.h"

namespace primset::schedule {
namespace {

using prims::Prim;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;
using Values = prims::Builder::Values;
using Ints = std::vector<int64_t>;

DTypeSet dtypes_of(Prim p) {
  return prims::signature(p).operands[0].dtypes;
}

void iota_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const SymInts shape = v.any_shape();
  if (shape.empty()) return;
  const auto dim = static_cast<int64_t>(nodes.random().below(shape.size()));
  const DType t = v.any_dtype({DType::i32, DType::i64, DType::f32, DType::f64});
  v.add(p, {}, {{"shape", shape}, {"dim", dim}, {"dtype", t}});
}

void constant_node(RandomNodes& nodes, Prim) {
  RandomValues& v = nodes.values();
  v.constant(v.any_dtype({DType::i32, DType::i64, DType::f32, DType::boolean}), v.any_shape());
}

// A few dims more, and dims of size 1 stretched.
void broadcast_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(dtypes_of(p));
  if (!x) return;
  SymInts shape;
  Ints dims;
  for (const SymInt& size : v.shape(*x)) {
    if (shape.size() < 4 && nodes.random().chance(30)) shape.push_back(v.any_size());
    dims.push_back(static_cast<int64_t>(shape.size()));
    const bool stretched = size.same(SymInt(1)) && nodes.random().chance(60);
    shape.push_back(stretched ? v.any_size() : size);
  }
  if (shape.size() < 4 && nodes.random().chance(40)) shape.push_back(v.any_size());
  if (RandomValues::fits(shape)) v.add(p, {*x}, {{"shape", shape}, {"dims", dims}});
}

// Two factors of a known size.
std::pair<int64_t, int64_t> split(int64_t n, Random& random) {
  Ints divisors;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) divisors.push_back(d);
  }
  if (divisors.empty()) return {n, 1};
  const int64_t first = random.pick(divisors);
  return {first, n / first};
}

// Dims merged with their neighbours, split, added and flattened.
void reshape_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  Random& random = nodes.random();
  const auto x = v.any(dtypes_of(p));
  if (!x) return;
  const SymInts from = v.shape(*x);
  SymInts shape;
  for (const SymInt& size : from) {
    if (!shape.empty() && random.chance(35)) {
      shape.back() *= size;
    } else if (size.is_constant() && shape.size() < 4 && random.chance(40)) {
      const auto [outer, inner] = split(size.constant(), random);
      shape.push_back(outer);
      shape.push_back(inner);
    } else {
      shape.push_back(size);
    }
  }
  if (shape.size() < 4 && random.chance(20)) shape.insert(shape.begin(), SymInt(1));
  v.add(p, {*x}, {{"shape", shape}});
}

void transpose_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(dtypes_of(p), 2);
  if (!x) return;
  Ints permutation(v.rank(*x));
  std::iota(permutation.begin(), permutation.end(), 0);
  for (size_t i = permutation.size(); i-- > 1;)
    std::swap(permutation[i], permutation[nodes.random().below(i + 1)]);
  v.add(p, {*x}, {{"permutation", permutation}});
}

void reverse_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (const auto x = v.any(dtypes_of(p), 1))
    v.add(p, {*x}, {{"dims", v.any_dims(v.rank(*x), v.rank(*x))}});
}

void slice_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  Random& random = nodes.random();
  const auto x = v.any(dtypes_of(p), 1);
  if (!x) return;
  SymInts start, limit, stride;
  for (const SymInt& size : v.shape(*x)) {
    const bool whole = v.is_dynamic(size) || random.chance(40);
    const int64_t first = whole ? 0 : random.between(0, size.hint());
    const int64_t count = random.between(0, size.hint() - first);
    const bool to_end = random.chance(40);
    start.push_back(whole ? SymInt(0) : v.launch_number(first));
    limit.push_back(whole || to_end ? size : start.back() + count);
    stride.push_back(random.chance(75) ? 1 : random.between(2, 3));
  }
  v.add(p, {*x}, {{"start", start}, {"limit", limit}, {"stride", stride}});
}

void pad_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  Random& random = nodes.random();
  const auto x = v.any(dtypes_of(p), 1);
  if (!x) return;
  SymInts low, high, interior;
  int64_t elements = 1;
  for (const SymInt& size : v.shape(*x)) {
    const bool untouched = v.is_dynamic(size) || random.chance(50);
    const int64_t crop = untouched || size.hint() < 2 ? 0 : -1;
    low.push_back(untouched ? 0 : random.between(crop, 2));
    high.push_back(untouched ? 0 : random.between(size.hint() < 3 ? 0 : crop, 2));
    interior.push_back(untouched || random.chance(70) ? 0 : 1);
    elements *= 2 * size.hint() + 4;
  }
  if (elements > 8000) return;
  v.add(p, {*x, v.number(v.dtype(*x))}, {{"low", low}, {"high", high}, {"interior", interior}});
}

void concatenate_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(dtypes_of(p), 1);
  if (!x) return;
  const auto dim = static_cast<int64_t>(nodes.random().below(v.rank(*x)));
  const size_t others = 1 + nodes.random().below(3);
  Values in{*x};
  for (size_t i = 0; i < others; ++i) {
    SymInts shape = v.shape(*x);
    if (nodes.random().chance(50)) shape[static_cast<size_t>(dim)] = v.any_size();
    if (!RandomValues::fits(shape)) return;
    in.push_back(v.like(v.dtype(*x), shape));
  }
  std::swap(in.front(), in[nodes.random().below(in.size())]);
  v.add(p, std::move(in), {{"dim", dim}});
}

// --- windows -------------------------------------------------------------------------------------

struct Windows {
  Ints dims;
  SymInts sizes, strides, dilations;
  SymInts shape;  // positions, then windows
};

std::optional<Windows> windows_over(RandomNodes& nodes, const SymInts& shape) {
  RandomValues& v = nodes.values();
  Random& random = nodes.random();
  Windows w{v.any_dims(shape.size(), 2), {}, {}, {}, shape};
  for (int64_t dim : w.dims) {
    const SymInt& size = shape[static_cast<size_t>(dim)];
    if (size.hint() < 1 || v.is_dynamic(size)) return std::nullopt;
    const int64_t width = random.between(1, std::min<int64_t>(4, size.hint()));
    const int64_t dilation =
        width > 1 ? random.between(1, std::min<int64_t>(2, (size.hint() - 1) / (width - 1))) : 1;
    w.sizes.push_back(width);
    w.strides.push_back(random.between(1, 3));
    w.dilations.push_back(dilation);
    const SymInt last = size - (width - 1) * dilation - 1;
    w.shape[static_cast<size_t>(dim)] = floor_div(last, w.strides.back()) + 1;
  }
  w.shape.insert(w.shape.end(), w.sizes.begin(), w.sizes.end());
  if (!RandomValues::fits(w.shape)) return std::nullopt;
  return w;
}

void window_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(dtypes_of(p), 1);
  if (!x) return;
  const auto w = windows_over(nodes, v.shape(*x));
  if (!w) return;
  v.add(p, {*x},
        {{"dims", w->dims},
         {"sizes", w->sizes},
         {"strides", w->strides},
         {"dilations", w->dilations}});
}

void window_scatter_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const SymInts shape = v.any_shape();
  if (shape.empty()) return;
  const auto w = windows_over(nodes, shape);
  if (!w) return;
  const ValueId y = v.like(v.any_dtype(dtypes_of(p)), w->shape);
  v.add(p, {y},
        {{"dims", w->dims},
         {"sizes", w->sizes},
         {"strides", w->strides},
         {"dilations", w->dilations},
         {"shape", shape}});
}

// --- bits ----------------------------------------------------------------------------------------

// The bits of what is rounded are nobody's to expect, and not all patterns are a bool or a NaN.
void bitcast_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any([&](ValueId u) { return v.is_exact(u) && is_integral(v.dtype(u)); });
  if (!x) return;
  const DType from = v.dtype(*x);
  const DType to = v.any_dtype({DType::u8, DType::i8, DType::u16, DType::i16, DType::i32,
                                DType::u32, DType::i64, DType::u64});
  if (bits(to) > bits(from)) {
    const SymInt parts = bits(to) / bits(from);
    if (v.rank(*x) == 0 || !v.shape(*x).back().same(parts)) return;
  }
  if (v.in_scalar_region() && bits(to) != bits(from)) return;
  SymInts shape = v.shape(*x);
  if (bits(to) < bits(from)) shape.push_back(bits(from) / bits(to));
  if (RandomValues::fits(shape)) v.add(p, {*x}, {{"dtype", to}});
}

}  // namespace

void add_shape_rules(NodeRules& t) {
  t.set(Prim::iota, iota_node);
  t.set(Prim::constant, constant_node);
  t.set(Prim::broadcast_in_dim, broadcast_node);
  t.set(Prim::reshape, reshape_node);
  t.set(Prim::transpose, transpose_node);
  t.set(Prim::reverse, reverse_node);
  t.set(Prim::slice, slice_node);
  t.set(Prim::pad, pad_node);
  t.set(Prim::concatenate, concatenate_node);
  t.set(Prim::window, window_node);
  t.set(Prim::window_scatter_add, window_scatter_node);
  t.set(Prim::bitcast, bitcast_node);
}

}  // namespace primset::schedule
