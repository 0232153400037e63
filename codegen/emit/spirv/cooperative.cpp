// Cooperative matrices (SPV_KHR_cooperative_matrix): an operand is read from workgroup memory that
// is an array of vectors of four words, so that neighbouring elements are stored 16 bytes at a
// time.
#include "codegen/emit/spirv/lowering.h"

namespace primset::emit::spirv {

using kir::Inst;
using kir::Op;
using kir::Scalar;

void Lowering::find_cooperative_allocations() {
  for (const Inst& inst : k_.insts) {
    if (inst.op == Op::CooperativeLoad || inst.op == Op::CooperativeStore)
      cooperative_allocation_[inst.operands[0].id] = true;
  }
}

// In Vulkan's memory model what is not said to be shared is a thread's own.
Ids Lowering::seen_by_others(kir::AddressSpace space) const {
  if (!cooperative_ || space != kir::AddressSpace::group) return {};
  return {static_cast<uint32_t>(spv::MemoryAccessMask::NonPrivatePointer)};
}

Id Lowering::vec4_element(const Access& a, Id at, uint32_t lanes) {
  const Id u32_type = types_.scalar(Scalar::i32);
  const Id vec4 = code_.op(spv::Op::OpShiftRightLogical, u32_type, {at, u32(2)});
  const auto pointer_to = [&](uint32_t n) {
    return m_.type_pointer(spv::StorageClass::Workgroup, types_.vector(a.stored, n));
  };
  if (lanes == kVec4) return code_.op(spv::Op::OpAccessChain, pointer_to(kVec4), {a.base, vec4});
  const Id in_vec4 = code_.op(spv::Op::OpBitwiseAnd, u32_type, {at, u32(3)});
  return code_.op(spv::Op::OpAccessChain, pointer_to(1), {a.base, vec4, in_vec4});
}

void Lowering::lower_cooperative(const Inst& inst) {
  if (inst.op == Op::CooperativeMultiply) {
    return set(inst, {code_.op(khr::kCooperativeMatrixMulAdd, types_.piece(result_type(inst)),
                               {get_scalar(inst.operands[0]), get_scalar(inst.operands[1]),
                                get_scalar(inst.operands[2])})});
  }
  if (inst.op == Op::CooperativeScale) {
    return set(inst, {code_.op(spv::Op::OpFMul, types_.piece(result_type(inst)),
                               {get_scalar(inst.operands[0]), get_scalar(inst.operands[1])})});
  }
  const bool loads = inst.op == Op::CooperativeLoad;
  const kir::Value pointer = inst.operands[0], index = inst.operands[1];
  const Allocation& array = allocations_.at(pointer.id);
  Id vec4 = get_scalar(index);
  if (k_.type(index).scalar == Scalar::i64)
    vec4 = code_.op(spv::Op::OpUConvert, types_.scalar(Scalar::i32), {vec4});
  const Id type = m_.type_pointer(spv::StorageClass::Workgroup, types_.vector(array.stored, kVec4));
  const Id from = code_.op(spv::Op::OpAccessChain, type, {array.variable, vec4});
  const Id distance = u32(inst.imm.count);
  const Id layout = u32(loads && inst.imm.index == 1 ? khr::kColumnMajor : khr::kRowMajor);
  constexpr auto kSeen = static_cast<uint32_t>(spv::MemoryAccessMask::NonPrivatePointer);
  if (loads)
    return set(inst, {code_.op(khr::kCooperativeMatrixLoad, types_.piece(result_type(inst)),
                               {from, layout, distance, kSeen})});
  code_.stmt(khr::kCooperativeMatrixStore,
             {from, get_scalar(inst.operands[2]), layout, distance, kSeen});
}

}  // namespace primset::emit::spirv
