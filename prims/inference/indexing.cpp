#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

// Operands [first, first + dims.size()) index the dims of operand 0; returns their common shape.
SymInts require_indices(const Call& c, size_t first, size_t count) {
  const Ints& dims = c.attr<Ints>("dims");
  c.require_shared(valid_dims(dims, c.rank(0)), "_c1: dims are dims of x");
  c.require_shared(count == dims.size() && count > 0, "_c2: one index array an indexed dim");
  for (size_t i = first; i < first + count; ++i) {
    c.require_shared(is_index_type(c.dtype(i)), "_c3: indices are i64 or i32");
    c.require_shared(equal_shapes(c.shape(i), c.shape(first)), "_c4: indices have one shape");
  }
  c.attr<bool>("in_bounds");
  c.attr<std::string>("argument");
  return c.shape(first);
}

SymInts indexed_shape(const Call& c, SymInts batch) {
  SymInts rest = without_dims(c.shape(0), c.attr<Ints>("dims"));
  batch.insert(batch.end(), rest.begin(), rest.end());
  return batch;
}

Types gather(const Call& c) {
  SymInts batch = require_indices(c, 1, c.count() - 1);
  return {{c.dtype(0), indexed_shape(c, batch)}};
}

Types scatter(const Call& c) {
  c.require_shared(c.count() >= 3, "_c0: takes x, indices and updates");
  SymInts batch = require_indices(c, 1, c.count() - 2);
  size_t updates = c.count() - 1;
  c.require_shared(c.dtype(updates) == c.dtype(0), "_c5: updates have x's dtype");
  c.require_shared(equal_shapes(c.shape(updates), indexed_shape(c, batch)),
                   "_c6: updates have the shape of the indices, then the dims not indexed");
  c.attr<bool>("ordered");
  return {c.type(0)};
}

Types compact(const Call& c) {
  c.require(c.rank(0) == 1 && equal_shapes(c.shape(0), c.shape(1)),
            "compact_c1: x and mask are vectors of one length");
  c.require(is_bool(c.dtype(1)), "compact_c2: mask is bool");
  return {c.type(0), {DType::i64, {}}};
}

}  // namespace

void add_indexing_rules(RuleTable& t) {
  t.set(Prim::gather, gather);
  t.set({Prim::scatter, Prim::scatter_add, Prim::scatter_mul, Prim::scatter_min, Prim::scatter_max},
        scatter);
  t.set(Prim::compact, compact);
}

}  // namespace primset::prims
