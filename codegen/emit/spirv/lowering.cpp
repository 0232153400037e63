#include "codegen/emit/spirv/lowering.h"

#include "primset/error.h"

namespace primset::emit::spirv {

using kir::Group;
using kir::Inst;
using kir::Op;
using kir::Type;

Lowering::Lowering(const kir::Kernel& kernel, const kir::TargetModel& target)
    : k_(kernel),
      target_(target),
      flavour_(target.format == kir::Format::spirv_kernel ? Flavour::kernel : Flavour::vulkan),
      types_(m_, flavour_),
      code_(m_),
      values_(kernel.types.size()),
      known_(kernel.types.size()),
      atomic_allocation_(kernel.types.size()),
      cooperative_allocation_(kernel.types.size()),
      cooperative_(kir::is_cooperative(kernel)),
      layout_(kir::param_layout(kernel.params)),
      params_(kernel.params.size(), 0) {}

Words Lowering::run() && {
  declare_module();
  declare_arguments();
  find_atomic_allocations();
  find_cooperative_allocations();
  find_invariant_parameters();
  lower_block(0);
  const Id function = m_.new_id();
  const Id none = m_.type_void();
  Ids argument_types;
  if (!vulkan()) {
    for (const kir::Param& p : k_.params) argument_types.push_back(types_.piece(p.type));
  }
  code_.finish(function, none, m_.type_function(none, argument_types));
  m_.entry_point(vulkan() ? spv::ExecutionModel::GLCompute : spv::ExecutionModel::Kernel, function,
                 k_.name);
  m_.name(function, k_.name);
  declare_execution_modes(function);
  return m_.assemble();
}

void Lowering::lower_block(kir::BlockId block) {
  for (kir::InstId i : k_.blocks[block].insts) {
    // A region's yield is what lower_region() returns; it makes no instruction of its own.
    if (k_.insts[i].op != Op::Yield) lower(k_.insts[i]);
  }
}

void Lowering::lower(const Inst& inst) {
  switch (kir::info(inst.op).group) {
    case Group::Leaf:
      return lower_leaf(inst);
    case Group::IntBinary:
      return lower_int_binary(inst);
    case Group::IntUnary:
      return each_piece(inst, spv::Op::OpBitCount);
    case Group::FloatUnary:
    case Group::FloatBinary:
    case Group::FloatTernary:
      return lower_float(inst);
    case Group::Compare:
      return lower_compare(inst);
    case Group::Choice:
      return lower_select(inst);
    case Group::Convert:
      return lower_convert(inst);
    case Group::Vector:
      return lower_vector(inst);
    case Group::Pointer:
      return lower_pointer(inst);
    case Group::Memory:
      return lower_memory(inst);
    case Group::Hint:
      return;
    case Group::Atomic:
      return lower_atomic(inst);
    case Group::Alloc:
      return lower_alloc(inst);
    case Group::FloatDevice:
      if (inst.op != kir::Op::RoundBf16) return lower_float(inst);
      [[fallthrough]];
    case Group::Matrix:
      if (kir::is_cooperative(inst.op)) return lower_cooperative(inst);
      [[fallthrough]];
    case Group::Async:
      fail(inst, "no device of SPIR-V is said to have it");
    case Group::Sync:
      return lower_barrier();
    case Group::Subgroup:
      return lower_subgroup(inst);
    case Group::Control:
      return lower_control(inst);
  }
}

void Lowering::lower_leaf(const Inst& inst) {
  const Type t = result_type(inst);
  switch (inst.op) {
    case Op::Const:
      known_[inst.results[0].id] = inst.imm.bits;
      return set(inst, Ids(piece_count(t), types_.constant(t, inst.imm.bits)));
    case Op::Param:
      return set(inst, {param(inst.imm.index)});
    case Op::GroupId:
      return set(inst, {builtin(Builtin::group_id, inst.imm.index)});
    case Op::GroupCount:
      return set(inst, {builtin(Builtin::group_count, inst.imm.index)});
    case Op::LocalId:
      return set(inst, {builtin(Builtin::local_id, inst.imm.index)});
    case Op::LaneIota:
      return lower_iota(inst);
    default:
      fail(inst, "no such leaf");
  }
}

void Lowering::lower_iota(const Inst& inst) {
  const Type t = result_type(inst);
  Ids pieces;
  for (uint32_t first = 0; first < t.lanes; first += piece_lanes(t)) {
    Ids parts;
    for (uint32_t i = 0; i < piece_lanes(t); ++i) {
      parts.push_back(types_.constant(t.scalar, first + i));
    }
    pieces.push_back(parts.size() == 1 ? parts[0] : m_.constant_composite(types_.piece(t), parts));
  }
  set(inst, pieces);
}

Id Lowering::lane(kir::Value v, uint32_t lane) {
  const Type t = k_.type(v);
  if (t.lanes == 1) return get_scalar(v);
  const uint32_t wide = piece_lanes(t);
  if (auto bits = known(v)) return types_.constant(t.scalar, *bits);
  return code_.op(spv::Op::OpCompositeExtract, types_.scalar(t.scalar),
                  {get(v)[lane / wide], lane % wide});
}

Ids Lowering::assemble(Type type, std::span<const Id> lanes) {
  if (type.lanes == 1) return {lanes[0]};
  const uint32_t wide = piece_lanes(type);
  Ids pieces;
  for (uint32_t first = 0; first < type.lanes; first += wide) {
    pieces.push_back(
        code_.op(spv::Op::OpCompositeConstruct, types_.piece(type), lanes.subspan(first, wide)));
  }
  return pieces;
}

void Lowering::fail(const Inst& inst, const std::string& why) const {
  throw Error(ErrorCode::internal, "SPIR-V: kernel " + k_.name + ": " +
                                       std::string(kir::info(inst.op).text) + ": " + why);
}

}  // namespace primset::emit::spirv
