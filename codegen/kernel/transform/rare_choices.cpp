#include "codegen/kernel/transform/rare_choices.h"

#include <algorithm>
#include <map>

namespace primset::kir {
namespace {

// So many instructions are worth a test and a branch that may go either way. A division takes as
// long as several others.
constexpr size_t kLeastSkipped = 16, kDivision = 8;

size_t weight_of(Op op) {
  return op == Op::FDiv || op == Op::FSqrt ? kDivision : 1;
}

// Which instructions of a block move where, for its selects by one condition.
struct Move {
  std::vector<InstId> choices;  // the selects
  std::vector<InstId> skipped;  // what their first operands alone need
  size_t weight = 0;            // of these
  std::vector<InstId> behind;   // between the selects, of what they have chosen
  size_t last = 0;              // place of the last select
};

class RareChoices {
 public:
  explicit RareChoices(Kernel& kernel) : k_(kernel) {}

  void run() {
    const size_t blocks = k_.blocks.size();
    for (BlockId b = 0; b < blocks; ++b)
      while (move_one(b)) {
      }
  }

 private:
  enum class Role : uint8_t { none, choice, skipped, behind };

  Inst& inst(InstId id) { return k_.insts[id]; }

  // Moves what the first condition that is worth it chooses; false: there is none.
  bool move_one(BlockId block) {
    find_users();
    std::map<uint32_t, std::vector<InstId>> by_condition;
    for (const InstId id : k_.blocks[block].insts)
      if (inst(id).op == Op::Select && k_.type(inst(id).operands[0]).is_vector())
        by_condition[inst(id).operands[0].id].push_back(id);
    for (const auto& [condition, choices] : by_condition) {
      Move move{choices, {}, 0, {}, 0};
      if (!plan(block, move)) continue;
      apply(block, Value{condition}, move);
      return true;
    }
    return false;
  }

  void find_users() {
    users_.assign(k_.types.size(), {});
    owner_.assign(k_.blocks.size(), UINT32_MAX);
    block_of_.assign(k_.insts.size(), 0);
    place_.assign(k_.insts.size(), 0);
    for (BlockId b = 0; b < k_.blocks.size(); ++b) {
      for (size_t i = 0; i < k_.blocks[b].insts.size(); ++i) {
        const InstId id = k_.blocks[b].insts[i];
        block_of_[id] = b, place_[id] = i;
        for (const Value v : inst(id).operands) users_[v.id].push_back(id);
        for (const BlockId region : inst(id).regions) owner_[region] = id;
      }
    }
  }

  bool plan(BlockId block, Move& move) {
    role_.assign(k_.insts.size(), Role::none);
    for (const InstId id : move.choices) role_[id] = Role::choice;
    move.last = place_[move.choices.back()];
    const std::vector<InstId>& insts = k_.blocks[block].insts;
    for (size_t i = move.last; i-- > 0;) {
      if (role_[insts[i]] != Role::none || !is_skipped(insts[i])) continue;
      role_[insts[i]] = Role::skipped;
      move.skipped.push_back(insts[i]);
      move.weight += weight_of(inst(insts[i]).op);
    }
    std::ranges::reverse(move.skipped);
    return move.weight >= kLeastSkipped && plan_behind(block, move);
  }

  bool is_skipped(InstId id) {
    const Inst& i = inst(id);
    if (!is_pure(i.op) || info(i.op).group == Group::Leaf || i.results.empty()) return false;
    return std::ranges::all_of(i.results, [&](Value v) {
      return !users_[v.id].empty() && std::ranges::all_of(users_[v.id], [&](InstId user) {
        const auto& operands = inst(user).operands;
        return role_[user] == Role::skipped ||
               (role_[user] == Role::choice && operands[0] != v && operands[2] != v);
      });
    });
  }

  // Instructions between the selects that need what an earlier one has chosen go behind them all.
  // False where one cannot, or a select needs it.
  bool plan_behind(BlockId block, Move& move) {
    const std::vector<InstId>& insts = k_.blocks[block].insts;
    std::vector<bool> late(k_.types.size());
    const auto is_late = [&](Value v) { return static_cast<bool>(late[v.id]); };
    for (size_t i = place_[move.choices.front()]; i <= move.last; ++i) {
      const InstId id = insts[i];
      const bool needs_late = std::ranges::any_of(inst(id).operands, is_late);
      if (needs_late && (role_[id] != Role::none || !is_pure(inst(id).op))) return false;
      if (role_[id] != Role::choice && !needs_late) continue;
      if (role_[id] == Role::none) {
        role_[id] = Role::behind;
        move.behind.push_back(id);
      }
      for (const Value v : inst(id).results) {
        if (is_used_inside(block, v, move.last)) return false;
        late[v.id] = true;
      }
    }
    return true;
  }

  // Whether a region of an instruction up to the place needs the value.
  bool is_used_inside(BlockId block, Value v, size_t place) const {
    return std::ranges::any_of(users_[v.id], [&](InstId user) {
      if (block_of_[user] == block) return false;
      InstId outer = user;
      while (block_of_[outer] != block) outer = owner_[block_of_[outer]];
      return place_[outer] <= place;
    });
  }

  void apply(BlockId block, Value condition, const Move& move) {
    std::vector<Value> first, second, chosen;
    for (const InstId id : move.choices) {
      chosen.push_back(inst(id).results[0]);
      second.push_back(inst(id).operands[2]);
      first.push_back(new_value(k_.type(chosen.back())));
      inst(id).results = {first.back()};
    }
    std::vector<InstId> then = move.skipped;
    then.insert(then.end(), move.choices.begin(), move.choices.end());
    then.push_back(added(Op::Yield, first, {}, {}));
    const BlockId then_block = new_block(std::move(then));
    const BlockId else_block = new_block({added(Op::Yield, second, {}, {})});
    const Value any = new_value(Type{Scalar::i1, 1});
    const InstId test = added(Op::Any, {condition}, {any}, {});
    const InstId branch = added(Op::If, {any}, chosen, {then_block, else_block});

    std::vector<InstId> kept;
    const std::vector<InstId>& insts = k_.blocks[block].insts;
    for (size_t i = 0; i < insts.size(); ++i) {
      if (role_[insts[i]] == Role::none) kept.push_back(insts[i]);
      if (i != move.last) continue;
      kept.insert(kept.end(), {test, branch});
      kept.insert(kept.end(), move.behind.begin(), move.behind.end());
    }
    k_.blocks[block].insts = std::move(kept);
  }

  Value new_value(Type type) {
    k_.types.push_back(type);
    return Value{static_cast<uint32_t>(k_.types.size() - 1)};
  }

  BlockId new_block(std::vector<InstId> insts) {
    k_.blocks.push_back({{}, std::move(insts)});
    return static_cast<BlockId>(k_.blocks.size() - 1);
  }

  InstId added(Op op, const std::vector<Value>& operands, const std::vector<Value>& results,
               std::vector<BlockId> regions) {
    Inst i;
    i.op = op;
    for (const Value v : operands) i.operands.push_back(v);
    for (const Value v : results) i.results.push_back(v);
    i.regions = std::move(regions);
    k_.insts.push_back(std::move(i));
    role_.push_back(Role::choice);
    return static_cast<InstId>(k_.insts.size() - 1);
  }

  Kernel& k_;
  std::vector<std::vector<InstId>> users_;  // by value
  std::vector<InstId> owner_;               // of a block: the instruction whose region it is
  std::vector<BlockId> block_of_;           // by instruction
  std::vector<size_t> place_;
  std::vector<Role> role_;
};

}  // namespace

void skip_rare_choices(Kernel& kernel) {
  RareChoices(kernel).run();
}

}  // namespace primset::kir
