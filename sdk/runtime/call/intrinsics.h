// Operators about memory and devices rather than about values, which no graph of primitives can
// say: copies between devices, resizing, swapping storages. Everything else goes through plans.
#ifndef PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_
#define PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_

#include <string_view>

#include "sdk/runtime/call/operator_info.h"

namespace primset::runtime {

// Null for the rest.
Intrinsic find_intrinsic(std::string_view qualified);
// False for those that a graph cannot hold.
bool is_recordable(std::string_view qualified);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_INTRINSICS_H_
