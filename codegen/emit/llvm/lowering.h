// Kernel IR to LLVM IR. One object lowers one kernel; its methods are spread over
//   lowering.cpp           types, the entry point, leaves, structured control flow
//   lowering_values.cpp    arithmetic, comparisons, conversions, vectors
//   lowering_memory.cpp    loads, stores, atomics, allocs
//   lowering_workgroup.cpp ids, barriers, subgroups, for each convention
//   lowering_matrix.cpp    asynchronous copies, matrices
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_LOWERING_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_LOWERING_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace llvm {
class TargetMachine;
}

namespace primset::emit {

// How the outside reaches the kernel.
enum class Convention {
  groups,    // void(params, first_group, end_group, total_groups): native images, bitcode for CPUs
  ptx,       // a PTX kernel; ids from special registers
  external,  // bitcode for SIMT devices: ids and barriers are calls that the device supplies
};
Convention convention(const kir::TargetModel& target);

class Lowering {
 public:
  // machine may be null: the module then has no data layout.
  Lowering(llvm::LLVMContext& context, const kir::Kernel& kernel, const kir::TargetModel& target,
           const llvm::TargetMachine* machine);
  // Runs LLVM's verifier on the module: throws primset::Error{internal} with its words.
  std::unique_ptr<llvm::Module> run();

 private:
  using Values = std::vector<llvm::Value*>;

  llvm::Type* type(kir::Type t);
  llvm::Type* scalar_type(kir::Scalar s);
  unsigned address_space(kir::AddressSpace space) const;
  llvm::Value* value(kir::Value v) const { return values_[v.id]; }
  llvm::Value* operand(const kir::Inst& inst, size_t i) const { return value(inst.operands[i]); }
  kir::Type operand_type(const kir::Inst& inst, size_t i) const {
    return kernel_.type(inst.operands[i]);
  }
  kir::Type result_type(const kir::Inst& inst) const { return kernel_.type(inst.results[0]); }
  llvm::ConstantInt* i32(uint64_t v) { return b_.getInt32(static_cast<uint32_t>(v)); }
  llvm::BasicBlock* new_block(const char* name);

  void lower_groups_entry();
  void lower_simt_entry();
  llvm::Function* make_function(llvm::FunctionType* type);

  // Lowers a block; returns what its yield yields.
  Values block(kir::BlockId id);
  void instruction(const kir::Inst& inst);
  // The result of one without regions; null where it has none.
  llvm::Value* lowered(const kir::Inst& inst);
  void lower_if(const kir::Inst& inst);
  void lower_for(const kir::Inst& inst);
  void lower_while(const kir::Inst& inst);
  llvm::Value* leaf(const kir::Inst& inst);
  llvm::Value* constant(kir::Type t, uint64_t bits);

  llvm::Value* integer(const kir::Inst& inst);
  // Two words that are multiplied; the lesser of the values' numbers is first.
  using Factors = std::pair<kir::Value, kir::Value>;
  static Factors factors(const kir::Inst& inst);
  void find_whole_products();
  llvm::Value* whole_product(llvm::Value* x, llvm::Value* y);
  llvm::Value* multiply_high(const kir::Inst& inst, bool is_signed);
  llvm::Value* shift(const kir::Inst& inst);
  llvm::Value* floating(const kir::Inst& inst);
  llvm::Value* device_float(const kir::Inst& inst);
  llvm::Value* compare(const kir::Inst& inst);
  llvm::Value* convert(const kir::Inst& inst);
  llvm::Value* widened_pairs(llvm::Value* x, llvm::Type* to);
  llvm::Value* rounded(llvm::Intrinsic::ID id, llvm::Value* x);
  llvm::Value* unsigned_quotient(const kir::Inst& inst);
  llvm::Value* vector(const kir::Inst& inst);
  llvm::Value* any_lane(llvm::Value* mask);
  llvm::Value* active_lane_mask(llvm::Value* n, unsigned lanes);

  llvm::Value* pointer(const kir::Inst& inst);
  llvm::Value* memory(const kir::Inst& inst);
  llvm::Value* prefetch(const kir::Inst& inst);
  llvm::Value* load(const kir::Inst& inst, kir::Type t);
  llvm::Value* masked_scalar(const kir::Inst& inst);
  llvm::Value* atomic(const kir::Inst& inst);
  llvm::Value* alloc(const kir::Inst& inst);
  llvm::Value* group_array(const kir::Inst& inst);
  llvm::Value* address(const kir::Inst& inst, kir::Scalar element);
  const kir::Param* parameter_of(kir::Value pointer) const;
  llvm::Value* evict_last_load(llvm::Value* at, kir::Type t);
  llvm::Value* evict_last_policy();

  llvm::Value* workgroup_id(const kir::Inst& inst);
  llvm::Value* async_copy(const kir::Inst& inst);
  llvm::Value* matrix(const kir::Inst& inst);
  llvm::Value* group_multiply(const kir::Inst& inst);
  llvm::Value* group_multiply_wait(const kir::Inst& inst);
  llvm::Value* tile_descriptor(const kir::Inst& inst, size_t operand, bool by_terms);
  llvm::Value* barrier();
  llvm::Value* subgroup(const kir::Inst& inst);
  llvm::Value* ptx_subgroup(const kir::Inst& inst);
  llvm::Value* ptx_shuffle(llvm::Value* v, llvm::Intrinsic::ID how, llvm::Value* lane);
  llvm::Value* ptx_statement(const char* text);
  llvm::Value* external_call(const std::string& name, llvm::Type* result, const Values& args);

  llvm::LLVMContext& context_;
  const kir::Kernel& kernel_;
  const kir::TargetModel& target_;
  const Convention convention_;
  bool mask_registers_ = false;  // the machine has registers for masks: one bit a lane
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  Values values_;                         // by kir::Value::id
  std::vector<const kir::Inst*> makers_;  // by kir::Value::id
  std::set<Factors> whole_products_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> reciprocals_;  // of divisors that are parameters
  Values params_;                                           // by position
  llvm::GlobalVariable* group_memory_ = nullptr;  // what is more than a module may declare
  uint32_t group_memory_used_ = 0;
  llvm::Value* evict_last_policy_ = nullptr;
  llvm::Value* group_ = nullptr;  // Convention::groups: index and count, i64
  llvm::Value* group_count_ = nullptr;
};

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_LOWERING_H_
