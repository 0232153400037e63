#include "codegen/kernel/interpreter/program.h"

#include <algorithm>
#include <span>

namespace primset::kir::interp {
namespace {

class Decoder {
 public:
  Decoder(const Kernel& kernel, std::span<const uint64_t> scalars,
          const InterpreterOptions& options)
      : kernel_(kernel), scalars_(scalars), options_(options) {}

  Program run() {
    place_values();
    block(kernel_.body());
    emit(Step::end, 0);
    return std::move(program_);
  }

 private:
  uint32_t words(Value v) const {
    Type t = kernel_.type(v);
    return t.is_pointer() ? 2 : t.is_matrix() ? kMatrixWords : t.lanes;
  }
  uint32_t place(Value v) const { return program_.place[v.id]; }

  void place_values() {
    uint32_t next = 0;
    for (uint32_t id = 0; id < kernel_.types.size(); ++id) {
      program_.place.push_back(next);
      next += words(Value{id});
    }
    program_.registers.resize(next);
  }
  uint32_t new_register() {
    program_.registers.push_back(0);
    return static_cast<uint32_t>(program_.registers.size() - 1);
  }

  Code& emit(Step step, InstId inst) {
    Code& c = program_.code.emplace_back();
    c.step = step;
    c.inst = inst;
    c.op = kernel_.insts.empty() ? Op::Barrier : kernel_.insts[inst].op;
    return c;
  }
  uint32_t here() const { return static_cast<uint32_t>(program_.code.size()); }

  void moves(InstId inst, std::span<const Value> from, std::span<const Value> to) {
    if (from.empty()) return;
    Code& c = emit(Step::moves, inst);
    c.imm = static_cast<uint32_t>(program_.moves.size());
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      program_.moves.push_back({place(from[i]), place(to[i]), words(to[i])});
    }
    c.imm_count = static_cast<uint32_t>(program_.moves.size()) - c.imm;
  }

  // Decodes a region; returns the values of its yield.
  std::span<const Value> block(const Block& b) {
    for (InstId id : b.insts) {
      const Inst& inst = kernel_.insts[id];
      if (inst.op == Op::Yield) return inst.operands;
      instruction(id, inst);
    }
    return {};
  }
  const Block& region(const Inst& inst, size_t i) const { return kernel_.blocks[inst.regions[i]]; }

  void instruction(InstId id, const Inst& inst) {
    switch (info(inst.op).group) {
      case Group::Leaf:
        return leaf(inst);
      case Group::Alloc:
        return alloc(id, inst);
      case Group::Memory:
      case Group::Atomic:
        return memory(id, inst);
      case Group::Pointer:
        return pointer(id, inst);
      case Group::Async:
        return copy(id, inst);
      case Group::Matrix:
        return matrix(id, inst);
      case Group::Sync:
        return barrier(id);
      case Group::Subgroup:
        return subgroup(id, inst);
      case Group::Hint:
        return;
      case Group::Control:
        return control(id, inst);
      default:
        return inst.op == Op::Shuffle ? shuffle(id, inst) : lanes(id, inst);
    }
  }

  void fill(Value v, uint64_t bits) {
    std::fill_n(program_.registers.begin() + place(v), words(v), bits);
  }

  void leaf(const Inst& inst) {
    Value v = inst.results[0];
    switch (inst.op) {
      case Op::Const:
        return fill(v, inst.imm.bits & low_mask(width(kernel_.type(v))));
      case Op::Param:
        return param(v, inst.imm.index);
      case Op::LaneIota:
        for (uint32_t i = 0; i < words(v); ++i) program_.registers[place(v) + i] = i;
        return;
      case Op::GroupCount:
        return fill(v, options_.groups[inst.imm.index]);
      default:
        program_.leaves.push_back({inst.op, inst.imm.index, place(v)});
    }
  }

  void param(Value v, uint32_t index) {
    if (kernel_.type(v).is_pointer()) {
      program_.leaves.push_back({Op::Param, index, place(v)});
      return;
    }
    uint32_t pointers = param_layout(kernel_.params).pointers;
    fill(v, scalars_[index - pointers] & low_mask(width(kernel_.type(v))));
  }

  void alloc(InstId id, const Inst& inst) {
    auto& list = inst.op == Op::GroupAlloc ? program_.group_allocs : program_.private_allocs;
    list.push_back(
        {place(inst.results[0]), inst.imm.count * static_cast<uint32_t>(bytes(inst.imm.elem)), id});
  }

  void operands(Code& c, const Inst& inst) {
    for (size_t i = 0; i < std::min<size_t>(inst.operands.size(), 5); ++i) {
      c.in[i] = place(inst.operands[i]);
    }
    if (!inst.results.empty()) c.out = place(inst.results[0]);
  }

  void lanes(InstId id, const Inst& inst) {
    Type from = kernel_.type(inst.operands[inst.op == Op::Select ? 1 : 0]);
    Type to = kernel_.type(inst.results[0]);
    if (inst.op == Op::Select && to.is_pointer()) return pointer(id, inst);
    Code& c = emit(Step::lanes, id);
    operands(c, inst);
    c.lanes = to.lanes;
    c.type = to.scalar;
    c.fn = lane_function(inst.op, from.scalar, to.scalar, options_);
    c.imm = inst.imm.index;
    if (inst.op == Op::Any || inst.op == Op::All) c.imm = from.lanes;
    if (inst.op == Op::SExt) c.imm = static_cast<uint32_t>(width(to.scalar));
    if (inst.op == Op::FDiv || inst.op == Op::FSqrt || inst.op == Op::FRsqrt)
      c.imm = options_.div_sqrt_error_ulps;
    if (inst.op == Op::Select && kernel_.type(inst.operands[0]).lanes < to.lanes) {
      broadcast_condition(c);
    }
  }
  // Select with a scalar condition and vector values: splats the condition first.
  void broadcast_condition(Code& select) {
    uint32_t wide = static_cast<uint32_t>(program_.registers.size());
    program_.registers.resize(wide + select.lanes);
    Code splat = select;
    splat.fn = lane_function(Op::Splat, Scalar::i1, Scalar::i1, options_);
    splat.out = wide;
    select.in[0] = wide;
    program_.code.insert(program_.code.end() - 1, splat);
  }

  void shuffle(InstId id, const Inst& inst) {
    Code& c = emit(Step::shuffle, id);
    operands(c, inst);
    c.index_width = kernel_.type(inst.operands[0]).lanes;
    c.lanes = kernel_.type(inst.results[0]).lanes;
    c.imm = static_cast<uint32_t>(program_.lanes.size());
    program_.lanes.insert(program_.lanes.end(), inst.imm.lanes.begin(), inst.imm.lanes.end());
  }

  void memory(InstId id, const Inst& inst) {
    Code& c = emit(info(inst.op).group == Group::Memory ? Step::memory : Step::atomic, id);
    operands(c, inst);
    const bool stores = inst.results.empty();
    Type t = kernel_.type(stores ? inst.operands[2] : inst.results[0]);
    c.type = t.scalar;
    c.lanes = t.lanes;
    c.index_width = static_cast<uint16_t>(width(kernel_.type(inst.operands[1]).scalar));
    c.imm = inst.imm.align;
    c.rmw = inst.imm.rmw;
  }

  void pointer(InstId id, const Inst& inst) {
    Code& c = emit(Step::pointer, id);
    operands(c, inst);
    c.type = kernel_.type(inst.results[0]).scalar;
  }

  uint32_t enclosing_loops() {
    program_.loop_sets.push_back(loops_);
    return static_cast<uint32_t>(program_.loop_sets.size() - 1);
  }
  void barrier(InstId id) {
    uint32_t set = enclosing_loops();
    emit(Step::barrier, id).loops = set;
  }
  void subgroup(InstId id, const Inst& inst) {
    Value v = inst.results[0];
    if (inst.op == Op::SubgroupSize) return fill(v, options_.subgroup_size);
    if (inst.op == Op::SubgroupLane) {
      program_.leaves.push_back({inst.op, 0, place(v)});
      return;
    }
    uint32_t set = enclosing_loops();
    Code& c = emit(Step::exchange, id);
    operands(c, inst);
    c.loops = set;
    c.lanes = kernel_.type(v).lanes;
    c.imm = inst.imm.index;
  }

  void copy(InstId id, const Inst& inst) {
    Code& c = emit(Step::copy, id);
    operands(c, inst);
    c.imm = inst.imm.index;
    if (inst.op != Op::CopyAsync) return;
    c.type = inst.imm.elem;
    c.imm = inst.imm.count * static_cast<uint32_t>(bytes(inst.imm.elem));
    // Of the group's index, then of the global one.
    c.index_width = static_cast<uint16_t>(width(kernel_.type(inst.operands[1]).scalar));
    c.imm_count = static_cast<uint32_t>(width(kernel_.type(inst.operands[3]).scalar));
  }
  void matrix(InstId id, const Inst& inst) {
    // Here the sums are there as soon as they are begun.
    if (inst.op == Op::GroupMultiplyWait) return moves(id, inst.operands, inst.results);
    const bool in_group = inst.op == Op::GroupMultiplyF16 || inst.op == Op::GroupMultiplyBf16;
    const auto index_width = [&](size_t operand) {
      return static_cast<uint16_t>(width(kernel_.type(inst.operands[operand]).scalar));
    };
    uint32_t set = enclosing_loops();
    Code& c = emit(in_group ? Step::group_matrix : Step::matrix, id);
    operands(c, inst);
    c.loops = set;
    c.imm = inst.imm.index;
    c.imm_count = inst.imm.count;
    if (!inst.results.empty()) c.lanes = kernel_.type(inst.results[0]).lanes;
    if (inst.op == Op::CooperativeMultiply) c.type = kernel_.type(inst.operands[0]).scalar;
    if (inst.op == Op::CooperativeLoad) c.type = kernel_.type(inst.results[0]).scalar;
    const bool in_registers = inst.op == Op::MatrixMultiplyF16 ||
                              inst.op == Op::MatrixMultiplyBf16 ||
                              inst.op == Op::CooperativeMultiply || inst.op == Op::CooperativeScale;
    if (!in_registers) c.index_width = index_width(1);
    if (in_group) c.second_index_width = index_width(3);
  }

  void control(InstId id, const Inst& inst) {
    if (inst.op == Op::If) return if_else(id, inst);
    if (inst.op == Op::For) return for_loop(id, inst);
    while_loop(id, inst);
  }

  void if_else(InstId id, const Inst& inst) {
    uint32_t test = here();
    emit(Step::jump_if_zero, id).in[0] = place(inst.operands[0]);
    moves(id, block(region(inst, 0)), inst.results);
    uint32_t skip = here();
    emit(Step::jump, id);
    program_.code[test].target = here();
    if (inst.regions.size() > 1) moves(id, block(region(inst, 1)), inst.results);
    program_.code[skip].target = here();
  }

  void for_loop(InstId id, const Inst& inst) {
    const Block& body = region(inst, 0);
    uint32_t counter = new_register();
    start_counter(id, counter);
    moves(id, std::span(inst.operands.data(), 1), std::span(body.params).first(1));
    std::vector<Value> carried(body.params.begin() + 1, body.params.end());
    moves(id, {inst.operands.begin() + 3, inst.operands.end()}, carried);
    uint32_t head = here();
    Code& test = emit(Step::for_test, id);
    test.in = {place(body.params[0]), place(inst.operands[1]), place(inst.operands[2]), 0, 0};
    test.type = kernel_.type(body.params[0]).scalar;
    loops_.push_back(counter);
    moves(id, block(body), carried);
    loops_.pop_back();
    Code& next = emit(Step::for_next, id);
    next.in = {place(body.params[0]), place(inst.operands[2]), counter, 0};
    next.type = kernel_.type(body.params[0]).scalar;
    next.target = head;
    program_.code[head].target = here();
    moves(id, carried, inst.results);
  }

  void while_loop(InstId id, const Inst& inst) {
    const Block &cond = region(inst, 0), &body = region(inst, 1);
    uint32_t counter = new_register();
    start_counter(id, counter);
    moves(id, inst.operands, cond.params);
    uint32_t head = here();
    loops_.push_back(counter);
    uint32_t condition = place(block(cond)[0]);
    uint32_t test = here();
    emit(Step::jump_if_zero, id).in[0] = condition;
    moves(id, cond.params, body.params);
    moves(id, block(body), cond.params);
    loops_.pop_back();
    emit(Step::count, id).in[2] = counter;
    emit(Step::jump, id).target = head;
    program_.code[test].target = here();
    moves(id, cond.params, inst.results);
  }

  // A loop's counter starts at 0 each time the loop is entered.
  void start_counter(InstId id, uint32_t counter) {
    Code& c = emit(Step::moves, id);
    c.imm = static_cast<uint32_t>(program_.moves.size());
    c.imm_count = 1;
    program_.moves.push_back({zero(), counter, 1});
  }
  uint32_t zero() {
    if (zero_ == UINT32_MAX) zero_ = new_register();
    return zero_;
  }

  const Kernel& kernel_;
  std::span<const uint64_t> scalars_;
  const InterpreterOptions& options_;
  Program program_;
  std::vector<uint32_t> loops_;
  uint32_t zero_ = UINT32_MAX;
};

}  // namespace

Program decode(const Kernel& kernel, std::span<const uint64_t> scalars,
               const InterpreterOptions& options) {
  return Decoder(kernel, scalars, options).run();
}

}  // namespace primset::kir::interp
