// From bound arguments to results: which device, what overlaps, which plan, run.
#ifndef PRIMSET_SDK_RUNTIME_CALL_DISPATCH_H_
#define PRIMSET_SDK_RUNTIME_CALL_DISPATCH_H_

#include "sdk/runtime/call/call.h"
#include "sdk/runtime/plan/plan_cache.h"

namespace primset::runtime {

// call.args is filled; fills call.results, call.origins or call.value.
void dispatch(Call& call);

// The same, passing over what intrinsics.h has for the operator.
void dispatch_planned(Call& call);

// The device of a call: that of its tensors, else its Device argument, else the current one. Throws
// Error{runtime} in ATen's words when tensors are on two devices.
DeviceState& device_of(const Call& call);

// The plan that serves the call, made where there is none; `slots` then has its raw numbers. Out
// tensors get their sizes.
PlanRef plan_of(Call& call, Slots& slots);
// Runs it, or, where a native primitive refuses the call, the plan without natives, which `plan`
// then is.
void run_plan(Call& call, PlanRef& plan, Slots& slots);
// Fills call.origins.
void note_origins(Call& call, const Plan& plan);

// Calls another operator with positional arguments; its first result.
Tensor call_operator(std::string_view qualified, std::span<const Arg> args);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_DISPATCH_H_
