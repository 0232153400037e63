// LLVM target machines for target models.
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_TARGET_MACHINE_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_TARGET_MACHINE_H_

#include <string>

#include "codegen/kernel/ir/target_model.h"
#include "llvm/Target/TargetMachine.h"

namespace primset::emit {

// The machine for a model, made once for each thread and kept: making one costs as much as
// compiling a small kernel. Null for bitcode whose triple this LLVM does not know. Throws
// primset::Error{not_implemented} for native code or PTX that this LLVM cannot make.
llvm::TargetMachine* target_machine(const kir::TargetModel& model);

// The triple a model means.
std::string target_triple(const kir::TargetModel& model);

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_TARGET_MACHINE_H_
