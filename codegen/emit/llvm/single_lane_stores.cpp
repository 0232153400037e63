#include "codegen/emit/llvm/single_lane_stores.h"

#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace primset::emit {
namespace {

// The lane that alone is set in a mask of constants.
std::optional<unsigned> only_lane(const llvm::Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (constant == nullptr) return std::nullopt;
  std::optional<unsigned> only;
  const auto lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  for (unsigned i = 0; i < lanes; ++i) {
    const auto* bit = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(i));
    if (bit == nullptr || (bit->isOne() && only)) return std::nullopt;
    if (bit->isOne()) only = i;
  }
  return only;
}

}  // namespace

void scalarize_single_lane_stores(llvm::Function& function) {
  for (llvm::Instruction& inst : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* store = llvm::dyn_cast<llvm::IntrinsicInst>(&inst);
    if (store == nullptr || store->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
    llvm::Value *vector = store->getArgOperand(0), *to = store->getArgOperand(1);
    const auto lane = only_lane(store->getArgOperand(store->arg_size() - 1));
    if (!lane) continue;
    llvm::IRBuilder<> b(store);
    llvm::Value* const element = b.CreateExtractElement(vector, *lane);
    const uint64_t bytes = element->getType()->getScalarSizeInBits() / 8;
    llvm::Value* const at = b.CreateConstGEP1_32(element->getType(), to, *lane);
    b.CreateAlignedStore(
        element, at, llvm::commonAlignment(store->getParamAlign(1).valueOrOne(), *lane * bytes));
    store->eraseFromParent();
  }
}

}  // namespace primset::emit
