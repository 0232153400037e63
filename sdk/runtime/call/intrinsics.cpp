#include "sdk/runtime/call/intrinsics.h"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/runtime/call/aliasing.h"
#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/device/device_state.h"

namespace primset::runtime {
namespace {

TensorImpl& self(Call& call) {
  return *const_cast<TensorImpl*>(call.tensor(0));
}

Tensor handle(const TensorImpl& t) {
  const_cast<TensorImpl&>(t).retain();
  return Tensor(const_cast<TensorImpl*>(&t));
}

void return_argument(Call& call, uint32_t i) {
  call.add_result(handle(*call.tensor(i)), {ResultOrigin::Kind::argument, i});
}

std::span<const int64_t> ints(const Arg& a) {
  return {static_cast<const int64_t*>(a.pointer), a.count};
}

size_t index_of(const Call& call, std::string_view name) {
  const int i = call.op.overload.find_arg(name);
  if (i < 0)
    throw Error(ErrorCode::internal,
                fmt::format("{} has no argument '{}'", call.op.overload.qualified, name));
  return static_cast<size_t>(i);
}

void resize_to(TensorImpl& t, std::span<const int64_t> sizes) {
  SmallVector<int64_t, kInlineRank> strides, copy(sizes);
  strides.resize_uninitialized(sizes.size());
  contiguous_strides(copy, strides.span());
  grow_storage(*t.storage, bytes_to_end(copy, strides, t.offset, t.dtype));
  t.set_geometry(copy, strides, t.offset);
}

void adopt(TensorImpl& t, StorageImpl* storage) {
  storage->retain();
  std::exchange(t.storage, storage)->release();
}

// The tensor itself, or where it has the bit a clone that has the values in memory.
void resolve(Call& call, bool bit) {
  if (!bit) return dispatch_planned(call);
  const Tensor source = handle(self(call));
  const Arg args[] = {source, std::nullopt};
  call.add_result(call_operator("clone", args), {});
}

}  // namespace

// copy_(self, src): src may be on another device.
void intrinsics::copy_across_devices(Call& call) {
  const TensorImpl* source = call.tensor(1);
  if (source && !source->wrapped_number && &source->device() != &self(call).device()) {
    call.replace_argument(1, handle(*source).to(self(call).device().device()));
    // A rank-0 source that came from the CPU is a tensor of the device now.
  }
  dispatch_planned(call);
}

// The device first, then the rest by plan.
void intrinsics::copy_to_device(Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].kind != Arg::Kind::device) continue;
    const Device target = call.args[i].device;
    if (target == self(call).device().device()) continue;
    call.replace_argument(0, handle(self(call)).to(target));
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

void intrinsics::read_number(Call& call) {
  call.value = Value(handle(self(call)).item());
}

void intrinsics::resize(Call& call) {
  TensorImpl& t = self(call);
  const auto sizes = ints(call.args[1]);
  if (!std::ranges::equal(t.sizes(), sizes)) resize_to(t, sizes);
  return_argument(call, 0);
}

void intrinsics::resize_as(Call& call) {
  TensorImpl& t = self(call);
  const TensorImpl& other = *call.tensor(1);
  if (!std::ranges::equal(t.sizes(), other.sizes())) resize_to(t, other.sizes());
  return_argument(call, 0);
}

// set_.source_Storage_storage_offset(self, source, storage_offset, size, stride), and with a
// Tensor.
void intrinsics::set_with_geometry(Call& call) {
  TensorImpl& t = self(call);
  StorageImpl* storage = call.tensor(1) ? call.tensor(1)->storage
                                        : static_cast<const Storage*>(call.args[1].pointer)->impl();
  const size_t size = index_of(call, "size"), stride = index_of(call, "stride");
  const int64_t offset = call.args[index_of(call, "storage_offset")].integer;
  const auto sizes = ints(call.args[size]);
  SmallVector<int64_t, kInlineRank> strides(ints(call.args[stride]));
  if (strides.empty() && !sizes.empty()) {
    strides.resize_uninitialized(sizes.size());
    contiguous_strides(sizes, strides.span());
  }
  grow_storage(*storage, bytes_to_end(sizes, strides, offset, t.dtype));
  adopt(t, storage);
  t.set_geometry(sizes, strides, offset);
  return_argument(call, 0);
}

void intrinsics::set_storage(Call& call) {
  TensorImpl& t = self(call);
  StorageImpl* storage = static_cast<const Storage*>(call.args[1].pointer)->impl();
  adopt(t, storage);
  const int64_t n = static_cast<int64_t>(storage->bytes / byte_size(t.dtype));
  const int64_t size[] = {n}, stride[] = {1};
  t.set_geometry(size, stride, 0);
  return_argument(call, 0);
}

void intrinsics::set_tensor(Call& call) {
  TensorImpl& t = self(call);
  const TensorImpl& other = *call.tensor(1);
  if (t.dtype != other.dtype)
    throw Error(ErrorCode::runtime,
                fmt::format("Could not set tensor of type {} to a tensor of type {}",
                            info(other.dtype).torch_name, info(t.dtype).torch_name));
  adopt(t, other.storage);
  t.set_geometry(other.sizes(), other.strides(), other.offset);
  return_argument(call, 0);
}

void intrinsics::set_empty(Call& call) {
  TensorImpl& t = self(call);
  std::exchange(t.storage, new_storage(t.device(), 0))->release();
  const int64_t size[] = {0}, stride[] = {1};
  t.set_geometry(size, stride, 0);
  return_argument(call, 0);
}

namespace {

constexpr IntrinsicEntry kTable[] = {
#define PRIMSET_INTRINSIC(name, recordable) {#name, intrinsics::name, recordable},
#include "specs/host_functions.inc"
};

}  // namespace

const IntrinsicEntry* find_intrinsic(std::string_view name) {
  const auto* e = std::ranges::find(kTable, name, &IntrinsicEntry::name);
  return e == std::end(kTable) ? nullptr : e;
}

}  // namespace primset::runtime
