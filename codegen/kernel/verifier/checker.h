// Inside the verifier: what its files share.
#ifndef PRIMSET_CODEGEN_KERNEL_VERIFIER_CHECKER_H_
#define PRIMSET_CODEGEN_KERNEL_VERIFIER_CHECKER_H_

#include <string>
#include <vector>

#include "codegen/kernel/verifier/verifier.h"

namespace primset::kir {

struct Checker {
  const Kernel& kernel;
  const TargetModel& target;
  std::vector<const Inst*> makers;  // by Value::id; null for the parameters of blocks
  std::vector<Violation> violations = {};

  void fail(const char* rule, const std::string& what);
  // Adds the instruction's text and the block it stands in.
  void fail(const char* rule, const std::string& what, InstId inst, BlockId block);

  Type type(Value v) const { return kernel.types[v.id]; }
};

// types.cpp: operand and result types, immediates and gates of one instruction whose
// operand and result counts are right and whose values exist.
void check_types(Checker& c, InstId id, BlockId block);

// uniformity.cpp: barriers and subgroup operations are reached by all threads of a group or
// by none. Only for kernels that broke no other rule.
void check_uniformity(Checker& c);

// in_flight_products.cpp: nothing reads the sums of a group_multiply that is in flight. Only for
// kernels that broke no other rule.
void check_in_flight(Checker& c);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_VERIFIER_CHECKER_H_
