// What a vector computes for few of its lanes: infinities among factors, arguments far from zero.
#ifndef PRIMSET_CODEGEN_KERNEL_TRANSFORM_RARE_CHOICES_H_
#define PRIMSET_CODEGEN_KERNEL_TRANSFORM_RARE_CHOICES_H_

#include "codegen/kernel/ir/ir.h"

namespace primset::kir {

// Selects of vectors by one condition whose first choice takes many instructions that nothing else
// needs: these are moved into an `if any(condition)`, so that a vector without such a lane skips
// them. Bits stay the same. For CPUs, whose branch costs a few instructions.
void skip_rare_choices(Kernel& kernel);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_TRANSFORM_RARE_CHOICES_H_
