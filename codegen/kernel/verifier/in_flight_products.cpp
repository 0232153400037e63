// K31: sums that group_multiply has only begun go to another product, round a loop, or to a wait:
// nothing else reads them.
#include <algorithm>
#include <span>

#include "codegen/kernel/verifier/checker.h"

namespace primset::kir {
namespace {

constexpr size_t kCarriedFrom = 3;  // operands of for

class Begun {
 public:
  explicit Begun(Checker& c) : c_(c), begun_(c.kernel.types.size()) {}

  // What is begun only grows, and goes round loops: repeat until it stays. Then look at each use.
  void run() {
    do {
      changed_ = false;
      for (const Inst& inst : c_.kernel.insts) spread(inst);
    } while (changed_);
    for (BlockId id = 0; id < c_.kernel.blocks.size(); ++id) uses(id);
  }

 private:
  void mark(Value v) {
    if (begun_[v.id]) return;
    begun_[v.id] = true;
    changed_ = true;
  }

  void spread(const Inst& inst) {
    switch (inst.op) {
      case Op::GroupMultiplyF16:
      case Op::GroupMultiplyBf16:
        return mark(inst.results[0]);
      case Op::GroupMultiplyWait:
        if (inst.imm.index > 0) mark(inst.results[0]);
        return;
      case Op::For:
        return spread_round(inst);
      default:
        return;
    }
  }

  // What is begun when a loop is entered or gone round may be begun in it and behind it.
  void spread_round(const Inst& loop) {
    const Block& body = c_.kernel.blocks[loop.regions[0]];
    const std::span<const Value> yielded = c_.kernel.insts[body.insts.back()].operands;
    for (size_t i = 0; i < yielded.size(); ++i) {
      if (!begun_[yielded[i].id] && !begun_[loop.operands[kCarriedFrom + i].id]) continue;
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

  void uses(BlockId block) {
    for (InstId id : c_.kernel.blocks[block].insts) {
      const Inst& inst = c_.kernel.insts[id];
      const auto fail = [&](const char* what) {
        c_.fail("K31", std::string(info(inst.op).text) + what, id, block);
      };
      if (inst.op == Op::GroupMultiplyWait && !begun_[inst.operands[0].id])
        fail(" waits for what group_multiply gives");
      for (size_t i = 0; i < inst.operands.size(); ++i) {
        if (begun_[inst.operands[i].id] && !may_take(inst, i, block))
          fail(" takes what group_multiply has only begun");
      }
    }
  }

  Checker& c_;
  std::vector<bool> begun_;  // by Value::id
  bool changed_ = false;
};

}  // namespace

void check_begun(Checker& c) {
  if (multiplies_in_group(c.kernel)) Begun(c).run();
}

}  // namespace primset::kir
