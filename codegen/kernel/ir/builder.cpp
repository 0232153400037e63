#include "codegen/kernel/ir/builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "primset/error.h"

namespace primset::kir {
namespace {

constexpr InstId kNoInst = UINT32_MAX;
constexpr size_t kUsualInsts = 256;

size_t combine(size_t hash, uint64_t v) {
  return (hash ^ (v + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2))) * 0xff51afd7ed558ccdu;
}

size_t hash_inst(Op op, Type result, std::span<const Value> operands, const Imm& imm) {
  size_t h =
      combine(static_cast<size_t>(op), static_cast<uint64_t>(result.scalar) << 16 | result.lanes);
  for (Value v : operands) h = combine(h, v.id);
  h = combine(combine(h, imm.bits), imm.index);
  for (uint16_t lane : imm.lanes) h = combine(h, lane);
  return h;
}

bool equal(const Inst& inst, Op op, std::span<const Value> operands, const Imm& imm) {
  return inst.op == op && inst.imm == imm &&
         std::equal(inst.operands.begin(), inst.operands.end(), operands.begin(), operands.end());
}

}  // namespace

Builder::Builder(std::string kernel_name, const TargetModel& target) : target_(target) {
  kernel_.name = std::move(kernel_name);
  // A usual kernel: arrays that grow step by step cost building it a tenth.
  kernel_.insts.reserve(kUsualInsts);
  kernel_.types.reserve(kUsualInsts);
  defs_.reserve(kUsualInsts);
  kernel_.blocks.emplace_back();
  scopes_.emplace_back();
}

Kernel Builder::finish() && {
  order_params();
  drop_unused();
  return std::move(kernel_);
}

// --- making instructions -------------------------------------------------------------------------

Value Builder::new_value(Type t) {
  kernel_.types.push_back(t);
  defs_.push_back(kNoInst);
  return {static_cast<uint32_t>(kernel_.types.size() - 1)};
}

InstId Builder::append(Op op, std::span<const Value> operands, std::span<const Type> results,
                       Imm imm, std::vector<BlockId> regions) {
  const auto id = static_cast<InstId>(kernel_.insts.size());
  Inst inst{op, std::move(imm), {operands.begin(), operands.end()}, {}, std::move(regions)};
  for (Type t : results) {
    inst.results.push_back(new_value(t));
    defs_.back() = id;
  }
  kernel_.insts.push_back(std::move(inst));
  kernel_.blocks[current_].insts.push_back(id);
  return id;
}

Value Builder::emit(Op op, Type result, std::initializer_list<Value> operands, Imm imm) {
  std::vector<Value> in(operands);
  // Constants stand on the right, so that folding and sharing see one form.
  if (is_commutative(op) && known_bits(in[0]) && !known_bits(in[1])) std::swap(in[0], in[1]);
  if (auto folded = fold(op, result, in, imm)) return *folded;
  if (!is_pure(op)) return kernel_.insts[append(op, in, {&result, 1}, std::move(imm))].results[0];

  const size_t hash = hash_inst(op, result, in, imm);
  for (const auto& scope : scopes_) {
    auto [first, last] = scope.equal_range(hash);
    for (; first != last; ++first) {
      const Inst& inst = kernel_.insts[first->second];
      if (equal(inst, op, in, imm) && type(inst.results[0]) == result) return inst.results[0];
    }
  }
  const InstId id = append(op, in, {&result, 1}, std::move(imm));
  scopes_.back().emplace(hash, id);
  return kernel_.insts[id].results[0];
}

Builder::Values Builder::repeat(const Inst& inst, const Kernel& of,
                                std::span<const Value> operands) {
  std::vector<Type> results;
  for (Value v : inst.results) results.push_back(of.type(v));
  return values_of(append(inst.op, operands, results, inst.imm));
}

void Builder::effect(Op op, std::initializer_list<Value> operands, Imm imm) {
  append(op, std::vector<Value>(operands), {}, std::move(imm));
}

const Inst* Builder::made_by(Value v, Op op) const {
  if (defs_[v.id] == kNoInst) return nullptr;
  const Inst& inst = kernel_.insts[defs_[v.id]];
  return inst.op == op ? &inst : nullptr;
}

// Folding leaves constants and half-built expressions behind; a printed kernel should not show
// them.
void Builder::drop_unused() {
  std::vector<uint32_t> uses(kernel_.types.size());
  for (const Inst& inst : kernel_.insts) {
    for (Value v : inst.operands) ++uses[v.id];
  }
  std::vector<bool> dropped(kernel_.insts.size());
  // An operand is always made before its user, so one backward sweep finds all of them.
  for (size_t i = kernel_.insts.size(); i-- > 0;) {
    const Inst& inst = kernel_.insts[i];
    if (!is_pure(inst.op) || uses[inst.results[0].id] != 0) continue;
    dropped[i] = true;
    for (Value v : inst.operands) --uses[v.id];
  }
  std::vector<InstId> renamed(kernel_.insts.size());
  std::vector<Inst> kept;
  for (size_t i = 0; i < dropped.size(); ++i) {
    renamed[i] = static_cast<InstId>(kept.size());
    if (!dropped[i]) kept.push_back(std::move(kernel_.insts[i]));
  }
  kernel_.insts = std::move(kept);
  for (Block& block : kernel_.blocks) {
    std::erase_if(block.insts, [&](InstId id) { return dropped[id]; });
    for (InstId& id : block.insts) id = renamed[id];
  }
}

// --- parameters ----------------------------------------------------------------------------------

// Parameters are found while a body is being built; their instructions stand at the kernel's start
// all the same, so that every region sees them, and finish() puts the pointers first.
Value Builder::add_param(Param param) {
  Imm imm;
  imm.index = static_cast<uint32_t>(kernel_.params.size());
  const Type t = param.type;
  kernel_.params.push_back(std::move(param));
  return at_entry(Op::Param, t, std::move(imm));
}

Value Builder::pointer_param(std::string name, bool read, bool written, bool invariant) {
  return add_param({std::move(name), kGlobalPointer, written, read, invariant});
}

void Builder::evict_last(Value pointer_param) {
  const Inst* made = made_by(pointer_param, Op::Param);
  if (made != nullptr) kernel_.params[made->imm.index].evict_last = true;
}

void Builder::set_invariant(Value pointer_param) {
  const Inst* made = made_by(pointer_param, Op::Param);
  if (made != nullptr) kernel_.params[made->imm.index].invariant = true;
}

Value Builder::scalar_param(std::string name, Type t) {
  return add_param({std::move(name), t, false, false, false});
}

Value Builder::at_entry(Op op, Type result, Imm imm) {
  const auto id = static_cast<InstId>(kernel_.insts.size());
  const Value v = new_value(result);
  defs_.back() = id;
  kernel_.insts.push_back({op, std::move(imm), {}, {v}, {}});
  auto& entry = kernel_.blocks[0].insts;
  entry.insert(entry.begin() + entry_insts_++, id);
  return v;
}

void Builder::order_params() {
  std::vector<uint32_t> order, place(kernel_.params.size());
  for (bool pointers : {true, false}) {
    for (uint32_t i = 0; i < kernel_.params.size(); ++i) {
      if (kernel_.params[i].type.is_pointer() == pointers) order.push_back(i);
    }
  }
  std::vector<Param> params;
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    params.push_back(std::move(kernel_.params[order[i]]));
  }
  kernel_.params = std::move(params);
  for (Inst& inst : kernel_.insts) {
    if (inst.op == Op::Param) inst.imm.index = place[inst.imm.index];
  }
}

void Builder::set_group_size(uint32_t x, uint32_t y, uint32_t z) {
  kernel_.group_size = {x, y, z};
}

// --- leaves --------------------------------------------------------------------------------------

Value Builder::constant_bits(Type t, uint64_t bits) {
  Imm imm;
  imm.bits = bits & low_bits(width(t));
  return emit(Op::Const, t, {}, imm);
}

Value Builder::constant(Type t, int64_t v) {
  if (is_int(t.scalar)) return constant_bits(t, static_cast<uint64_t>(v));
  return constant_f(t, static_cast<double>(v));
}

Value Builder::constant_f(Type t, double v) {
  if (t.scalar == Scalar::f64) return constant_bits(t, std::bit_cast<uint64_t>(v));
  if (t.scalar == Scalar::f32) {
    return constant_bits(t, std::bit_cast<uint32_t>(static_cast<float>(v)));
  }
  throw Error(ErrorCode::internal, "kernel builder: no floating constant of type " + to_string(t));
}

Value Builder::group_id(int dim) {
  Imm imm;
  imm.index = static_cast<uint32_t>(dim);
  return emit(Op::GroupId, kI32, {}, imm);
}
Value Builder::group_count(int dim) {
  Imm imm;
  imm.index = static_cast<uint32_t>(dim);
  return emit(Op::GroupCount, kI32, {}, imm);
}
Value Builder::local_id(int dim) {
  Imm imm;
  imm.index = static_cast<uint32_t>(dim);
  return emit(Op::LocalId, kI32, {}, imm);
}
Value Builder::lane_iota(Type t) {
  return t.lanes == 1 ? constant(t, 0) : emit(Op::LaneIota, t, {});
}

std::optional<uint64_t> Builder::known_bits(Value v) const {
  const Inst* c = made_by(v, Op::Const);
  return c == nullptr ? std::nullopt : std::optional(c->imm.bits);
}

std::optional<int64_t> Builder::known_int(Value v) const {
  const auto bits = known_bits(v);
  if (!bits || !is_int(type(v).scalar)) return std::nullopt;
  const int unused = 64 - width(type(v).scalar);
  return static_cast<int64_t>(*bits << unused) >> unused;
}

// --- the workgroup -------------------------------------------------------------------------------

void Builder::barrier() {
  effect(Op::Barrier, {});
}
Value Builder::subgroup_size() {
  return emit(Op::SubgroupSize, kI32, {});
}
Value Builder::subgroup_lane() {
  return emit(Op::SubgroupLane, kI32, {});
}
Value Builder::subgroup_shuffle_xor(Value v, uint32_t mask) {
  Imm imm;
  imm.index = mask;
  return emit(Op::SubgroupShuffleXor, type(v), {v}, imm);
}
Value Builder::subgroup_shuffle(Value v, Value lane) {
  require(type(lane) == kI32, Op::SubgroupShuffle, {v, lane}, "an i32 lane");
  return emit(Op::SubgroupShuffle, type(v), {v, lane});
}
Value Builder::subgroup_ballot(Value condition, uint32_t word) {
  require(type(condition) == kI1, Op::SubgroupBallot, {condition}, "an i1");
  Imm imm;
  imm.index = word;
  return emit(Op::SubgroupBallot, kI32, {condition}, imm);
}

}  // namespace primset::kir
