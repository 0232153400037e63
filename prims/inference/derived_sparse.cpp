// Parts of sparse arrays.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

Types compress_rows(const Call& c) {
  c.require_signature_dtypes();
  c.require(c.rank(0) == 1, "compress_rows_c1: rows is a vector");
  return {{DType::i64, {c.attr<SymInt>("count") + 1}}};
}

Types expand_rows(const Call& c) {
  c.require_signature_dtypes();
  c.require(c.rank(0) > 0, "expand_rows_c1: pointers has a dim");
  SymInts shape = c.shape(0);
  shape.back() = c.attr<SymInt>("entries");
  return {{DType::i64, shape}};
}

Types coo_coalesce(const Call& c) {
  c.require_signature_dtypes();
  const SymInts &indices = c.shape(0), &values = c.shape(1);
  c.require(indices.size() == 2, "coo_coalesce_c1: indices is a matrix");
  c.require(!values.empty() && values[0] == indices[1], "coo_coalesce_c2: each entry has a value");
  c.require(indices[0] == SymInt(static_cast<int64_t>(c.attr<SymInts>("sizes").size())),
            "coo_coalesce_c3: each dim has a size");
  SymInts sums = values;
  sums[0] = c.fresh_size(values[0], 2, 0);
  return {{DType::i64, {indices[0], c.fresh_size(values[0], 2, 0)}},
          {c.dtype(1), sums},
          {DType::i64, {}}};
}

Types sparse_softmax(const Call& c) {
  c.require_signature_dtypes();
  const SymInts &indices = c.shape(0), &values = c.shape(1);
  const auto dims = static_cast<int64_t>(c.attr<SymInts>("sizes").size());
  c.require(indices.size() == 2, "sparse_softmax_c1: indices is a matrix");
  c.require(!values.empty() && values[0] == indices[1],
            "sparse_softmax_c2: each entry has a value");
  c.require(indices[0] == SymInt(dims), "sparse_softmax_c3: each dim has a size");
  c.require(c.attr<int64_t>("dim") >= 0 && c.attr<int64_t>("dim") < dims,
            "sparse_softmax_c4: dim is one of the indices'");
  return {{c.dtype(1), values}};
}

}  // namespace

void add_derived_sparse_rules(RuleTable& t) {
  t.set(Prim::compress_rows, compress_rows);
  t.set(Prim::expand_rows, expand_rows);
  t.set(Prim::coo_coalesce, coo_coalesce);
  t.set(Prim::sparse_softmax, sparse_softmax);
}

}  // namespace primset::prims
