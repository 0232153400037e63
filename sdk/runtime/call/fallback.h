// What a device cannot run, the CPU may run instead: a policy of the user (options.h), always
// counted.
#ifndef PRIMSET_SDK_RUNTIME_CALL_FALLBACK_H_
#define PRIMSET_SDK_RUNTIME_CALL_FALLBACK_H_

#include "primset/error.h"
#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// The call's device is not the CPU and the policy is not `error`.
bool may_fall_back(const Call& call);
// Runs the call on the CPU; results and written tensors go back to the device. `why` is what the
// device said.
void fall_back(Call& call, const Error& why);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_FALLBACK_H_
