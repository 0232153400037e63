// Arithmetic, comparisons, conversions and vectors of the lowering.
//
// Kernel IR gives no meaning to a shift by the width or more, or to a conversion of a number that
// does not fit; but computing such a value and not using it must be harmless, since masked code
// does so. LLVM calls the result poison, and branching on something made from it undefined: freeze
// makes it merely some value.
#include <algorithm>

#include "codegen/emit/llvm/lowering.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace primset::emit {

using kir::Op;

// Which products of two words a kernel wants whole: as their high half and their low one. PTX has
// an instruction for those that costs what the high half alone does, and that LLVM does not find.
void Lowering::find_whole_products() {
  if (convention_ != Convention::ptx) return;
  std::set<Factors> high;
  for (Op op : {Op::MulHiU, Op::Mul}) {
    for (const kir::Inst& inst : kernel_.insts) {
      if (inst.op != op || result_type(inst).scalar != kir::Scalar::i32) continue;
      if (op == Op::MulHiU) high.insert(factors(inst));
      if (op == Op::Mul && high.contains(factors(inst))) whole_products_.insert(factors(inst));
    }
  }
}

Lowering::Factors Lowering::factors(const kir::Inst& inst) {
  return std::minmax(inst.operands[0], inst.operands[1]);
}

// In words of 64 bits; LLVM makes one of equal ones.
llvm::Value* Lowering::whole_product(llvm::Value* x, llvm::Value* y) {
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getInt32Ty(), b_.getInt32Ty()}, false);
  auto* code = llvm::InlineAsm::get(type, "mul.wide.u32 $0, $1, $2;", "=l,r,r", false);
  const auto one = [&](llvm::Value* v, llvm::Value* w) {
    llvm::CallInst* call = b_.CreateCall(type, code, {v, w});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  };
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (vector == nullptr) return one(x, y);
  llvm::Value* out = llvm::PoisonValue::get(x->getType()->getWithNewBitWidth(64));
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
    out = b_.CreateInsertElement(
        out, one(b_.CreateExtractElement(x, lane), b_.CreateExtractElement(y, lane)), lane);
  return out;
}

llvm::Value* Lowering::multiply_high(const kir::Inst& inst, bool is_signed) {
  llvm::Value *x = operand(inst, 0), *y = operand(inst, 1);
  const auto width = static_cast<unsigned>(kir::width(result_type(inst).scalar));
  llvm::Type* narrow = x->getType();
  if (!is_signed && whole_products_.contains(factors(inst)))
    return b_.CreateTrunc(b_.CreateLShr(whole_product(x, y), 32), narrow);
  llvm::Type* wide = narrow->getWithNewBitWidth(2 * width);
  const auto extend = [&](llvm::Value* v) {
    return is_signed ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide);
  };
  llvm::Value* product = b_.CreateMul(extend(x), extend(y));
  return b_.CreateTrunc(b_.CreateLShr(product, width), narrow);
}

llvm::Value* Lowering::shift(const kir::Inst& inst) {
  llvm::Value *x = operand(inst, 0), *n = operand(inst, 1);
  llvm::Value* result = inst.op == Op::Shl    ? b_.CreateShl(x, n)
                        : inst.op == Op::LShr ? b_.CreateLShr(x, n)
                                              : b_.CreateAShr(x, n);
  return llvm::isa<llvm::Constant>(n) ? result : b_.CreateFreeze(result);
}

// A loop over rows divides by sizes that are parameters, where a division takes as long as a short
// row: it is a product with 2^64 / d, rounded up, that the entry computes, of which the upper half
// is n / d for all n and d of 32 bits (Lemire, Kaser and Kurz, Faster remainder by direct
// computation, 2019). Of d = 1 that number is 2^64, which has no room.
llvm::Value* Lowering::unsigned_quotient(const kir::Inst& inst) {
  llvm::Value *n = operand(inst, 0), *d = operand(inst, 1);
  auto* loaded = llvm::dyn_cast<llvm::LoadInst>(d);
  if (convention_ != Convention::groups || !n->getType()->isIntegerTy(32) || loaded == nullptr ||
      parameter_of(inst.operands[1]) == nullptr)
    return b_.CreateUDiv(n, d);
  llvm::Value*& reciprocal = reciprocals_[d];
  if (reciprocal == nullptr) {
    llvm::IRBuilder<> entry(loaded->getNextNode());
    llvm::Value* wide =
        entry.CreateZExt(entry.CreateBinaryIntrinsic(llvm::Intrinsic::umax, d, entry.getInt32(1)),
                         entry.getInt64Ty());
    reciprocal =
        entry.CreateAdd(entry.CreateUDiv(entry.getInt64(UINT64_MAX), wide), entry.getInt64(1));
  }
  llvm::Type* whole = b_.getInt128Ty();
  llvm::Value* product = b_.CreateMul(b_.CreateZExt(n, whole), b_.CreateZExt(reciprocal, whole));
  llvm::Value* quotient = b_.CreateTrunc(b_.CreateLShr(product, 64), b_.getInt32Ty());
  return b_.CreateSelect(b_.CreateICmpEQ(d, b_.getInt32(1)), n, quotient);
}

llvm::Value* Lowering::integer(const kir::Inst& inst) {
  llvm::Value *x = operand(inst, 0), *y = operand(inst, 1);
  switch (inst.op) {
    case Op::Add:
      return b_.CreateAdd(x, y);
    case Op::Sub:
      return b_.CreateSub(x, y);
    case Op::Mul:
      if (whole_products_.contains(factors(inst)))
        return b_.CreateTrunc(whole_product(x, y), x->getType());
      return b_.CreateMul(x, y);
    case Op::MulHiS:
      return multiply_high(inst, true);
    case Op::MulHiU:
      return multiply_high(inst, false);
    case Op::SDiv:
      return b_.CreateSDiv(x, y);
    case Op::UDiv:
      return unsigned_quotient(inst);
    case Op::SRem:
      return b_.CreateSRem(x, y);
    case Op::URem:
      return b_.CreateURem(x, y);
    case Op::And:
      return b_.CreateAnd(x, y);
    case Op::Or:
      return b_.CreateOr(x, y);
    case Op::Xor:
      return b_.CreateXor(x, y);
    default:
      return shift(inst);
  }
}

// LLVM rounds what was widened before it is (the floor of a half is one), and where a processor
// computes no halves takes a vector of them apart. It does not look through a fence.
llvm::Value* Lowering::rounded(llvm::Intrinsic::ID id, llvm::Value* x) {
  const bool fenced = convention_ != Convention::ptx && llvm::isa<llvm::FPExtInst>(x);
  return b_.CreateUnaryIntrinsic(id, fenced ? b_.CreateArithmeticFence(x, x->getType()) : x);
}

llvm::Value* Lowering::floating(const kir::Inst& inst) {
  llvm::Value* x = operand(inst, 0);
  const auto unary = [&](llvm::Intrinsic::ID id) { return b_.CreateUnaryIntrinsic(id, x); };
  switch (inst.op) {
    case Op::FAdd:
      return b_.CreateFAdd(x, operand(inst, 1));
    case Op::FSub:
      return b_.CreateFSub(x, operand(inst, 1));
    case Op::FMul:
      return b_.CreateFMul(x, operand(inst, 1));
    case Op::FDiv:
      return b_.CreateFDiv(x, operand(inst, 1));
    case Op::FNeg:
      return b_.CreateFNeg(x);
    case Op::FAbs:
      return unary(llvm::Intrinsic::fabs);
    case Op::FSqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Op::FFloor:
      return rounded(llvm::Intrinsic::floor, x);
    case Op::FCeil:
      return rounded(llvm::Intrinsic::ceil, x);
    case Op::FTrunc:
      return rounded(llvm::Intrinsic::trunc, x);
    case Op::FRint:
      return rounded(llvm::Intrinsic::roundeven, x);
    default:
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()},
                                {x, operand(inst, 1), operand(inst, 2)});
  }
}

// What PTX has instructions for; the functions take single numbers.
llvm::Value* Lowering::device_float(const kir::Inst& inst) {
  llvm::Value* x = operand(inst, 0);
  if (inst.op == Op::RoundBf16) {
    llvm::Type* to = x->getType()->getWithNewType(b_.getBFloatTy());
    return b_.CreateBitCast(b_.CreateFPTrunc(x, to), type(result_type(inst)));
  }
  const auto one = [&](llvm::Value* v) -> llvm::Value* {
    switch (inst.op) {
      case Op::FReciprocal:
        return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {}, {v});
      case Op::FRsqrt:
        return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f, {}, {v});
      default:
        return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz, {v->getType()}, {v});
    }
  };
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (vector == nullptr) return one(x);
  llvm::Value* out = llvm::PoisonValue::get(x->getType());
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
    out = b_.CreateInsertElement(out, one(b_.CreateExtractElement(x, lane)), lane);
  return out;
}

llvm::Value* Lowering::compare(const kir::Inst& inst) {
  llvm::Value *x = operand(inst, 0), *y = operand(inst, 1);
  switch (inst.op) {
    case Op::IEq:
      return b_.CreateICmpEQ(x, y);
    case Op::INe:
      return b_.CreateICmpNE(x, y);
    case Op::SLt:
      return b_.CreateICmpSLT(x, y);
    case Op::SLe:
      return b_.CreateICmpSLE(x, y);
    case Op::ULt:
      return b_.CreateICmpULT(x, y);
    case Op::ULe:
      return b_.CreateICmpULE(x, y);
    case Op::FEq:
      return b_.CreateFCmpOEQ(x, y);
    case Op::FNe:
      return b_.CreateFCmpUNE(x, y);
    case Op::FLt:
      return b_.CreateFCmpOLT(x, y);
    default:
      return b_.CreateFCmpOLE(x, y);
  }
}

// PTX has 16 bits in registers of their own, out of which and into which they are moved one by one:
// halves are taken out of words instead. Null where that is not what is asked for.
llvm::Value* Lowering::widened_pairs(llvm::Value* x, llvm::Type* to) {
  auto* from = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (convention_ != Convention::ptx || !from || !from->getElementType()->isIntegerTy(16) ||
      from->getNumElements() % 2 != 0 || !to->getScalarType()->isIntegerTy(32))
    return nullptr;
  const unsigned words = from->getNumElements() / 2;
  llvm::Value* pairs = b_.CreateBitCast(x, llvm::FixedVectorType::get(b_.getInt32Ty(), words));
  llvm::Value* low = b_.CreateAnd(pairs, 0xffff);
  llvm::Value* high = b_.CreateLShr(pairs, 16);
  llvm::SmallVector<int> order;
  for (unsigned i = 0; i < words; ++i)
    order.append({static_cast<int>(i), static_cast<int>(words + i)});
  return b_.CreateShuffleVector(low, high, order);
}

llvm::Value* Lowering::convert(const kir::Inst& inst) {
  llvm::Value* x = operand(inst, 0);
  llvm::Type* to = type(result_type(inst));
  switch (inst.op) {
    case Op::Trunc:
      return b_.CreateTrunc(x, to);
    case Op::ZExt:
      if (llvm::Value* wide = widened_pairs(x, to)) return wide;
      return b_.CreateZExt(x, to);
    case Op::SExt:
      return b_.CreateSExt(x, to);
    case Op::SIToFP:
      return b_.CreateSIToFP(x, to);
    case Op::UIToFP:
      return b_.CreateUIToFP(x, to);
    case Op::FPToSI:
      return b_.CreateFreeze(b_.CreateFPToSI(x, to));
    case Op::FPToUI:
      return b_.CreateFreeze(b_.CreateFPToUI(x, to));
    case Op::FPExt:
      return b_.CreateFPExt(x, to);
    case Op::FPTrunc:
      return b_.CreateFPTrunc(x, to);
    default:
      return b_.CreateBitCast(x, to);
  }
}

// Where masks are registers of their own, their bits come from scalar arithmetic, which leaves the
// vector units to the loop's work; elsewhere from a comparison of lane numbers.
llvm::Value* Lowering::active_lane_mask(llvm::Value* n, unsigned lanes) {
  llvm::Type* wide = b_.getInt64Ty();
  llvm::Value* count = b_.CreateSExtOrTrunc(n, wide);
  count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b_.getInt64(0));
  count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, b_.getInt64(lanes));
  if (mask_registers_ && lanes < 64) {
    llvm::Value* bits = b_.CreateSub(b_.CreateShl(b_.getInt64(1), count), b_.getInt64(1));
    return b_.CreateBitCast(b_.CreateTrunc(bits, b_.getIntNTy(lanes)),
                            llvm::FixedVectorType::get(b_.getInt1Ty(), lanes));
  }
  std::vector<llvm::Constant*> numbers;
  for (unsigned i = 0; i < lanes; ++i) numbers.push_back(b_.getInt32(i));
  llvm::Value* last = b_.CreateVectorSplat(lanes, b_.CreateTrunc(count, b_.getInt32Ty()));
  return b_.CreateICmpSLT(llvm::ConstantVector::get(numbers), last);
}

// PTX has predicates, and comparisons that join another one; LLVM would gather the lanes' bits in a
// word.
llvm::Value* Lowering::any_lane(llvm::Value* mask) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (convention_ != Convention::ptx || vector == nullptr) return b_.CreateOrReduce(mask);
  llvm::Value* any = b_.CreateExtractElement(mask, uint64_t{0});
  for (uint64_t lane = 1; lane < vector->getNumElements(); ++lane)
    any = b_.CreateOr(any, b_.CreateExtractElement(mask, lane));
  return any;
}

llvm::Value* Lowering::vector(const kir::Inst& inst) {
  llvm::Value* x = operand(inst, 0);
  switch (inst.op) {
    case Op::Splat:
      return b_.CreateVectorSplat(result_type(inst).lanes, x);
    case Op::ActiveLaneMask:
      return active_lane_mask(x, result_type(inst).lanes);
    case Op::Extract:
      return b_.CreateExtractElement(x, inst.imm.index);
    case Op::Insert:
      return b_.CreateInsertElement(x, operand(inst, 1), inst.imm.index);
    case Op::Shuffle: {
      const std::vector<int> lanes(inst.imm.lanes.begin(), inst.imm.lanes.end());
      return b_.CreateShuffleVector(x, operand(inst, 1), lanes);
    }
    case Op::Any:
      return any_lane(x);
    default:
      return b_.CreateAndReduce(x);
  }
}

}  // namespace primset::emit
