// K25: every thread of a group reaches a barrier, a shuffle, a ballot or an operation on matrices,
// or none does.
//
// A value is uniform when all threads of a group have the same: it depends only on parameters,
// group ids, constants, and loads from uniform addresses. Loads count because the kernel is free of
// data races (the interpreter checks that): between two barriers, all threads read the same there.
// Private memory, atomics, thread ids, shuffles, ballots and matrices are divergent.
#include <algorithm>
#include <array>
#include <span>

#include "codegen/kernel/verifier/checker.h"

namespace primset::kir {
namespace {

class Uniformity {
 public:
  explicit Uniformity(Checker& c) : c_(c), divergent_(c.kernel.types.size()) {}

  // Divergence only grows; loops feed it back, so repeat until it stays. Then look for barriers.
  void run() {
    do {
      changed_ = false;
      block(0, false);
    } while (changed_);
    reporting_ = true;
    block(0, false);
  }

 private:
  bool divergent(std::span<const Value> values) const {
    return std::any_of(values.begin(), values.end(), [&](Value v) { return divergent_[v.id]; });
  }
  void mark(Value v, bool divergent) {
    if (!divergent || divergent_[v.id]) return;
    divergent_[v.id] = true;
    changed_ = true;
  }
  std::span<const Value> yielded(BlockId region) const {
    return c_.kernel.insts[c_.kernel.blocks[region].insts.back()].operands;
  }

  void block(BlockId id, bool diverged) {
    for (InstId i : c_.kernel.blocks[id].insts) instruction(i, id, diverged);
  }

  void instruction(InstId id, BlockId in, bool diverged) {
    const Inst& inst = c_.kernel.insts[id];
    if (is_collective(inst.op) && diverged && reporting_) {
      c_.fail("K25", std::string(info(inst.op).text) + " is not reached by all threads together",
              id, in);
    }
    switch (inst.op) {
      case Op::If:
        return if_else(inst, diverged);
      case Op::For:
        return for_loop(inst, diverged);
      case Op::While:
        return while_loop(inst, diverged);
      case Op::Yield:
        return;
      default:
        break;
    }
    const bool source = inst.op == Op::LocalId || inst.op == Op::SubgroupLane ||
                        is_collective(inst.op) || info(inst.op).group == Group::Atomic;
    const bool from_private = info(inst.op).group == Group::Memory &&
                              c_.type(inst.operands[0]).is_pointer_to(AddressSpace::priv);
    for (Value v : inst.results) mark(v, source || from_private || divergent(inst.operands));
  }

  void if_else(const Inst& inst, bool diverged) {
    const bool splits = divergent(inst.operands);
    for (BlockId region : inst.regions) {
      block(region, diverged || splits);
      for (size_t i = 0; i < inst.results.size(); ++i) {
        mark(inst.results[i], splits || divergent_[yielded(region)[i].id]);
      }
    }
  }

  // Threads that leave a loop at different times diverge in it, and see different results.
  void for_loop(const Inst& inst, bool diverged) {
    const auto& params = c_.kernel.blocks[inst.regions[0]].params;
    const bool splits = divergent(std::array{inst.operands[0], inst.operands[1], inst.operands[2]});
    mark(params[0], divergent(std::array{inst.operands[0], inst.operands[2]}));
    carry(inst, 3, params, 1, splits);
    block(inst.regions[0], diverged || splits);
    feed_back(inst, params, 1);
  }

  void while_loop(const Inst& inst, bool diverged) {
    const auto& cond_params = c_.kernel.blocks[inst.regions[0]].params;
    const auto& body_params = c_.kernel.blocks[inst.regions[1]].params;
    const bool splits = divergent(yielded(inst.regions[0]));
    carry(inst, 0, cond_params, 0, splits);
    carry(inst, 0, body_params, 0, splits);
    // The first test is made by all; the later ones by those that stayed.
    block(inst.regions[0], diverged || splits);
    block(inst.regions[1], diverged || splits);
    feed_back(inst, cond_params, 0);
    feed_back(inst, body_params, 0);
  }

  void carry(const Inst& inst, size_t first_operand, std::span<const Value> params,
             size_t first_param, bool splits) {
    for (size_t i = 0; i < inst.results.size(); ++i) {
      const bool in = divergent_[inst.operands[first_operand + i].id];
      mark(params[first_param + i], in);
      mark(inst.results[i], in || splits);
    }
  }
  void feed_back(const Inst& inst, std::span<const Value> params, size_t first_param) {
    const auto& out = yielded(inst.regions.back());
    for (size_t i = 0; i < inst.results.size(); ++i) {
      mark(params[first_param + i], divergent_[out[i].id]);
      mark(inst.results[i], divergent_[out[i].id]);
    }
  }

  Checker& c_;
  std::vector<bool> divergent_;  // by Value::id
  bool changed_ = false;
  bool reporting_ = false;
};

}  // namespace

void check_uniformity(Checker& c) {
  const auto meets = [](const Inst& i) { return is_collective(i.op); };
  if (std::any_of(c.kernel.insts.begin(), c.kernel.insts.end(), meets)) Uniformity(c).run();
}

}  // namespace primset::kir
