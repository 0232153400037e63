// Ids, barriers and subgroups of the lowering, for each convention.
#include "codegen/emit/llvm/lowering.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace primset::emit {

using kir::Op;

llvm::Value* Lowering::external_call(const std::string& name, llvm::Type* result,
                                     const Values& args) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : args) types.push_back(v->getType());
  llvm::FunctionCallee callee =
      module_->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->addFnAttr(llvm::Attribute::Convergent);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return b_.CreateCall(callee, args);
}

llvm::Value* Lowering::workgroup_id(const kir::Inst& inst) {
  const uint32_t dim = inst.imm.index;
  if (convention_ == Convention::groups) {
    if (dim == 0 && inst.op == Op::GroupId) return b_.CreateTrunc(group_, b_.getInt32Ty());
    if (dim == 0 && inst.op == Op::GroupCount) return b_.CreateTrunc(group_count_, b_.getInt32Ty());
    return i32(inst.op == Op::GroupCount ? 1 : 0);
  }
  if (convention_ == Convention::external) {
    const std::string name = "primset_" + std::string(kir::info(inst.op).text);
    return external_call(name, b_.getInt32Ty(), {i32(dim)});
  }
  using namespace llvm::Intrinsic;
  static constexpr ID kGroup[] = {nvvm_read_ptx_sreg_ctaid_x, nvvm_read_ptx_sreg_ctaid_y,
                                  nvvm_read_ptx_sreg_ctaid_z};
  static constexpr ID kCount[] = {nvvm_read_ptx_sreg_nctaid_x, nvvm_read_ptx_sreg_nctaid_y,
                                  nvvm_read_ptx_sreg_nctaid_z};
  static constexpr ID kLocal[] = {nvvm_read_ptx_sreg_tid_x, nvvm_read_ptx_sreg_tid_y,
                                  nvvm_read_ptx_sreg_tid_z};
  const ID* ids = inst.op == Op::GroupId ? kGroup : inst.op == Op::GroupCount ? kCount : kLocal;
  return b_.CreateIntrinsic(ids[dim], {});
}

llvm::Value* Lowering::barrier() {
  if (convention_ == Convention::external) {
    return external_call("primset_barrier", b_.getVoidTy(), {});
  }
  // Orders all memory among the group's threads too.
  return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {i32(0)});
}

// 32 bits at a time. All lanes take part.
llvm::Value* Lowering::ptx_shuffle(llvm::Value* v, llvm::Intrinsic::ID how, llvm::Value* lane) {
  llvm::Type* t = v->getType();
  const unsigned bits = t->getPrimitiveSizeInBits();
  llvm::Value* word = b_.CreateBitCast(v, b_.getIntNTy(bits));
  const auto exchange = [&](llvm::Value* w) {
    return b_.CreateIntrinsic(how, {i32(UINT32_MAX), w, lane, i32(31)});
  };
  if (bits == 32) return b_.CreateBitCast(exchange(word), t);
  llvm::Value* low = exchange(b_.CreateTrunc(word, b_.getInt32Ty()));
  llvm::Value* high = exchange(b_.CreateTrunc(b_.CreateLShr(word, 32), b_.getInt32Ty()));
  llvm::Type* wide = b_.getInt64Ty();
  word = b_.CreateOr(b_.CreateZExt(low, wide), b_.CreateShl(b_.CreateZExt(high, wide), 32));
  return b_.CreateBitCast(word, t);
}

llvm::Value* Lowering::ptx_subgroup(const kir::Inst& inst) {
  using namespace llvm::Intrinsic;
  switch (inst.op) {
    case Op::SubgroupSize:
      return b_.CreateIntrinsic(nvvm_read_ptx_sreg_warpsize, {});
    case Op::SubgroupLane:
      return b_.CreateIntrinsic(nvvm_read_ptx_sreg_laneid, {});
    case Op::SubgroupBallot:
      if (inst.imm.index > 0) return i32(0);  // a warp has 32 lanes
      return b_.CreateIntrinsic(nvvm_vote_ballot_sync, {i32(UINT32_MAX), operand(inst, 0)});
    case Op::SubgroupShuffle:
      return ptx_shuffle(operand(inst, 0), nvvm_shfl_sync_idx_i32, operand(inst, 1));
    default:
      return ptx_shuffle(operand(inst, 0), nvvm_shfl_sync_bfly_i32, i32(inst.imm.index));
  }
}

llvm::Value* Lowering::subgroup(const kir::Inst& inst) {
  if (convention_ != Convention::external) return ptx_subgroup(inst);
  std::string name = "primset_" + std::string(kir::info(inst.op).text);
  Values args;
  for (size_t i = 0; i < inst.operands.size(); ++i) args.push_back(operand(inst, i));
  const bool shuffles = inst.op == Op::SubgroupShuffle || inst.op == Op::SubgroupShuffleXor;
  if (shuffles) name += "_" + std::string(kir::name(result_type(inst).scalar));
  if (inst.op == Op::SubgroupShuffleXor || inst.op == Op::SubgroupBallot)
    args.push_back(i32(inst.imm.index));
  return external_call(name, type(result_type(inst)), args);
}

}  // namespace primset::emit
