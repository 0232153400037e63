// CPU fallback for what a device cannot run: a policy of the user (options.h), always counted.
#ifndef PRIMSET_SDK_RUNTIME_CALL_FALLBACK_H_
#define PRIMSET_SDK_RUNTIME_CALL_FALLBACK_H_

#include "primset/error.h"
#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// Is the call's device not the CPU, and the policy not `error`?
bool may_fall_back(const Call& call);
// Runs the call on the CPU and copies results and written tensors back to the device. `why`: the
// device's error, for the warning.
void fall_back(Call& call, const Error& why);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_FALLBACK_H_
