// A way around a fault of LLVM's code generator for x86.
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_SINGLE_LANE_STORES_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_SINGLE_LANE_STORES_H_

#include "llvm/IR/Function.h"

namespace primset::emit {

// Masked stores of which one lane, known here, is stored become scalar stores. LLVM 22 stores too
// many bytes for one of integers that were truncated (X86: a truncating masked store becomes a
// scalar store of the wide integer).
void scalarize_single_lane_stores(llvm::Function& function);

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_SINGLE_LANE_STORES_H_
