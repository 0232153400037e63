// Asynchronous copies and matrices held by a subgroup, which PTX has from sm_80 on; those in
// workgroup memory are lowered in lowering_group_matrix.cpp.
#include "codegen/emit/llvm/lowering.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "primset/error.h"

namespace primset::emit {

using kir::Op;

namespace {

void require_ptx(Convention convention, const kir::Inst& inst) {
  if (convention == Convention::ptx) return;
  throw Error(ErrorCode::internal,
              std::string(kir::info(inst.op).text) + " is written as PTX alone");
}

}  // namespace

llvm::Value* Lowering::async_copy(const kir::Inst& inst) {
  require_ptx(convention_, inst);
  using namespace llvm::Intrinsic;
  if (inst.op == Op::CopyCommit) return b_.CreateIntrinsic(nvvm_cp_async_commit_group, {});
  if (inst.op == Op::CopyWait) {
    llvm::Value* waits = b_.CreateIntrinsic(nvvm_cp_async_wait_group, {i32(inst.imm.index)});
    // Products in workgroup memory read it by another way than copies and stores write to it.
    return kir::multiplies_in_group(kernel_) ? ptx_statement("fence.proxy.async.shared::cta;")
                                             : waits;
  }
  llvm::Type* element = scalar_type(inst.imm.elem);
  llvm::Value* to = b_.CreateGEP(element, operand(inst, 0), operand(inst, 1));
  llvm::Value* from = b_.CreateGEP(element, operand(inst, 2), operand(inst, 3));
  const uint32_t bytes = inst.imm.count * static_cast<uint32_t>(kir::bytes(inst.imm.elem));
  // 16 bytes pass the first cache by: no other thread of the group reads them from there.
  const ID id = bytes == 16  ? nvvm_cp_async_cg_shared_global_16_s
                : bytes == 8 ? nvvm_cp_async_ca_shared_global_8_s
                             : nvvm_cp_async_ca_shared_global_4_s;
  return b_.CreateIntrinsic(id, {to, from, b_.CreateSelect(operand(inst, 4), i32(bytes), i32(0))});
}

// Products of tiles that a subgroup holds: ldmatrix loads four 8x8 matrices, and mma multiplies
// 16x16 by 16x8 with sums of f32. The intrinsics take and give single registers, LLVM's vectors are
// taken apart and put together for them.
llvm::Value* Lowering::matrix(const kir::Inst& inst) {
  require_ptx(convention_, inst);
  if (inst.op == Op::GroupMultiplyWait) return group_multiply_wait(inst);
  if (inst.op == Op::GroupMultiplyF16 || inst.op == Op::GroupMultiplyBf16)
    return group_multiply(inst);
  using namespace llvm::Intrinsic;
  const auto gathered = [&](llvm::Value* parts, llvm::Type* vector) {
    llvm::Value* out = llvm::PoisonValue::get(vector);
    for (unsigned i = 0; i < 4; ++i)
      out = b_.CreateInsertElement(out, b_.CreateExtractValue(parts, i), i);
    return out;
  };
  if (inst.op == Op::MatrixLoad) {
    llvm::Value* at = b_.CreateGEP(b_.getInt16Ty(), operand(inst, 0), operand(inst, 1));
    const ID id = inst.imm.index == 1 ? nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                      : nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
    return gathered(b_.CreateIntrinsic(id, {at->getType()}, {at}), type(result_type(inst)));
  }
  const bool f16 = inst.op == Op::MatrixMultiplyF16;
  llvm::Type* pair = llvm::FixedVectorType::get(b_.getHalfTy(), 2);
  Values in;
  for (size_t i = 0; i < 3; ++i) {
    const unsigned lanes = operand_type(inst, i).lanes;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      llvm::Value* v = b_.CreateExtractElement(operand(inst, i), lane);
      in.push_back(f16 && i < 2 ? b_.CreateBitCast(v, pair) : v);
    }
  }
  const ID id = f16 ? nvvm_mma_m16n8k16_row_col_f32_f32 : nvvm_mma_m16n8k16_row_col_bf16;
  return gathered(b_.CreateIntrinsic(id, in), type(result_type(inst)));
}

}  // namespace primset::emit
