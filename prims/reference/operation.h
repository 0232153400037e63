// The primitives that work on whole arrays: what one sees of its node, and the table they are in.
#ifndef PRIMSET_PRIMS_REFERENCE_OPERATION_H_
#define PRIMSET_PRIMS_REFERENCE_OPERATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "prims/reference/array.h"
#include "prims/reference/element.h"

namespace primset::prims::reference {

class Interpreter;

// Makes all elements undecided.
void forget(Array& a);

struct NodeRun {
  Interpreter& interpreter;
  NodeId id;
  const Node& node;
  std::vector<const Array*> operands;

  const Array& x(size_t i) const { return *operands[i]; }
  size_t count() const { return operands.size(); }

  // Attributes, with symbolic sizes as numbers.
  int64_t integer(std::string_view name) const { return node.attr<int64_t>(name); }
  bool flag(std::string_view name) const { return node.attr<bool>(name); }
  const std::string& text(std::string_view name) const { return node.attr<std::string>(name); }
  const Ints& ints(std::string_view name) const { return node.attr<Ints>(name); }
  Ints sizes(std::string_view name) const;
  int64_t size(std::string_view name) const;

  // The i-th result, filled with zeros.
  Array result(size_t i) const;
  // For arithmetic on elements of the first operand's dtype.
  ElementOp op(DType to) const;
  // An error that only a device can see.
  void fail(const std::string& code, const std::string& message, const Element& value) const;
};

using Operation = std::vector<Array> (*)(NodeRun&);

class OperationTable {
 public:
  OperationTable() : operations_(static_cast<size_t>(prim_count()), nullptr) {}
  void set(Prim p, Operation o) { operations_[static_cast<size_t>(p)] = o; }
  Operation find(Prim p) const { return operations_[static_cast<size_t>(p)]; }

 private:
  std::vector<Operation> operations_;
};

void add_conversion_operations(OperationTable&);
void add_shape_operations(OperationTable&);
void add_slice_operations(OperationTable&);
void add_window_operations(OperationTable&);
void add_indexing_operations(OperationTable&);
void add_reduction_operations(OperationTable&);
void add_scan_operations(OperationTable&);
void add_sort_operations(OperationTable&);
void add_unique_operations(OperationTable&);
void add_contraction_operations(OperationTable&);
void add_sparse_operations(OperationTable&);
void add_fft_operations(OperationTable&);
void add_sparse_softmax_operations(OperationTable&);
void add_control_operations(OperationTable&);
void add_region_operations(OperationTable&);
void add_householder_operations(OperationTable&);
void add_jacobi_operations(OperationTable&);
void add_general_eigen_operations(OperationTable&);

// Null when there is none.
Operation find_operation(Prim p);

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_OPERATION_H_
