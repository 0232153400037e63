// Operators about memory and devices rather than about values, which no graph of primitives can
// say: copies between devices, resizing, swapping storages; and operators whose results depend on a
// value in more than their elements, which is read first. Everything else goes through plans.
// Which operator has which is in specs/ops; what there are is in specs/host_functions.yaml.
#ifndef PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_
#define PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_

#include <string_view>

#include "sdk/runtime/call/operator_info.h"

namespace primset::runtime {

// One function each, defined in intrinsics.cpp or value_reads.cpp.
namespace intrinsics {
#define PRIMSET_INTRINSIC(name, recordable) void name(Call& call);
#include "specs/host_functions.inc"
}  // namespace intrinsics

struct IntrinsicEntry {
  std::string_view name;
  Intrinsic function;
  // It only completes its arguments: a graph records what it is given.
  bool recordable;
};
// Null when there is none of that name.
const IntrinsicEntry* find_intrinsic(std::string_view name);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_
