// Checks a kernel before every emission. LLVM ends the process on IR that it cannot select, and GPU
// drivers may crash: what they do not accept is refused here, with a message that names the rule,
// the instruction in text form and the block.
#ifndef PRIMSET_CODEGEN_KERNEL_VERIFIER_VERIFIER_H_
#define PRIMSET_CODEGEN_KERNEL_VERIFIER_VERIFIER_H_

#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::kir {

struct Violation {
  std::string rule;     // "K12": the label of the rule in verifier.cpp and its test
  std::string message;  // "K12: fadd wants floating operands; %7 = fadd %3, %5 : i32"
};

// Empty when the kernel is sound on that target.
std::vector<Violation> verify(const Kernel& kernel, const TargetModel& target);
// Throws primset::Error{internal} with all violations.
void verify_or_throw(const Kernel& kernel, const TargetModel& target);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_VERIFIER_VERIFIER_H_
