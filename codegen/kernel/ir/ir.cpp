#include "codegen/kernel/ir/ir.h"

#include <algorithm>
#include <iterator>

#include "codegen/kernel/ir/name_table.h"

namespace primset::kir {
namespace {

constexpr OpInfo kOps[] = {
#define PRIMSET_KIR_OP(id, text, operands, results, group) {text, operands, results, Group::group},
#include "codegen/kernel/ir/ops.def"
#undef PRIMSET_KIR_OP
};

constexpr std::string_view kRmws[] = {"add", "min_s", "max_s",    "min_u", "max_u", "and",
                                      "or",  "xor",   "exchange", "fadd",  "fmin",  "fmax"};

uint32_t round_up(uint32_t n, uint32_t to) {
  return (n + to - 1) / to * to;
}

}  // namespace

std::string_view name(Rmw r) {
  return kRmws[static_cast<size_t>(r)];
}
const OpInfo& info(Op op) {
  return kOps[static_cast<size_t>(op)];
}

bool parse_rmw(std::string_view text, Rmw& rmw) {
  return find_name(kRmws, text, rmw);
}

bool parse_op(std::string_view text, Op& op) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    if (kOps[i].text == text) {
      op = static_cast<Op>(i);
      return true;
    }
  }
  return false;
}

bool is_collective(Op op) {
  const Group group = info(op).group;
  if (group == Group::Subgroup) {
    return op == Op::SubgroupShuffleXor || op == Op::SubgroupShuffle || op == Op::SubgroupBallot;
  }
  return group == Group::Sync || group == Group::Matrix;
}

bool is_pure(Op op) {
  switch (info(op).group) {
    case Group::Memory:
    case Group::Hint:
    case Group::Atomic:
    case Group::Alloc:
    case Group::Async:
    case Group::Sync:
    case Group::Control:
      return false;
    case Group::Subgroup:
      return !is_collective(op);
    case Group::Matrix:
      return false;
    default:
      return true;
  }
}

bool is_commutative(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Mul:
    case Op::MulHiS:
    case Op::MulHiU:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::IEq:
    case Op::INe:
      return true;
    default:
      return false;
  }
}

ParamLayout param_layout(const std::vector<Param>& params) {
  ParamLayout layout;
  for (const Param& p : params) {
    const auto size = static_cast<uint32_t>(bytes(p.type));
    layout.size = round_up(layout.size, size);
    layout.offsets.push_back(layout.size);
    layout.size += size;
    if (p.type.is_pointer()) ++layout.pointers;
  }
  layout.size = round_up(layout.size, 8);
  return layout;
}

uint32_t group_memory_bytes(const Kernel& kernel) {
  uint32_t bytes = 0;
  for (const Inst& inst : kernel.insts) {
    if (inst.op != Op::GroupAlloc || inst.results.size() != 1) continue;
    bytes = round_up(bytes + inst.imm.count * static_cast<uint32_t>(kir::bytes(inst.imm.elem)), 16);
  }
  return bytes;
}

bool multiplies_in_group(const Kernel& kernel) {
  return std::any_of(kernel.insts.begin(), kernel.insts.end(), [](const Inst& inst) {
    return inst.op == Op::GroupMultiplyF16 || inst.op == Op::GroupMultiplyBf16 ||
           inst.op == Op::GroupMultiplyWait;
  });
}

bool is_cooperative(Op op) {
  return op == Op::CooperativeLoad || op == Op::CooperativeMultiply || op == Op::CooperativeScale ||
         op == Op::CooperativeStore;
}

bool is_cooperative(const Kernel& kernel) {
  return std::any_of(kernel.insts.begin(), kernel.insts.end(),
                     [](const Inst& inst) { return is_cooperative(inst.op); });
}

}  // namespace primset::kir
