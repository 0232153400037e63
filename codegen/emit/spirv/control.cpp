// Structured control flow.
#include "codegen/emit/spirv/lowering.h"

#include <algorithm>

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;

void Lowering::lower_control(const Inst& inst) {
  switch (inst.op) {
    case Op::If:
      return lower_if(inst);
    case Op::For:
      return lower_for(inst);
    case Op::While:
      return lower_while(inst);
    default:
      fail(inst, "only at a region's end");
  }
}

// Returns what the region yields; code_.block() is then the block it ends in.
std::vector<Ids> Lowering::lower_region(kir::BlockId block) {
  offsets_.clear();  // values of an earlier copy of this region
  lower_block(block);
  std::vector<Ids> yielded;
  for (kir::Value v : k_.insts[k_.blocks[block].insts.back()].operands) yielded.push_back(get(v));
  return yielded;
}

void Lowering::lower_if(const Inst& inst) {
  const Id then = code_.new_label(), otherwise = code_.new_label(), merge = code_.new_label();
  code_.selection_merge(merge);
  code_.branch_if(get_scalar(inst.operands[0]), then, otherwise);
  code_.begin(then);
  const std::vector<Ids> from_then = lower_region(inst.regions[0]);
  const Id then_end = code_.block();
  code_.branch(merge);
  code_.begin(otherwise);
  const std::vector<Ids> from_else = lower_region(inst.regions[1]);
  const Id else_end = code_.block();
  code_.branch(merge);
  code_.begin(merge);
  for (size_t r = 0; r < inst.results.size(); ++r) {
    const Id type = types_.piece(k_.type(inst.results[r]));
    Ids pieces;
    for (size_t i = 0; i < from_then[r].size(); ++i) {
      pieces.push_back(code_.phi(type, {from_then[r][i], then_end}, {from_else[r][i], else_end}));
    }
    set(inst.results[r], std::move(pieces));
  }
}

Lowering::Carried Lowering::open_carried(std::span<const kir::Value> like,
                                         std::span<const Ids> first, Id before, Id next) {
  Carried carried;
  for (size_t v = 0; v < like.size(); ++v) {
    const Id type = types_.piece(k_.type(like[v]));
    auto& phis = carried.phis.emplace_back();
    Ids& ids = carried.values.emplace_back();
    for (Id piece : first[v]) {
      phis.push_back(code_.loop_phi(type, {piece, before}, next));
      ids.push_back(phis.back().id);
    }
  }
  return carried;
}

std::vector<Ids> Lowering::initial(std::span<const kir::Value> values) {
  std::vector<Ids> all;
  for (kir::Value v : values) {
    Ids& pieces = all.emplace_back();
    for (uint32_t i = 0; i < get(v).size(); ++i) pieces.push_back(operand(v, i));
  }
  return all;
}

void Lowering::close_carried(const Carried& carried, std::span<const Ids> next) {
  for (size_t v = 0; v < next.size(); ++v) {
    for (size_t i = 0; i < next[v].size(); ++i) code_.close(carried.phis[v][i], next[v][i]);
  }
}

// Drivers may unroll what they like, but for opaque_constants.cpp's reason.
spv::LoopControlMask Lowering::loop_control(const Inst& inst) const {
  for (kir::BlockId region : inst.regions) {
    if (vulkan() && makes_floats(region)) return spv::LoopControlMask::DontUnroll;
  }
  return spv::LoopControlMask::MaskNone;
}

// Both loops have this shape; what leaves the loop are the header's phis, since they hold when the
// condition fails:
//
//   header: phis; OpLoopMerge merge next; branch test
//   test:   condition ? body : merge
//   body:   ...; branch next
//   next:   branch header
void Lowering::lower_for(const Inst& inst) {
  const std::span operands(inst.operands);
  const Id type = types_.piece(k_.type(operands[0]));
  const Id last = get_scalar(operands[1]), step = get_scalar(operands[2]);
  ForState state{get_scalar(operands[0]), initial(operands.subspan(3))};
  if (const uint32_t copies = unrolling(inst); copies > 1) {
    // While all copies still fit: iv < last - (copies - 1) * step, where neither the product nor
    // the difference wraps around.
    const Id boolean = types_.scalar(Scalar::i1);
    const Scalar counter = k_.type(operands[0]).scalar;
    const Id others = types_.constant(counter, copies - 1);
    const Id large = types_.constant(counter, uint64_t{1} << (kir::width(counter) - 5));
    const Id small_step = code_.op(spv::Op::OpSLessThan, boolean, {step, large});
    const Id back = code_.op(spv::Op::OpIMul, type, {step, others});
    const Id limit = code_.op(spv::Op::OpISub, type, {last, back});
    const Id no_wrap = code_.op(spv::Op::OpSLessThan, boolean, {limit, last});
    const Id sound = code_.op(spv::Op::OpLogicalAnd, boolean, {small_step, no_wrap});
    const Id bound = code_.op(spv::Op::OpSelect, type, {sound, limit, state.iv});
    state = for_pass(inst, state, bound, copies);
  }
  state = for_pass(inst, state, last, 1);
  for (size_t i = 0; i < inst.results.size(); ++i) set(inst.results[i], state.carried[i]);
}

// Runs the body from `first` on while iv < last, `copies` times an iteration.
Lowering::ForState Lowering::for_pass(const Inst& inst, const ForState& first, Id last,
                                      uint32_t copies) {
  const std::span operands(inst.operands);
  const Id type = types_.piece(k_.type(operands[0]));
  const Id header = code_.new_label(), test = code_.new_label(), body = code_.new_label(),
           next = code_.new_label(), merge = code_.new_label();
  const Id before = code_.block();
  code_.branch(header);
  code_.begin(header);
  const Code::LoopPhi iv = code_.loop_phi(type, {first.iv, before}, next);
  const Carried carried = open_carried(operands.subspan(3), first.carried, before, next);
  code_.loop_merge(merge, next, loop_control(inst));
  code_.branch(test);
  code_.begin(test);
  code_.branch_if(code_.op(spv::Op::OpSLessThan, types_.scalar(Scalar::i1), {iv.id, last}), body,
                  merge);

  code_.begin(body);
  const kir::Block& region = k_.blocks[inst.regions[0]];
  ForState state{iv.id, carried.values};
  for (uint32_t copy = 0; copy < copies; ++copy) {
    set(region.params[0], {state.iv});
    for (size_t i = 0; i < state.carried.size(); ++i) set(region.params[i + 1], state.carried[i]);
    state.carried = lower_region(inst.regions[0]);
    state.iv = code_.op(spv::Op::OpIAdd, type, {state.iv, get_scalar(operands[2])});
  }
  code_.branch(next);
  code_.begin(next);
  code_.close(iv, state.iv);
  close_carried(carried, state.carried);
  code_.branch(header);
  code_.begin(merge);
  return {iv.id, carried.values};
}

// How often a driver that counts iterations gets the body of an innermost loop in each.
uint32_t Lowering::unrolling(const Inst& inst) const {
  constexpr uint32_t kMaxCopies = 16, kMaxInsts = 1024;
  if (target_.loop_limit == 0) return 1;
  uint32_t size = 1;
  const auto count = [&](const auto& self, kir::BlockId block) -> bool {
    for (kir::InstId i : k_.blocks[block].insts) {
      const Inst& inner = k_.insts[i];
      if (inner.op == Op::For || inner.op == Op::While) return false;
      ++size;
      for (kir::BlockId region : inner.regions) {
        if (!self(self, region)) return false;
      }
    }
    return true;
  };
  if (!count(count, inst.regions[0])) return 1;
  return std::clamp(kMaxInsts / size, 1u, kMaxCopies);
}

// SPIR-V's structured loop: the header has the phis of what is carried, the test leaves to the
// merge block, and the continue block goes back. Condition and body see the same carried values,
// which are the results, too.
void Lowering::lower_while(const Inst& inst) {
  const Id header = code_.new_label(), test = code_.new_label(), body = code_.new_label(),
           next = code_.new_label(), merge = code_.new_label();
  const std::vector<Ids> first = initial(inst.operands);
  const Id before = code_.block();
  code_.branch(header);
  code_.begin(header);
  const Carried carried = open_carried(inst.operands, first, before, next);
  code_.loop_merge(merge, next, loop_control(inst));
  code_.branch(test);
  code_.begin(test);
  const kir::Block &condition = k_.blocks[inst.regions[0]], &region = k_.blocks[inst.regions[1]];
  for (size_t i = 0; i < carried.values.size(); ++i) {
    set(condition.params[i], carried.values[i]);
    set(region.params[i], carried.values[i]);
  }
  const Id more = lower_region(inst.regions[0])[0][0];
  code_.branch_if(more, body, merge);

  code_.begin(body);
  const std::vector<Ids> yielded = lower_region(inst.regions[1]);
  code_.branch(next);
  code_.begin(next);
  close_carried(carried, yielded);
  code_.branch(header);
  code_.begin(merge);
  for (size_t i = 0; i < inst.results.size(); ++i) set(inst.results[i], carried.values[i]);
}

}  // namespace primset::emit::spirv
