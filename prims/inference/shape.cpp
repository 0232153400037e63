#include <algorithm>

#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

bool is_number(DType t) {
  return t == DType::i64;
}

Types constant(const Call& c) {
  return {{c.attr<DType>("dtype"), c.attr<SymInts>("shape")}};
}

Types iota(const Call& c) {
  const SymInts& shape = c.attr<SymInts>("shape");
  c.require(valid_dims({c.attr<int64_t>("dim")}, shape.size()), "iota_c1: dim is a dim of shape");
  DType t = c.attr<DType>("dtype");
  c.require(!is_bool(t), "iota_c2: dtype is a number");
  return {{t, shape}};
}

Types broadcast_in_dim(const Call& c) {
  const SymInts& shape = c.attr<SymInts>("shape");
  const Ints& dims = c.attr<Ints>("dims");
  c.require(dims.size() == c.rank(0), "broadcast_in_dim_c1: dims names each dim of x");
  c.require(valid_dims(dims, shape.size()) && std::is_sorted(dims.begin(), dims.end()),
            "broadcast_in_dim_c2: dims increase and are dims of shape");
  for (size_t i = 0; i < dims.size(); ++i) {
    const SymInt& from = c.shape(0)[i];
    const SymInt& to = shape[static_cast<size_t>(dims[i])];
    if (known_equal(from, to) == true || known_equal(from, 1) == true) continue;
    // The hints say which of the two is meant.
    bool fits = from.hint() == to.hint() ? from == to : from == SymInt(1);
    c.require(fits, "broadcast_in_dim_c3: a dim of x is 1 or equal to the result's");
  }
  return {{c.dtype(0), shape}};
}

Types reshape(const Call& c) {
  const SymInts& shape = c.attr<SymInts>("shape");
  c.require(product(c.shape(0)) == product(shape), "reshape_c1: the number of elements stays");
  return {{c.dtype(0), shape}};
}

Types transpose(const Call& c) {
  const Ints& permutation = c.attr<Ints>("permutation");
  c.require(permutation.size() == c.rank(0) && valid_dims(permutation, c.rank(0)),
            "transpose_c1: permutation names each dim once");
  SymInts shape;
  for (int64_t d : permutation) shape.push_back(c.shape(0)[static_cast<size_t>(d)]);
  return {{c.dtype(0), shape}};
}

// Starts and limits are run-time numbers: the caller has clamped them, so the hints are checked and
// no guard is recorded.
Types slice(const Call& c) {
  const auto &start = c.attr<SymInts>("start"), &limit = c.attr<SymInts>("limit"),
             &stride = c.attr<SymInts>("stride");
  c.require(start.size() == c.rank(0) && limit.size() == c.rank(0) && stride.size() == c.rank(0),
            "slice_c1: start, limit and stride have one entry a dim");
  SymInts shape;
  for (size_t d = 0; d < c.rank(0); ++d) {
    c.require(0 <= start[d].hint() && start[d].hint() <= limit[d].hint() &&
                  limit[d].hint() <= c.shape(0)[d].hint(),
              "slice_c2: 0 <= start <= limit <= size");
    c.require(stride[d].hint() >= 1, "slice_c3: strides are positive");
    shape.push_back(ceil_div(limit[d] - start[d], stride[d]));
  }
  return {{c.dtype(0), shape}};
}

Types pad(const Call& c) {
  const auto &low = c.attr<SymInts>("low"), &high = c.attr<SymInts>("high"),
             &interior = c.attr<SymInts>("interior");
  c.require(low.size() == c.rank(0) && high.size() == c.rank(0) && interior.size() == c.rank(0),
            "pad_c1: low, high and interior have one entry a dim");
  c.require(c.dtype(1) == c.dtype(0) && c.rank(1) == 0, "pad_c2: value is a number of x's dtype");
  SymInts shape;
  for (size_t d = 0; d < c.rank(0); ++d) {
    c.require(interior[d].hint() >= 0, "pad_c3: interior padding is not negative");
    SymInt size = c.shape(0)[d] + low[d] + high[d];
    if (known_equal(interior[d], 0) != true) size += max(c.shape(0)[d] - 1, 0) * interior[d];
    c.require(size.hint() >= 0, "pad_c4: no result dim is negative");
    shape.push_back(size);
  }
  return {{c.dtype(0), shape}};
}

Types concatenate(const Call& c) {
  int64_t dim = c.attr<int64_t>("dim");
  c.require(c.count() > 0, "concatenate_c1: at least one operand");
  c.require(valid_dims({dim}, c.rank(0)), "concatenate_c2: dim is a dim of the operands");
  SymInts shape = c.shape(0);
  for (size_t i = 1; i < c.count(); ++i) {
    c.require(c.dtype(i) == c.dtype(0), "concatenate_c3: operands have one dtype");
    c.require(equal_shapes(without_dims(c.shape(i), {dim}), without_dims(shape, {dim})) &&
                  c.rank(i) == shape.size(),
              "concatenate_c4: operands have one shape but for dim");
    shape[static_cast<size_t>(dim)] += c.shape(i)[static_cast<size_t>(dim)];
  }
  return {{c.dtype(0), shape}};
}

Types reverse(const Call& c) {
  c.require(valid_dims(c.attr<Ints>("dims"), c.rank(0)), "reverse_c1: dims are dims of x");
  return {c.type(0)};
}

void require_starts(const Call& c, size_t first) {
  c.require_shared(c.count() - first == c.rank(0), "_c1: one start a dim");
  for (size_t i = first; i < c.count(); ++i) {
    c.require_shared(c.rank(i) == 0 && is_number(c.dtype(i)), "_c2: starts are i64 numbers");
  }
}

Types dynamic_slice(const Call& c) {
  require_starts(c, 1);
  const SymInts& sizes = c.attr<SymInts>("sizes");
  c.require(sizes.size() == c.rank(0), "dynamic_slice_c3: one size a dim");
  for (size_t d = 0; d < sizes.size(); ++d) {
    c.require(0 <= sizes[d].hint() && sizes[d].hint() <= c.shape(0)[d].hint(),
              "dynamic_slice_c4: sizes fit into x");
  }
  return {{c.dtype(0), sizes}};
}

Types dynamic_update_slice(const Call& c) {
  require_starts(c, 2);
  c.require(c.dtype(1) == c.dtype(0), "dynamic_update_slice_c3: update has x's dtype");
  c.require(c.rank(1) == c.rank(0), "dynamic_update_slice_c4: update has x's rank");
  for (size_t d = 0; d < c.rank(0); ++d) {
    c.require(c.shape(1)[d].hint() <= c.shape(0)[d].hint(),
              "dynamic_update_slice_c5: update fits into x");
  }
  return {c.type(0)};
}

Types set_dim(const Call& c) {
  int64_t dim = c.attr<int64_t>("dim");
  c.require(valid_dims({dim}, c.rank(0)), "set_dim_c1: dim is a dim of x");
  c.require(c.rank(1) == 0 && is_number(c.dtype(1)), "set_dim_c2: count is an i64 number");
  SymInts shape = c.shape(0);
  auto d = static_cast<size_t>(dim);
  shape[d] = c.fresh_size(shape[d], 0, d);
  return {{c.dtype(0), shape}};
}

}  // namespace

void add_shape_rules(RuleTable& t) {
  t.set(Prim::constant, constant);
  t.set(Prim::iota, iota);
  t.set(Prim::broadcast_in_dim, broadcast_in_dim);
  t.set(Prim::reshape, reshape);
  t.set(Prim::transpose, transpose);
  t.set(Prim::slice, slice);
  t.set(Prim::pad, pad);
  t.set(Prim::concatenate, concatenate);
  t.set(Prim::reverse, reverse);
  t.set(Prim::dynamic_slice, dynamic_slice);
  t.set(Prim::dynamic_update_slice, dynamic_update_slice);
  t.set(Prim::set_dim, set_dim);
}

}  // namespace primset::prims
