// Test only: every elementwise operation with every type it takes, and kernels that apply them.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_ELEMENTWISE_CASES_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_ELEMENTWISE_CASES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::emit::testing {

inline constexpr uint32_t kElementwiseThreads = 64;

// Operands and result of one operation. i1 is held as i8 in memory.
struct ElementwiseCase {
  kir::Op op;
  std::vector<kir::Scalar> operands;
  kir::Scalar result;
};

std::string name_of(const ElementwiseCase& c);
kir::Scalar in_memory(kir::Scalar s);

std::vector<ElementwiseCase> int_binary_cases();
std::vector<ElementwiseCase> float_cases();  // unary and binary
std::vector<ElementwiseCase> fma_cases();
std::vector<ElementwiseCase> fast_float_cases();  // where TargetModel::fast_exp2
std::vector<ElementwiseCase> compare_cases();
std::vector<ElementwiseCase> select_cases();
std::vector<ElementwiseCase> int_conversion_cases();
std::vector<ElementwiseCase> float_conversion_cases();

// One kernel for a batch of cases: creating pipelines is what takes time. Its parameters are, case
// by case, pointers to the operands and to the result; each thread takes `lanes` elements.
kir::Kernel elementwise_kernel(const kir::TargetModel& target,
                               std::span<const ElementwiseCase> cases, uint16_t lanes);

}  // namespace primset::emit::testing

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_ELEMENTWISE_CASES_H_
