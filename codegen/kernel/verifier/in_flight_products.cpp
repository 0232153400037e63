// K31: the sums of an asynchronous product (group_multiply) are in flight until a wait. In flight
// they may go to another product, round a loop, or to the wait: nothing else reads them.
#include <algorithm>
#include <span>

#include "codegen/kernel/verifier/checker.h"

namespace primset::kir {
namespace {

constexpr size_t kCarriedFrom = 3;  // operands of for

class InFlight {
 public:
  explicit InFlight(Checker& c) : c_(c), in_flight_(c.kernel.types.size()) {}

  // A forward dataflow analysis: the set of values in flight only grows, and loops carry it back,
  // so it is propagated until nothing changes. Then each use is checked.
  void run() {
    do {
      changed_ = false;
      for (const Inst& inst : c_.kernel.insts) propagate(inst);
    } while (changed_);
    for (BlockId id = 0; id < c_.kernel.blocks.size(); ++id) check_uses(id);
  }

 private:
  void mark(Value v) {
    if (in_flight_[v.id]) return;
    in_flight_[v.id] = true;
    changed_ = true;
  }

  void propagate(const Inst& inst) {
    switch (inst.op) {
      case Op::GroupMultiplyF16:
      case Op::GroupMultiplyBf16:
        return mark(inst.results[0]);
      case Op::GroupMultiplyWait:
        if (inst.imm.index > 0) mark(inst.results[0]);
        return;
      case Op::For:
        return propagate_around(inst);
      default:
        return;
    }
  }

  // A carried value that is in flight on entry or at the end of the body may be so in the loop and
  // behind it.
  void propagate_around(const Inst& loop) {
    const Block& body = c_.kernel.blocks[loop.regions[0]];
    const std::span<const Value> yielded = c_.kernel.insts[body.insts.back()].operands;
    for (size_t i = 0; i < yielded.size(); ++i) {
      if (!in_flight_[yielded[i].id] && !in_flight_[loop.operands[kCarriedFrom + i].id]) continue;
      mark(body.params[1 + i]);
      mark(loop.results[i]);
    }
  }

  bool may_take(const Inst& inst, size_t operand, BlockId in) const {
    switch (inst.op) {
      case Op::GroupMultiplyF16:
      case Op::GroupMultiplyBf16:
      case Op::GroupMultiplyWait:
        return true;
      case Op::For:
        return operand >= kCarriedFrom;
      case Op::Yield:
        return std::ranges::any_of(c_.kernel.insts, [&](const Inst& owner) {
          return owner.op == Op::For && owner.regions[0] == in;
        });
      default:
        return false;
    }
  }

  void check_uses(BlockId block) {
    for (InstId id : c_.kernel.blocks[block].insts) {
      const Inst& inst = c_.kernel.insts[id];
      const auto fail = [&](const char* what) {
        c_.fail("K31", std::string(info(inst.op).text) + what, id, block);
      };
      if (inst.op == Op::GroupMultiplyWait && !in_flight_[inst.operands[0].id])
        fail(" waits for what group_multiply gives");
      for (size_t i = 0; i < inst.operands.size(); ++i) {
        if (in_flight_[inst.operands[i].id] && !may_take(inst, i, block))
          fail(" takes what group_multiply has only begun");
      }
    }
  }

  Checker& c_;
  std::vector<bool> in_flight_;  // by Value::id
  bool changed_ = false;
};

}  // namespace

void check_in_flight(Checker& c) {
  if (multiplies_in_group(c.kernel)) InFlight(c).run();
}

}  // namespace primset::kir
