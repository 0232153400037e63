#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

size_t require_dim(const Call& c) {
  int64_t dim = c.attr<int64_t>("dim");
  c.require_shared(valid_dims({dim}, c.rank(0)), "_c1: dim is a dim of x");
  return static_cast<size_t>(dim);
}

void require_index(const Call& c) {
  c.require_shared(is_index_type(c.dtype(1)), "_c2: index is i64 or i32");
}

Types gather_along_dim(const Call& c) {
  require_dim(c);
  require_index(c);
  c.require(c.rank(1) == c.rank(0), "gather_along_dim_c3: index has x's rank");
  return {{c.dtype(0), c.shape(1)}};
}

Types scatter_along_dim(const Call& c) {
  require_dim(c);
  require_index(c);
  c.require_shared((c.rank(1) == c.rank(0) || c.rank(1) == 1) && c.rank(2) == c.rank(0),
                   "_c3: src has x's rank, and index too or one dim");
  c.require_shared(c.dtype(2) == c.dtype(0), "_c4: src has x's dtype");
  return {c.type(0)};
}

Types index_select(const Call& c) {
  size_t dim = require_dim(c);
  require_index(c);
  c.require(c.rank(1) == 1, "index_select_c3: index is a vector");
  SymInts shape = c.shape(0);
  shape[dim] = c.shape(1)[0];
  return {{c.dtype(0), shape}};
}

Types index_put(const Call& c) {
  const Ints& dims = c.attr<Ints>("dims");
  c.require(valid_dims(dims, c.rank(0)), "index_put_c1: dims are dims of x");
  c.require(c.count() == dims.size() + 2, "index_put_c2: one index array an indexed dim");
  for (size_t i = 1; i + 1 < c.count(); ++i) {
    c.require(is_index_type(c.dtype(i)), "index_put_c3: indices are i64 or i32");
  }
  c.require(c.dtype(c.count() - 1) == c.dtype(0), "index_put_c4: values have x's dtype");
  return {c.type(0)};
}

Types nonzero(const Call& c) {
  SymInt rows = c.fresh_size(product(c.shape(0)), 0, 0);
  return {{DType::i64, {rows, static_cast<int64_t>(c.rank(0))}}, {DType::i64, {}}};
}

Types masked_select(const Call& c) {
  c.require(equal_shapes(c.shape(0), c.shape(1)), "masked_select_c1: mask has x's shape");
  c.require(is_bool(c.dtype(1)), "masked_select_c2: mask is bool");
  return {{c.dtype(0), {c.fresh_size(product(c.shape(0)), 0, 0)}}, {DType::i64, {}}};
}

Types masked_scatter(const Call& c) {
  c.require(equal_shapes(c.shape(0), c.shape(1)), "masked_scatter_c1: mask has x's shape");
  c.require(is_bool(c.dtype(1)), "masked_scatter_c2: mask is bool");
  c.require(c.dtype(2) == c.dtype(0), "masked_scatter_c3: src has x's dtype");
  return {c.type(0)};
}

Types repeat_interleave(const Call& c) {
  size_t dim = require_dim(c);
  require_index(c);
  SymInts shape = c.shape(0);
  c.require(c.rank(1) == 1 && c.shape(1)[0] == shape[dim],
            "repeat_interleave_c3: a repeat for each entry");
  shape[dim] = c.attr<SymInt>("size");
  return {{c.dtype(0), shape}};
}

// weight is [rows, n], indices, bags and per_sample are vectors of one size.
Types embedding_bag(const Call& c) {
  c.require(c.rank(0) == 2, "embedding_bag_c1: weight is a matrix");
  c.require(is_index_type(c.dtype(1)) && is_index_type(c.dtype(2)),
            "embedding_bag_c2: indices and bags are i64 or i32");
  for (size_t i = 1; i < c.count(); ++i) {
    c.require(!c.has(i) || (c.rank(i) == 1 && c.shape(i)[0] == c.shape(1)[0]),
              "embedding_bag_c3: a bag and a factor for each index");
  }
  const SymInt& count = c.attr<SymInt>("count");
  SymInts shape = {count, c.shape(0)[1]};
  return {{c.dtype(0), shape}, {DType::i64, {count}}, {DType::i64, shape}};
}

Types embedding_backward(const Call& c) {
  require_index(c);
  c.require(c.rank(0) == 2 && c.rank(1) == 1 && c.shape(0)[0] == c.shape(1)[0],
            "embedding_backward_c1: a row of grad for each index");
  return {{c.dtype(0), {c.attr<SymInt>("rows"), c.shape(0)[1]}}};
}

Types segment_reduce(const Call& c) {
  require_index(c);
  c.require(c.rank(0) >= 1 && c.rank(1) == 1, "segment_reduce_c1: offsets are a vector");
  SymInts shape = c.shape(0);
  shape[0] = c.shape(1)[0] - 1;
  return {{c.dtype(0), shape}};
}

Types top_k(const Call& c) {
  size_t dim = require_dim(c);
  const SymInt& k = c.attr<SymInt>("k");
  c.require(0 <= k.hint() && k.hint() <= c.shape(0)[dim].hint(), "top_k_c2: 0 <= k <= size");
  SymInts shape = c.shape(0);
  shape[dim] = k;
  return {{c.dtype(0), shape}, {DType::i64, shape}};
}

}  // namespace

void add_derived_indexing_rules(RuleTable& t) {
  t.set(Prim::gather_along_dim, gather_along_dim);
  t.set({Prim::scatter_along_dim, Prim::scatter_reduce_along_dim}, scatter_along_dim);
  t.set(Prim::index_select, index_select);
  t.set(Prim::index_put, index_put);
  t.set(Prim::nonzero, nonzero);
  t.set(Prim::masked_select, masked_select);
  t.set(Prim::masked_scatter, masked_scatter);
  t.set(Prim::repeat_interleave, repeat_interleave);
  t.set(Prim::embedding_bag, embedding_bag);
  t.set(Prim::embedding_backward, embedding_backward);
  t.set(Prim::segment_reduce, segment_reduce);
  t.set(Prim::top_k, top_k);
}

}  // namespace primset::prims
