#include "sdk/runtime/call/intrinsics.h"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/graph/capture.h"
#include "sdk/runtime/tensor/device_copy.h"

namespace primset::runtime {
namespace {

TensorImpl& self(Call& call) {
  return *const_cast<TensorImpl*>(call.tensor(0));
}

// The tensor itself, or where it has the bit a clone that has the values in memory.
void resolve(Call& call, bool bit) {
  if (!bit) return dispatch_planned(call);
  const Tensor source = handle_of(self(call));
  const Arg args[] = {source, std::nullopt};
  call.add_result(call_operator("clone", args), {});
}

// The argument `non_blocking`, of an operator that has one.
bool is_non_blocking(const Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.op.args[i].spec->name == "non_blocking")
      return call.args[i].kind == Arg::Kind::boolean && call.args[i].integer != 0;
  }
  return false;
}

// Converted where it is if that leaves fewer bytes to copy and its device can; else as it is, to be
// converted where it goes.
Tensor narrowed(const Tensor& source, DType dtype) {
  if (Capture::active() || byte_size(dtype) >= byte_size(source.dtype())) return source;
  const Arg args[] = {source, dtype};
  try {
    return call_operator("to.dtype", args);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::not_implemented) throw;
    return source;
  }
}

}  // namespace

// copy_(self, src): src may be on another device.
void intrinsics::copy_across_devices(Call& call) {
  const TensorImpl* source = call.tensor(1);
  TensorImpl& target = self(call);
  if (!source || source->wrapped_number || &source->device() == &target.device())
    return dispatch_planned(call);
  if (same_bytes(*source, target) && !Capture::active()) {
    copy_bytes(*source, target, is_non_blocking(call));
    return call.add_result(handle_of(target), {ResultOrigin::Kind::argument, 0});
  }
  const Device device = target.device().device();
  Tensor moved = handle_of(*source);
  if (device.is_cpu() && !source->sparse) moved = narrowed(moved, target.dtype);
  call.replace_argument(1, moved.to(device));
  // A rank-0 source that came from the CPU is a tensor of the device now.
  dispatch_planned(call);
}

// The device first, then the rest by plan.
void intrinsics::copy_to_device(Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].kind != Arg::Kind::device) continue;
    const Device target = call.args[i].device;
    if (target == self(call).device().device()) continue;
    call.replace_argument(0, handle_of(self(call)).to(target, is_non_blocking(call)));
  }
  dispatch_planned(call);
}

void intrinsics::view_on_device(Call& call) {
  copy_to_device(call);
}

void intrinsics::resolve_conjugate(Call& call) {
  resolve(call, self(call).conj);
}

void intrinsics::resolve_negative(Call& call) {
  resolve(call, self(call).neg);
}

namespace {

constexpr IntrinsicEntry kTable[] = {
#define PRIMSET_INTRINSIC(name, recordable, query) {#name, intrinsics::name, recordable, query},
#include "specs/host_functions.inc"
};

}  // namespace

const IntrinsicEntry* find_intrinsic(std::string_view name) {
  const auto* e = std::ranges::find(kTable, name, &IntrinsicEntry::name);
  return e == std::end(kTable) ? nullptr : e;
}

}  // namespace primset::runtime
