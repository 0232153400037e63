// Pointers, loads, stores, atomics and allocs of the lowering.
//
// Parameters get no noalias: a launch may give one buffer as input and as output (a donated
// operand), and even an elementwise kernel is wrong if a later load moves above an earlier store
// then. What may be hoisted past stores is what Param::invariant promises.
#include "codegen/emit/llvm/lowering.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

namespace primset::emit {

using kir::Op;
using kir::Scalar;

// That p was derived from; null where it was not.
const kir::Param* Lowering::parameter_of(kir::Value p) const {
  const kir::Inst* maker = makers_[p.id];
  while (maker != nullptr && maker->op == Op::PtrAdd) maker = makers_[maker->operands[0].id];
  const bool is_param = maker != nullptr && maker->op == Op::Param;
  return is_param ? &kernel_.params[maker->imm.index] : nullptr;
}

llvm::Value* Lowering::evict_last_policy() {
  if (evict_last_policy_ != nullptr) return evict_last_policy_;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), false);
  const char* text = "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;";
  return evict_last_policy_ = b_.CreateCall(type, llvm::InlineAsm::get(type, text, "=l", false));
}

// Of 16 bytes. LLVM has no loads with a policy; it takes this for an effect, since the code
// generator knows no other assembly that may not pass a store to a donated operand.
llvm::Value* Lowering::evict_last_load(llvm::Value* at, kir::Type t) {
  const std::vector<llvm::Type*> words(4, b_.getInt32Ty());
  auto* function = llvm::FunctionType::get(llvm::StructType::get(context_, words),
                                           {at->getType(), b_.getInt64Ty()}, false);
  const char* text = "ld.global.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;";
  llvm::CallInst* read =
      b_.CreateCall(function, llvm::InlineAsm::get(function, text, "=r,=r,=r,=r,l,l", true),
                    {at, evict_last_policy()});
  llvm::Value* all = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getInt32Ty(), 4));
  for (unsigned i = 0; i < 4; ++i)
    all = b_.CreateInsertElement(all, b_.CreateExtractValue(read, i), i);
  return b_.CreateBitCast(all, type(t));
}

llvm::Value* Lowering::pointer(const kir::Inst& inst) {
  if (inst.op == Op::PtrAdd) {
    return b_.CreateGEP(b_.getInt8Ty(), operand(inst, 0), operand(inst, 1));
  }
  if (inst.op == Op::PtrToInt) return b_.CreatePtrToInt(operand(inst, 0), type(result_type(inst)));
  return b_.CreateIntToPtr(operand(inst, 0), type(result_type(inst)));
}

// Operands 0 and 1 are pointer and index; a vector of indices gives a vector of addresses.
//
// PTX has loads and stores at a constant distance from a register. Where an index is a sum with a
// constant, that goes into the distance, and neighbours share the register. LLVM would see it if
// the sum did not wrap; one that does is out of bounds either way.
llvm::Value* Lowering::address(const kir::Inst& inst, Scalar element) {
  const kir::Inst* sum = makers_[inst.operands[1].id];
  if (convention_ == Convention::ptx && sum != nullptr && sum->op == Op::Add &&
      result_type(*sum) == kir::kI32) {
    const kir::Inst* distance = makers_[sum->operands[1].id];
    if (distance != nullptr && distance->op == Op::Const) {
      llvm::Value* base = b_.CreateGEP(scalar_type(element), operand(inst, 0), operand(*sum, 0));
      return b_.CreateGEP(scalar_type(element), base,
                          b_.getInt64(static_cast<uint64_t>(
                              static_cast<int64_t>(static_cast<int32_t>(distance->imm.bits)))));
    }
  }
  return b_.CreateGEP(scalar_type(element), operand(inst, 0), operand(inst, 1));
}

llvm::Value* Lowering::load(const kir::Inst& inst, kir::Type t) {
  constexpr uint32_t kVector = 16;
  const kir::Param* from = parameter_of(inst.operands[0]);
  llvm::Value* at = address(inst, t.scalar);
  const bool whole = kir::bytes(t.scalar) * t.lanes == kVector && inst.imm.align >= kVector;
  if (from != nullptr && from->evict_last && whole && target_.cache_policies)
    return evict_last_load(at, t);
  llvm::LoadInst* load = b_.CreateAlignedLoad(type(t), at, llvm::Align(inst.imm.align));
  if (from != nullptr && from->invariant && !from->written) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  }
  return load;
}

llvm::Value* Lowering::memory(const kir::Inst& inst) {
  const bool stores = inst.op == Op::Store || inst.op == Op::MaskedStore || inst.op == Op::Scatter;
  const kir::Type t = stores ? operand_type(inst, 2) : result_type(inst);
  const llvm::Align align(inst.imm.align);
  if (t.lanes == 1 && inst.op != Op::Load && inst.op != Op::Store) return masked_scalar(inst);
  if (inst.op == Op::Load) return load(inst, t);
  llvm::Value* at = address(inst, t.scalar);
  switch (inst.op) {
    case Op::Store:
      return b_.CreateAlignedStore(operand(inst, 2), at, align);
    case Op::MaskedLoad:
      return b_.CreateMaskedLoad(type(t), at, align, operand(inst, 2), operand(inst, 3));
    case Op::MaskedStore:
      return b_.CreateMaskedStore(operand(inst, 2), at, align, operand(inst, 3));
    case Op::Gather:
      return b_.CreateMaskedGather(type(t), at, align, operand(inst, 2), operand(inst, 3));
    default:
      return b_.CreateMaskedScatter(operand(inst, 2), at, align, operand(inst, 3));
  }
}

llvm::Value* Lowering::prefetch(const kir::Inst& inst) {
  llvm::Value* ahead = b_.CreateGEP(scalar_type(inst.imm.elem), address(inst, inst.imm.elem),
                                    b_.getInt64(inst.imm.count));
  constexpr uint32_t kKeepInAllCaches = 3, kData = 1;
  return b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                            {ahead, b_.getInt32(inst.op == Op::PrefetchWrite),
                             b_.getInt32(kKeepInAllCaches), b_.getInt32(kData)});
}

// A masked access of one lane is a branch.
llvm::Value* Lowering::masked_scalar(const kir::Inst& inst) {
  const bool loads = inst.op == Op::MaskedLoad || inst.op == Op::Gather;
  const kir::Type t = loads ? result_type(inst) : operand_type(inst, 2);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* access = new_block("access");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateCondBr(operand(inst, loads ? 2 : 3), access, after);
  b_.SetInsertPoint(access);
  llvm::Value* loaded = nullptr;
  if (loads) {
    loaded = load(inst, t);
  } else {
    b_.CreateAlignedStore(operand(inst, 2), address(inst, t.scalar), llvm::Align(inst.imm.align));
  }
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  if (!loads) return nullptr;
  llvm::PHINode* phi = b_.CreatePHI(type(t), 2);
  phi->addIncoming(operand(inst, 3), before);
  phi->addIncoming(loaded, access);
  return phi;
}

namespace {

llvm::AtomicRMWInst::BinOp binary(kir::Rmw rmw) {
  using Rmw = llvm::AtomicRMWInst;
  switch (rmw) {
    case kir::Rmw::add:
      return Rmw::Add;
    case kir::Rmw::min_s:
      return Rmw::Min;
    case kir::Rmw::max_s:
      return Rmw::Max;
    case kir::Rmw::min_u:
      return Rmw::UMin;
    case kir::Rmw::max_u:
      return Rmw::UMax;
    case kir::Rmw::and_:
      return Rmw::And;
    case kir::Rmw::or_:
      return Rmw::Or;
    case kir::Rmw::xor_:
      return Rmw::Xor;
    case kir::Rmw::exchange:
      return Rmw::Xchg;
    case kir::Rmw::fadd:
      return Rmw::FAdd;
    case kir::Rmw::fmin:
      return Rmw::FMinimum;  // the one in which NaN wins
    case kir::Rmw::fmax:
      return Rmw::FMaximum;
  }
  return Rmw::Xchg;
}

}  // namespace

llvm::Value* Lowering::atomic(const kir::Inst& inst) {
  const auto relaxed = llvm::AtomicOrdering::Monotonic;
  const auto scope = convention_ == Convention::ptx ? context_.getOrInsertSyncScopeID("device")
                                                    : llvm::SyncScope::System;
  llvm::Value* at = address(inst, result_type(inst).scalar);
  const llvm::Align align(inst.imm.align);
  if (inst.op == Op::AtomicRmw) {
    return b_.CreateAtomicRMW(binary(inst.imm.rmw), at, operand(inst, 2), align, relaxed, scope);
  }
  llvm::Value* result = b_.CreateAtomicCmpXchg(at, operand(inst, 2), operand(inst, 3), align,
                                               relaxed, relaxed, scope);
  return b_.CreateExtractValue(result, 0);
}

llvm::Value* Lowering::alloc(const kir::Inst& inst) {
  constexpr uint64_t kAlign = 64;  // any vector's
  if (inst.op == Op::GroupAlloc && convention_ != Convention::groups) return group_array(inst);
  llvm::Type* array = llvm::ArrayType::get(scalar_type(inst.imm.elem), inst.imm.count);
  // In the entry block, so that the stack grows once however many groups run.
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::AllocaInst* memory = at_entry.CreateAlloca(array);
  memory->setAlignment(llvm::Align(kAlign));
  return memory;
}

// A PTX module declares at most 48 KiB. A kernel that wants more has it in one extern array, as
// large as its launch says.
llvm::Value* Lowering::group_array(const kir::Inst& inst) {
  constexpr uint32_t kMostDeclared = 48 << 10;
  const llvm::Align align(kir::multiplies_in_group(kernel_) ? 1024 : 16);
  const auto global = [&](llvm::Type* t, llvm::GlobalValue::LinkageTypes linkage,
                          llvm::Constant* value, const char* name) {
    auto* made = new llvm::GlobalVariable(*module_, t, false, linkage, value, name, nullptr,
                                          llvm::GlobalValue::NotThreadLocal,
                                          address_space(kir::AddressSpace::group));
    made->setAlignment(align);
    return made;
  };
  if (kir::group_memory_bytes(kernel_) <= kMostDeclared) {
    llvm::Type* array = llvm::ArrayType::get(scalar_type(inst.imm.elem), inst.imm.count);
    return global(array, llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(array),
                  "shared");
  }
  if (group_memory_ == nullptr)
    group_memory_ = global(llvm::ArrayType::get(b_.getInt8Ty(), 0),
                           llvm::GlobalValue::ExternalLinkage, nullptr, "group_memory");
  llvm::Value* at = b_.CreateConstGEP1_32(b_.getInt8Ty(), group_memory_, group_memory_used_);
  const uint32_t bytes = inst.imm.count * static_cast<uint32_t>(kir::bytes(inst.imm.elem));
  group_memory_used_ += (bytes + 15) / 16 * 16;
  return at;
}

}  // namespace primset::emit
