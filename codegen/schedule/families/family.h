// The interface of a kernel family: which primitives it computes on a machine, at what cost, how it
// takes its operands, and which steps of a program it becomes.
//
// Every family has a folder of its own and one line in families.cpp. The planner (fusion/planner.h)
// calls all functions but build(), which the program builder (program/program_builder.h) calls for
// each group of the finished plan. A family has no state: one object serves all threads.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FAMILY_H_

#include <optional>
#include <span>
#include <string_view>

#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

struct FusionGroup;
class ProgramBuilder;

// How a family takes an operand.
enum class OperandUse : uint8_t {
  inlined,    // a fused prologue: elements are computed inside the kernel, at any index
  at_result,  // a fused prologue, each element at the index of the result that is stored after it
  in_memory,  // read from memory, through strides where they can express a view
  copied,     // computed into a buffer that the family then works in
};

class Family {
 public:
  virtual ~Family() = default;

  virtual std::string_view name() const = 0;

  // The estimated cost of the node on this machine; nullopt: the family does not compute it. The
  // cheapest family is chosen. May add guards to the graph's context.
  virtual std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                                   const Machine& machine) const = 0;

  // Does it compute the derived primitive better than what the primitive is made of? Asked of every
  // derived primitive before it is expanded. May add guards.
  virtual bool is_legal_derived(const prims::Graph& g, prims::NodeId node,
                                const Machine& machine) const {
    return false;
  }

  virtual OperandUse operand(const prims::Graph& g, const prims::Node& n, size_t index,
                             const Machine& machine) const {
    return OperandUse::inlined;
  }

  // Can its kernels compute an epilogue: elementwise functions of the primitive's results, at the
  // same index?
  virtual bool fuses_epilogue() const { return false; }

  // Appends the group's steps to the program.
  virtual void build(ProgramBuilder& b, const FusionGroup& group) const = 0;
};

// All families that compute single primitives; of equal costs the earlier one wins. Pointwise and
// reduction kernels consist of many primitives: the planner forms their groups itself.
std::span<const Family* const> families();
extern const Family& pointwise_family;
extern const Family& reduction_family;
// Reads a size from the device to the host (primitive set_dim).
extern const Family& read_size_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FAMILY_H_
