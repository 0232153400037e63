// LLVM IR made faster, and LLVM IR made into bytes.
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_PIPELINE_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_PIPELINE_H_

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace primset::emit {

// Cleans up what the lowering and a schedule's address arithmetic leave. Schedules have chosen
// vector widths and unrolling already: nothing here vectorises or unrolls. machine may be null.
void optimize(llvm::Module& module, llvm::TargetMachine* machine);

// Runs LLVM's code generator: an object or assembly (PTX, for its target).
llvm::SmallVector<char, 0> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType file_type);

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_PIPELINE_H_
