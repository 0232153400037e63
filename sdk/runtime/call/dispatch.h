// From bound arguments to results: pick the device, check aliasing, find or make the plan, run it.
#ifndef PRIMSET_SDK_RUNTIME_CALL_DISPATCH_H_
#define PRIMSET_SDK_RUNTIME_CALL_DISPATCH_H_

#include "sdk/runtime/call/call.h"
#include "sdk/runtime/plan/plan_cache.h"

namespace primset::runtime {

// Takes call.args; fills call.results and call.origins, or call.value.
void dispatch(Call& call);

// The same without the operator's intrinsic (intrinsics.h).
void dispatch_planned(Call& call);

// The device of a call: that of its tensors, else its Device argument, else the current one. Throws
// Error{runtime} in ATen's words when tensors are on two devices.
DeviceState& device_of(const Call& call);

// The plan that serves the call; made where there is none. `slots` then has the call's numbers.
// Resizes out= tensors.
PlanRef plan_of(Call& call, Slots& slots);
// Runs the plan. Where a native primitive refuses the call, replaces `plan` by one without natives
// and runs that.
void run_plan(Call& call, PlanRef& plan, Slots& slots);
// Sets call.origins.
void note_origins(Call& call, const Plan& plan);

// A call that another one makes: what goes wrong is told as that one's.
void dispatch_inner(Call& call);
// Calls another operator with positional arguments and returns its first result.
Tensor call_operator(std::string_view qualified, std::span<const Arg> args);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_DISPATCH_H_
