// The interface of a kernel family: which primitives it computes on a machine, what that would
// cost, how it takes its operands, and how it becomes steps of a program.
//
// Every family has a folder of its own and one line in families.cpp. The planner
// (fusion/planner.h) asks the questions, the program's builder (program/program_builder.h) has the
// groups of the finished plan built. A family has no state: one object serves all threads.
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
  inlined,    // a fused prologue: elements are computed in the kernel, where it asks for them
  at_result,  // so too, each for the result at the same index, which is written after it is read
  in_memory,  // read from memory, through strides where a view can be expressed by them
  copied,     // computed into memory that the family then works in
};

class Family {
 public:
  virtual ~Family() = default;

  virtual std::string_view name() const = 0;

  // What the node would cost on this machine; nullopt: the family does not compute it. Of several
  // families the one that costs least is taken. May add guards to the graph's context.
  virtual std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                                   const Machine& machine) const = 0;

  // Does it compute the derived primitive better than what the primitive is made of? Asked of every
  // derived primitive before it is expanded. May add guards.
  virtual bool takes_derived(const prims::Graph& g, prims::NodeId node,
                             const Machine& machine) const {
    return false;
  }

  virtual OperandUse operand(const prims::Graph& g, const prims::Node& n, size_t index,
                             const Machine& machine) const {
    return OperandUse::inlined;
  }

  // Can its kernels compute, besides the primitive's results, what is made of them elementwise at
  // their own positions (an epilogue)?
  virtual bool fuses_epilogue() const { return false; }

  // Appends the group's steps to the program.
  virtual void build(ProgramBuilder& b, const FusionGroup& group) const = 0;
};

// All families that compute single primitives, by what they are asked first. Pointwise and
// reduction kernels are made of many primitives: the planner forms their groups itself.
std::span<const Family* const> families();
extern const Family& pointwise_family;
extern const Family& reduction_family;
// Reads a size from the device (set_dim).
extern const Family& read_size_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FAMILY_H_
