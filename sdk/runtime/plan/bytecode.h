// Symbolic integers as bytecode. All expressions of a plan become straight-line code over an array
// of int64 slots, of which the first are the symbol values of the call: sizes, strides, integer
// arguments. One pass evaluates all of them; equal subexpressions share a slot.
//
// Dynamic numbers, known only during a run (a count read from the device, a loop's counter), have
// slots that the executor sets; what depends on them is evaluated again when they change.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_BYTECODE_H_
#define PRIMSET_SDK_RUNTIME_PLAN_BYTECODE_H_

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "prims/graph/symint.h"

namespace primset::runtime {

using Slot = uint32_t;

struct Code {
  enum class Op : uint32_t { add, sub, mul, floor_div, mod, min, max, ceil_log2 };
  struct Inst {
    Op op;
    Slot target, a, b;
  };

  struct Constant {
    Slot slot;
    int64_t value;
  };

  uint32_t symbol_values = 0;  // slots [0, symbol_values) are the caller's
  uint32_t slots = 0;          // all
  std::vector<Constant> constants;
  std::vector<Inst> insts;                 // those that depend on symbol values alone
  std::vector<std::vector<Inst>> dynamic;  // by dynamic number: what to evaluate when it changes
  std::vector<Slot> dynamic_slots;         // by dynamic number

  // Fills the constants; `slots` has the symbol values already.
  void start(int64_t* slots) const {
    for (const Constant& c : constants) slots[c.slot] = c.value;
  }
  static void run(std::span<const Inst> insts, int64_t* slots);
};

class CodeBuilder {
 public:
  explicit CodeBuilder(const prims::SymContext& context, uint32_t symbol_values);

  // The symbol is the caller's symbol value `index`.
  void bind(uint32_t symbol, uint32_t index);
  // The symbol is set during the run; its dynamic number.
  uint32_t bind_dynamic(uint32_t symbol);

  // The slot of the value. Throws Error{internal} for an unbound symbol.
  Slot slot(const prims::SymInt& value);
  Slot slot_of_poly(const prims::SymContext::Poly& poly);
  Slot difference(Slot a, Slot b) { return binary(Op::sub, a, b); }
  // Does it depend on a dynamic number?
  bool is_dynamic(Slot slot) const { return !nodes_[slot].depends.empty(); }
  // The number of instructions so far that depend on symbol values alone. Those of guards come
  // first.
  uint32_t position() const { return static_cast<uint32_t>(code_.insts.size()); }
  Code finish() &&;

 private:
  using Op = Code::Op;
  struct Node {
    bool constant = false;
    int64_t value = 0;
    std::vector<uint32_t> depends;  // dynamic numbers, sorted
  };
  Slot constant(int64_t value);
  Slot binary(Op op, Slot a, Slot b);
  Slot product(const prims::SymContext::Term& term);
  Slot sum(const prims::SymContext::Poly& poly);
  void make_atoms(const prims::SymContext::Poly& poly);
  void make_atom(uint32_t id);
  Slot add_node(Node node);

  const prims::SymContext& context_;
  Code code_;
  std::vector<Node> nodes_;
  std::map<int64_t, Slot> constants_;
  std::map<uint32_t, Slot> symbols_;
  std::unordered_map<uint32_t, Slot> atoms_;
  std::map<std::tuple<Op, Slot, Slot>, Slot> known_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_BYTECODE_H_
