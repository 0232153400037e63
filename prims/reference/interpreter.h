// Runs a graph node by node. Scalar regions are run on single elements, without arrays.
#ifndef PRIMSET_PRIMS_REFERENCE_INTERPRETER_H_
#define PRIMSET_PRIMS_REFERENCE_INTERPRETER_H_

#include <set>
#include <span>
#include <vector>

#include "prims/reference/elementwise.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {

class Interpreter {
 public:
  Interpreter(const Graph& graph, std::span<const int64_t> symbols, PermittedDeviations deviations);

  const Graph& graph() const { return graph_; }
  PermittedDeviations deviations() const { return deviations_; }

  // Runs a region of arrays for these parameters.
  std::vector<Array> run(const Region& region, std::vector<Array> params);
  // Runs a scalar region on one element a parameter.
  std::vector<Element> run(const Region& region, std::span<const Element> params);
  // The same for a combiner, which a device may apply in another order.
  std::vector<Element> combine(const Region& region, std::span<const Element> params);

  int64_t value(const SymInt& s) const;
  Ints values(const SymInts& xs) const;
  // A size that became known while running.
  void set_size(const SymInt& symbol, int64_t value);

  // Keeps the first failure of each node.
  void fail(NodeId node, CheckFailure failure);
  std::vector<CheckFailure> take_failures() { return std::move(failures_); }

 private:
  void run_node(NodeId id);
  void run_elementwise(NodeId id, ElementFunction f);
  void run_scalar_node(NodeId id);
  bool run_scalar_control(const Node& node);
  void assign(std::span<const ValueId> values, std::span<const Element> elements);
  std::vector<Element> elements(std::span<const ValueId> values) const;
  const ElementOp& cached_op(NodeId id);

  const Graph& graph_;
  const PermittedDeviations deviations_;
  std::vector<int64_t> symbols_;
  std::vector<Array> arrays_;      // by value
  std::vector<Element> elements_;  // by value: those of scalar regions
  std::vector<ElementOp> ops_;     // by node; empty entries have no node
  std::vector<CheckFailure> failures_;
  std::set<NodeId> failed_;
  bool order_free_ = false;
};

// The number that a `constant` node holds.
Element constant_element(const Interpreter& interpreter, const Node& node);

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_INTERPRETER_H_
