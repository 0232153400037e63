// Operators that no graph of primitives can express and that a host function runs instead of a
// plan: copies between devices, resizing, swapping storages; and operators whose sizes or structure
// depend on a value, which is read first. specs/host_functions.yaml declares the functions;
// specs/ops says which operator has which.
#ifndef PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_
#define PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_

#include <string_view>

#include "sdk/runtime/call/operator_info.h"

namespace primset::runtime {

// One function each, defined in intrinsics.cpp, attention_choice.cpp, queries.cpp,
// running_statistics.cpp, sobol_state.cpp, storage_changes.cpp or value_reads.cpp.
namespace intrinsics {
#define PRIMSET_INTRINSIC(name, recordable, query) void name(Call& call);
#include "specs/host_functions.inc"
}  // namespace intrinsics

struct IntrinsicEntry {
  std::string_view name;
  Intrinsic function;
  // It only completes its arguments, so a captured graph can record the completed call.
  bool recordable;
  // It looks at dtypes and geometry alone, which the tensors of a captured graph have, too.
  bool query;
};
// Null when there is none of that name.
const IntrinsicEntry* find_intrinsic(std::string_view name);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_
