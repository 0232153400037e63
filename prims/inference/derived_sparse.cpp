// Parts of sparse arrays and their products.
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
  return {{DType::i64, indices}, {c.dtype(1), values}, {DType::i64, {}}};
}

// A matrix in rows: its values, and its pointers with the columns behind them.
void require_rows(const Call& c, size_t values, size_t pointers) {
  c.require_shared(c.rank(pointers) == 1 && c.rank(pointers + 1) == 1,
                   "_c1: pointers and columns are vectors");
  c.require_shared(c.rank(values) == 1 && c.shape(values)[0] == c.shape(pointers + 1)[0],
                   "_c2: each entry has a value and a column");
}

Types sparse_matmul(const Call& c) {
  c.require_signature_dtypes();
  require_rows(c, 0, 1);
  SymInts y = c.shape(3);
  c.require(y.size() == 1 || y.size() == 2, "sparse_matmul_c3: dense is a matrix or a vector");
  const SymInt rows = c.shape(1)[0] - 1, columns = c.attr<SymInt>("size");
  const bool transpose = c.attr<bool>("transpose");
  c.require(y[0] == (transpose ? rows : columns), "sparse_matmul_c4: the sizes fit");
  const auto& reduce = c.attr<std::string>("reduce");
  c.require(reduce == "sum" || reduce == "mean" || reduce == "amax" || reduce == "amin",
            "sparse_matmul_c5: reduce is sum, mean, amax or amin");
  c.require(reduce == "sum" || (!transpose && is_floating(c.dtype(0))),
            "sparse_matmul_c6: others than sums are of floating dtypes and not transposed");
  y[0] = transpose ? columns : rows;
  return {{c.dtype(0), y}};
}

Types sampled_matmul(const Call& c) {
  c.require_signature_dtypes();
  c.require(c.rank(0) == 2 && c.rank(1) == 2 && c.rank(2) == 1 && c.rank(3) == 1,
            "sampled_matmul_c1: two matrices and two vectors");
  c.require(c.shape(0)[1] == c.shape(1)[0], "sampled_matmul_c2: contracted dims have equal sizes");
  c.require(c.shape(0)[0] == c.shape(2)[0] - 1, "sampled_matmul_c3: each row has a pointer");
  return {{c.dtype(0), c.shape(3)}};
}

Types sparse_sparse_matmul(const Call& c) {
  c.require_signature_dtypes();
  require_rows(c, 0, 1);
  require_rows(c, 3, 4);
  const SymInts entries{c.attr<SymInt>("entries")};
  return {{c.dtype(0), entries}, {DType::i64, c.shape(1)}, {DType::i64, entries}};
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
  t.set(Prim::sparse_matmul, sparse_matmul);
  t.set(Prim::sampled_matmul, sampled_matmul);
  t.set(Prim::sparse_sparse_matmul, sparse_sparse_matmul);
}

}  // namespace primset::prims
