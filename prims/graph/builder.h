// Appends primitives to a graph, inferring result types (prims/inference) and sharing equal nodes.
// One method a core primitive; the generic add() serves all, derived ones too.
#ifndef PRIMSET_PRIMS_GRAPH_BUILDER_H_
#define PRIMSET_PRIMS_GRAPH_BUILDER_H_

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "prims/graph/graph.h"
#include "sdk/base/hash_index.h"

namespace primset::prims {

class Builder {
 public:
  using Values = std::vector<ValueId>;

  explicit Builder(Graph& graph);

  Graph& graph() { return graph_; }
  const ValueType& type(ValueId v) const { return graph_.type(v); }
  DType dtype(ValueId v) const { return type(v).dtype; }
  const SymInts& shape(ValueId v) const { return type(v).shape; }
  size_t rank(ValueId v) const { return shape(v).size(); }

  ValueId tensor_input(std::string name, ValueType type);
  ValueId scalar_input(std::string name, DType dtype);
  uint32_t output(std::string name, ValueId v, std::optional<uint32_t> writes_input = {});

  // Any primitive. All attributes in the signature's order (signature.h), integers standing for
  // sizes too; kNoValue for an optional operand that is absent; regions built before by region().
  // Pure nodes equal to an earlier one of the same region return that one's results.
  Values add(Prim prim, Values operands, std::vector<Attr> attrs = {},
             std::vector<Region> regions = {});

  // The same without looking for an equal node. Later equal ones share the earlier one, if any.
  Values append(Prim prim, Values operands, std::vector<Attr> attrs = {},
                std::vector<Region> regions = {});

  // Builds a region: parameters of the given types, then body, whose values are the results.
  Region region(const std::vector<ValueType>& params,
                const std::function<Values(std::span<const ValueId>)>& body);

  // Elementwise primitives by id; all operands have one shape.
  ValueId unary(Prim p, ValueId x) { return add(p, {x})[0]; }
  ValueId binary(Prim p, ValueId x, ValueId y) { return add(p, {x, y})[0]; }
  ValueId select(ValueId p, ValueId x, ValueId y) { return add(Prim::select, {p, x, y})[0]; }
  ValueId fma(ValueId x, ValueId y, ValueId z) { return add(Prim::fma, {x, y, z})[0]; }
  ValueId convert(ValueId x, DType to);  // the identity when x has that dtype
  ValueId bitcast(ValueId x, DType to);
  ValueId complex(ValueId re, ValueId im) { return add(Prim::complex, {re, im})[0]; }
  ValueId real(ValueId z) { return add(Prim::real, {z})[0]; }
  ValueId imag(ValueId z) { return add(Prim::imag, {z})[0]; }

  // Shapes.
  ValueId constant(Scalar value, DType dtype, SymInts shape = {});
  ValueId constant(SymInt value, DType dtype, SymInts shape = {});
  ValueId iota(SymInts shape, int64_t dim, DType dtype);
  ValueId broadcast_in_dim(ValueId x, SymInts shape, std::vector<int64_t> dims);
  ValueId reshape(ValueId x, SymInts shape);                       // identity when equal
  ValueId transpose(ValueId x, std::vector<int64_t> permutation);  // identity when equal
  ValueId slice(ValueId x, SymInts start, SymInts limit, SymInts stride);
  ValueId pad(ValueId x, ValueId value, SymInts low, SymInts high, SymInts interior);
  ValueId concatenate(Values xs, int64_t dim);
  ValueId reverse(ValueId x, std::vector<int64_t> dims);
  ValueId window(ValueId x, std::vector<int64_t> dims, SymInts sizes, SymInts strides,
                 SymInts dilations);
  ValueId dynamic_slice(ValueId x, Values starts, SymInts sizes);
  ValueId dynamic_update_slice(ValueId x, ValueId update, Values starts);
  ValueId set_dim(ValueId x, ValueId count, int64_t dim);

  // Indexing. `argument` names the operand in an out-of-range error.
  ValueId gather(ValueId x, Values indices, std::vector<int64_t> dims, bool in_bounds,
                 std::string argument);
  ValueId scatter(Prim kind, ValueId x, Values indices, ValueId updates, std::vector<int64_t> dims,
                  bool in_bounds, bool ordered, std::string argument);

  // Reductions, scans, contraction.
  ValueId reduce(Prim kind, ValueId x, std::vector<int64_t> dims);
  ValueId arg_reduce(Prim kind, ValueId x, int64_t dim);
  Values scan(Prim kind, ValueId x, int64_t dim);
  Values sort(Values keys_and_payloads, int64_t dim, bool descending);
  ValueId dot_general(ValueId a, ValueId b, std::vector<int64_t> a_contract,
                      std::vector<int64_t> b_contract, std::vector<int64_t> a_batch,
                      std::vector<int64_t> b_batch, DType accumulate);
  void check(ValueId p, ValueId value, std::string code, std::string message);

 private:
  std::string node_key(Prim, std::span<const ValueId>, const std::vector<Attr>&,
                       const std::vector<Region>&) const;
  // The node with this key whose results are in scope; null when there is none.
  const Node* find_known(const std::string& key, size_t hash) const;

  Graph& graph_;
  Region* current_;
  std::vector<Region*> open_;
  std::vector<HashIndex> known_;  // nodes by their keys' hashes, one table an open region
};

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_BUILDER_H_
