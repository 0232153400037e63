// Elements selected along a dim, places in ordered sequences, and distinct entries.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

// An element of each line along dim, and where it stands.
Types selected(const Call& c) {
  c.require_signature_dtypes();
  const int64_t dim = c.attr<int64_t>("dim");
  c.require_shared(valid_dims({dim}, c.rank(0)), "_c1: dim is a dim of x");
  const SymInts shape = without_dims(c.shape(0), {dim});
  return {{c.dtype(0), shape}, {DType::i64, shape}};
}

Types kth_value(const Call& c) {
  const Types types = selected(c);
  const int64_t k = c.attr<SymInt>("k").hint();
  const auto dim = static_cast<size_t>(c.attr<int64_t>("dim"));
  c.require(1 <= k && k <= c.shape(0)[dim].hint(), "kth_value_c2: 1 <= k <= size");
  return types;
}

Types search_sorted(const Call& c) {
  const SymInts &sequence = c.shape(0), &values = c.shape(1);
  c.require(c.dtype(0) == c.dtype(1), "search_sorted_c1: sequence and values have one dtype");
  c.require(is_real(c.dtype(0)), "search_sorted_c2: they are not complex");
  const bool shared = sequence.size() == 1;
  c.require(shared || (!sequence.empty() && sequence.size() == values.size()),
            "search_sorted_c3: the sequence is 1-D or of the values' rank");
  for (size_t d = 0; !shared && d + 1 < values.size(); ++d)
    c.require(sequence[d] == values[d], "search_sorted_c3: their dims but the last are equal");
  if (c.has(2)) {
    c.require(is_index_type(c.dtype(2)), "search_sorted_c4: the sorter is i64 or i32");
    c.require(equal_shapes(c.shape(2), sequence), "search_sorted_c4: it has the sequence's shape");
  }
  return {{DType::i64, values}};
}

void require_weights(const Call& c, size_t index) {
  c.require_shared(!c.has(index) || equal_shapes(c.shape(index), c.shape(0)),
                   "_c3: weights have x's shape");
}

Types bincount(const Call& c) {
  c.require(c.rank(0) == 1, "bincount_c1: x is a vector");
  c.require(is_index_type(c.dtype(0)), "bincount_c2: x is i64 or i32");
  require_weights(c, 1);
  return {{c.has(1) ? c.dtype(1) : DType::i64, {c.attr<SymInt>("size")}}};
}

Types histogram(const Call& c) {
  c.require_signature_dtypes();
  c.require(c.rank(0) == 1 && c.rank(1) == 1, "histogram_c1: x and edges are vectors");
  require_weights(c, 2);
  return {{c.dtype(0), {c.shape(1)[0] - 1}}};
}

Types unique(const Call& c) {
  c.require_signature_dtypes();
  c.require_shared(c.rank(0) > 0, "_c1: x has a dim");
  c.attr<bool>("return_inverse"), c.attr<bool>("return_counts");
  const ValueType numbers{DType::i64, {c.shape(0)[0]}};
  return {c.type(0), numbers, numbers, {DType::i64, {}}};
}

}  // namespace

void add_derived_search_rules(RuleTable& t) {
  t.set(Prim::kth_value, kth_value);
  t.set({Prim::median, Prim::mode}, selected);
  t.set(Prim::search_sorted, search_sorted);
  t.set(Prim::bincount, bincount);
  t.set(Prim::histogram, histogram);
  t.set({Prim::unique, Prim::unique_consecutive}, unique);
}

}  // namespace primset::prims
