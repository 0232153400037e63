#include "codegen/emit/llvm/lowering.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "primset/error.h"

namespace primset::emit {

using kir::Op;
using kir::Scalar;

Convention convention(const kir::TargetModel& target) {
  if (target.format == kir::Format::ptx) return Convention::ptx;
  return target.simt ? Convention::external : Convention::groups;
}

Lowering::Lowering(llvm::LLVMContext& context, const kir::Kernel& kernel,
                   const kir::TargetModel& target, const llvm::TargetMachine* machine)
    : context_(context),
      kernel_(kernel),
      target_(target),
      convention_(convention(target)),
      module_(std::make_unique<llvm::Module>(kernel.name, context)),
      b_(context),
      values_(kernel.types.size()),
      makers_(kernel.types.size()) {
  if (machine != nullptr) {
    const llvm::StringRef features = machine->getTargetFeatureString();
    mask_registers_ = features.contains("+avx512bw") && features.contains("+avx512vl");
    module_->setTargetTriple(machine->getTargetTriple());
    module_->setDataLayout(machine->createDataLayout());
  } else {
    module_->setTargetTriple(llvm::Triple(target.triple));
  }
  for (const kir::Inst& inst : kernel.insts) {
    for (kir::Value v : inst.results) makers_[v.id] = &inst;
  }
  find_whole_products();
}

std::unique_ptr<llvm::Module> Lowering::run() {
  if (convention_ == Convention::groups) {
    lower_groups_entry();
  } else {
    lower_simt_entry();
  }
  std::string complaint;
  llvm::raw_string_ostream out(complaint);
  if (llvm::verifyModule(*module_, &out)) {
    throw Error(ErrorCode::internal,
                "kernel '" + kernel_.name + "' became unsound LLVM IR: " + complaint);
  }
  return std::move(module_);
}

// --- types ---------------------------------------------------------------------------------------

unsigned Lowering::address_space(kir::AddressSpace space) const {
  if (space == kir::AddressSpace::priv) return module_->getDataLayout().getAllocaAddrSpace();
  if (convention_ == Convention::groups) return 0;
  return space == kir::AddressSpace::global ? 1 : 3;
}

llvm::Type* Lowering::scalar_type(Scalar s) {
  switch (s) {
    case Scalar::f16:
      return b_.getHalfTy();
    case Scalar::f32:
      return b_.getFloatTy();
    case Scalar::f64:
      return b_.getDoubleTy();
    default:
      return b_.getIntNTy(static_cast<unsigned>(kir::width(s)));
  }
}

llvm::Type* Lowering::type(kir::Type t) {
  if (t.is_pointer()) return b_.getPtrTy(address_space(t.space));
  llvm::Type* element = scalar_type(t.scalar);
  return t.lanes == 1 ? element : llvm::FixedVectorType::get(element, t.lanes);
}

llvm::Value* Lowering::constant(kir::Type t, uint64_t bits) {
  const auto width = static_cast<unsigned>(kir::width(t.scalar));
  llvm::Constant* c = llvm::ConstantInt::get(context_, llvm::APInt(width, bits));
  if (kir::is_float(t.scalar)) {
    llvm::Type* element = scalar_type(t.scalar);
    c = llvm::ConstantFP::get(context_,
                              llvm::APFloat(element->getFltSemantics(), llvm::APInt(width, bits)));
  }
  if (t.lanes == 1) return c;
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(t.lanes), c);
}

llvm::BasicBlock* Lowering::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, function_);
}

// --- entry points --------------------------------------------------------------------------------

llvm::Function* Lowering::make_function(llvm::FunctionType* type) {
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel_.name, *module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  // Nothing may turn into a call of a library: there is none.
  function_->addFnAttr("no-builtins");
  function_->setDSOLocal(true);
  return function_;
}

// void kernel(params, first, end, total): runs the body for each group in [first, end).
void Lowering::lower_groups_entry() {
  llvm::Type* i64 = b_.getInt64Ty();
  make_function(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), i64, i64, i64}, false));
  // Vectors as wide as the model says, whatever LLVM prefers for the CPU.
  const std::string bits = std::to_string(target_.vector_bytes * 8);
  function_->addFnAttr("prefer-vector-width", bits);
  function_->addFnAttr("min-legal-vector-width", bits);
  llvm::Argument* block_arg = function_->getArg(0);
  block_arg->addAttr(llvm::Attribute::ReadOnly);
  group_count_ = function_->getArg(3);

  llvm::BasicBlock* entry = new_block("entry");
  llvm::BasicBlock* loop = new_block("group");
  llvm::BasicBlock* done = new_block("done");
  b_.SetInsertPoint(entry);
  const kir::ParamLayout layout = kir::param_layout(kernel_.params);
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const kir::Type t = kernel_.params[i].type;
    llvm::Value* at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), block_arg, layout.offsets[i]);
    llvm::LoadInst* load = b_.CreateAlignedLoad(type(t), at, llvm::Align(kir::bytes(t)));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    params_.push_back(load);
  }
  b_.CreateCondBr(b_.CreateICmpULT(function_->getArg(1), function_->getArg(2)), loop, done);

  b_.SetInsertPoint(loop);
  llvm::PHINode* group = b_.CreatePHI(i64, 2, "group");
  group->addIncoming(function_->getArg(1), entry);
  group_ = group;
  block(0);
  llvm::Value* next = b_.CreateNUWAdd(group, b_.getInt64(1));
  group->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(next, function_->getArg(2)), loop, done);
  b_.SetInsertPoint(done);
  b_.CreateRetVoid();
}

void Lowering::lower_simt_entry() {
  std::vector<llvm::Type*> types;
  for (const kir::Param& p : kernel_.params) types.push_back(type(p.type));
  make_function(llvm::FunctionType::get(b_.getVoidTy(), types, false));
  if (convention_ == Convention::ptx) {
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    const auto& g = kernel_.group_size;
    function_->addFnAttr("nvvm.reqntid", std::to_string(g[0]) + "," + std::to_string(g[1]) + "," +
                                             std::to_string(g[2]));
    if (kernel_.min_groups_per_multiprocessor != 0)
      function_->addFnAttr("nvvm.minctasm", std::to_string(kernel_.min_groups_per_multiprocessor));
  }
  for (llvm::Argument& arg : function_->args()) params_.push_back(&arg);
  b_.SetInsertPoint(new_block("entry"));
  block(0);
  b_.CreateRetVoid();
}

// --- instructions --------------------------------------------------------------------------------

Lowering::Values Lowering::block(kir::BlockId id) {
  Values yielded;
  for (kir::InstId i : kernel_.blocks[id].insts) {
    const kir::Inst& inst = kernel_.insts[i];
    if (inst.op == Op::Yield) {
      for (kir::Value v : inst.operands) yielded.push_back(value(v));
    } else {
      instruction(inst);
    }
  }
  return yielded;
}

void Lowering::instruction(const kir::Inst& inst) {
  switch (inst.op) {
    case Op::If:
      return lower_if(inst);
    case Op::For:
      return lower_for(inst);
    case Op::While:
      return lower_while(inst);
    default:
      break;
  }
  llvm::Value* result = lowered(inst);
  if (!inst.results.empty()) values_[inst.results[0].id] = result;
}

llvm::Value* Lowering::lowered(const kir::Inst& inst) {
  switch (kir::info(inst.op).group) {
    case kir::Group::Leaf:
      return leaf(inst);
    case kir::Group::IntBinary:
      return integer(inst);
    case kir::Group::IntUnary:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, operand(inst, 0));
    case kir::Group::FloatUnary:
    case kir::Group::FloatBinary:
    case kir::Group::FloatTernary:
      return floating(inst);
    case kir::Group::FloatDevice:
      return device_float(inst);
    case kir::Group::Compare:
      return compare(inst);
    case kir::Group::Choice:
      return b_.CreateSelect(operand(inst, 0), operand(inst, 1), operand(inst, 2));
    case kir::Group::Convert:
      return convert(inst);
    case kir::Group::Vector:
      return vector(inst);
    case kir::Group::Pointer:
      return pointer(inst);
    case kir::Group::Memory:
      return memory(inst);
    case kir::Group::Hint:
      return prefetch(inst);
    case kir::Group::Atomic:
      return atomic(inst);
    case kir::Group::Alloc:
      return alloc(inst);
    case kir::Group::Async:
      return async_copy(inst);
    case kir::Group::Matrix:
      return matrix(inst);
    case kir::Group::Sync:
      return barrier();
    case kir::Group::Subgroup:
      return subgroup(inst);
    case kir::Group::Control:
      break;
  }
  return nullptr;
}

llvm::Value* Lowering::leaf(const kir::Inst& inst) {
  const kir::Type t = result_type(inst);
  switch (inst.op) {
    case Op::Const:
      return constant(t, inst.imm.bits);
    case Op::Param:
      return params_[inst.imm.index];
    case Op::LaneIota: {
      std::vector<llvm::Constant*> lanes;
      for (uint64_t i = 0; i < t.lanes; ++i) {
        lanes.push_back(llvm::ConstantInt::get(scalar_type(t.scalar), i));
      }
      return llvm::ConstantVector::get(lanes);
    }
    default:
      return workgroup_id(inst);
  }
}

// --- structured control flow ---------------------------------------------------------------------

void Lowering::lower_if(const kir::Inst& inst) {
  llvm::BasicBlock* arms[2] = {new_block("then"), new_block("else")};
  llvm::BasicBlock* join = new_block("join");
  b_.CreateCondBr(operand(inst, 0), arms[0], arms[1]);
  Values yielded[2];
  for (int arm = 0; arm < 2; ++arm) {
    b_.SetInsertPoint(arms[arm]);
    yielded[arm] = block(inst.regions[static_cast<size_t>(arm)]);
    arms[arm] = b_.GetInsertBlock();  // the body may have made blocks of its own
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(join);
  for (size_t i = 0; i < inst.results.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(type(kernel_.type(inst.results[i])), 2);
    phi->addIncoming(yielded[0][i], arms[0]);
    phi->addIncoming(yielded[1][i], arms[1]);
    values_[inst.results[i].id] = phi;
  }
}

// Tested before the first round and at the end of each: the form from which LLVM hoists loads.
void Lowering::lower_for(const kir::Inst& inst) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* body = new_block("for");
  llvm::BasicBlock* after = new_block("after");
  llvm::Value *lo = operand(inst, 0), *hi = operand(inst, 1), *step = operand(inst, 2);
  b_.CreateCondBr(b_.CreateICmpSLT(lo, hi), body, after);

  b_.SetInsertPoint(body);
  const auto& params = kernel_.blocks[inst.regions[0]].params;
  std::vector<llvm::PHINode*> phis;
  for (size_t i = 0; i < params.size(); ++i) {
    phis.push_back(b_.CreatePHI(type(kernel_.type(params[i])), 2));
    phis[i]->addIncoming(i == 0 ? lo : operand(inst, i + 2), before);
    values_[params[i].id] = phis[i];
  }
  const Values yielded = block(inst.regions[0]);
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  // iv < hi, so iv + 1 does not wrap; a greater step might.
  const auto* by = llvm::dyn_cast<llvm::ConstantInt>(step);
  llvm::Value* next = b_.CreateAdd(phis[0], step, "", false, by != nullptr && by->isOne());
  phis[0]->addIncoming(next, latch);
  for (size_t i = 1; i < phis.size(); ++i) phis[i]->addIncoming(yielded[i - 1], latch);
  b_.CreateCondBr(b_.CreateICmpSLT(next, hi), body, after);

  b_.SetInsertPoint(after);
  for (size_t i = 0; i < inst.results.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(type(kernel_.type(inst.results[i])), 2);
    phi->addIncoming(operand(inst, i + 3), before);
    phi->addIncoming(yielded[i], latch);
    values_[inst.results[i].id] = phi;
  }
}

void Lowering::lower_while(const kir::Inst& inst) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* test = new_block("while");
  llvm::BasicBlock* body = new_block("do");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateBr(test);

  b_.SetInsertPoint(test);
  const auto& cond_params = kernel_.blocks[inst.regions[0]].params;
  const auto& body_params = kernel_.blocks[inst.regions[1]].params;
  std::vector<llvm::PHINode*> phis;
  for (size_t i = 0; i < cond_params.size(); ++i) {
    phis.push_back(b_.CreatePHI(type(kernel_.type(cond_params[i])), 2));
    phis[i]->addIncoming(operand(inst, i), before);
    values_[cond_params[i].id] = values_[body_params[i].id] = phis[i];
    values_[inst.results[i].id] = phis[i];
  }
  b_.CreateCondBr(block(inst.regions[0])[0], body, after);

  b_.SetInsertPoint(body);
  const Values yielded = block(inst.regions[1]);
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(yielded[i], b_.GetInsertBlock());
  b_.CreateBr(test);
  b_.SetInsertPoint(after);
}

}  // namespace primset::emit
