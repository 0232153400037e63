#include "sdk/runtime/call/intrinsics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sdk/runtime/call/aliasing.h"
#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/call/value_reads.h"
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

// copy_(self, src): src may be on another device.
void copy_(Call& call) {
  const TensorImpl* source = call.tensor(1);
  if (source && !source->wrapped_number && &source->device() != &self(call).device()) {
    call.keep(1, handle(*source).to(self(call).device().device()));
    // A rank-0 source that came from the CPU is a tensor of the device now.
  }
  dispatch_planned(call);
}

// _to_copy and to.*: the device first, then the rest by plan.
void to_device(Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].kind != Arg::Kind::device) continue;
    const Device target = call.args[i].device;
    if (target == self(call).device().device()) continue;
    call.keep(0, handle(self(call)).to(target));
  }
  dispatch_planned(call);
}

// The tensor itself, or where it has the bit a clone that has the values in memory.
void resolve(Call& call, bool bit) {
  if (!bit) return dispatch_planned(call);
  const Tensor source = handle(self(call));
  const Arg args[] = {source, std::nullopt};
  call.add_result(call_operator("clone", args), {});
}

void resolve_conj(Call& call) {
  resolve(call, self(call).conj);
}

void resolve_neg(Call& call) {
  resolve(call, self(call).neg);
}

void item(Call& call) {
  call.value = Value(handle(self(call)).item());
}

void resize_to(TensorImpl& t, std::span<const int64_t> sizes) {
  SmallVector<int64_t, kInlineRank> strides, copy(sizes);
  strides.resize_uninitialized(sizes.size());
  element_count(sizes);
  contiguous_strides(copy, strides.span());
  const auto end = static_cast<uint64_t>(t.offset + extent(copy, strides));
  grow_storage(*t.storage, end * byte_size(t.dtype));
  t.set_geometry(copy, strides, t.offset);
}

void resize_(Call& call) {
  TensorImpl& t = self(call);
  const auto sizes = ints(call.args[1]);
  if (!std::ranges::equal(t.sizes(), sizes)) resize_to(t, sizes);
  return_argument(call, 0);
}

void resize_as_(Call& call) {
  TensorImpl& t = self(call);
  const TensorImpl& other = *call.tensor(1);
  if (!std::ranges::equal(t.sizes(), other.sizes())) resize_to(t, other.sizes());
  return_argument(call, 0);
}

void resize_output_(Call& call) {
  TensorImpl& t = self(call);
  const auto sizes = ints(call.args[1]);
  SmallVector<int64_t, kInlineRank> strides;
  strides.resize_uninitialized(sizes.size());
  contiguous_strides(sizes, strides.span());
  resize_output(t, sizes, strides);
  return_argument(call, 0);
}

void adopt(TensorImpl& t, StorageImpl* storage) {
  storage->retain();
  std::exchange(t.storage, storage)->release();
}

// set_.source_Storage_storage_offset(self, source, storage_offset, size, stride), and with a
// Tensor.
void set_with_geometry(Call& call) {
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
  const auto end = static_cast<uint64_t>(offset + extent(sizes, strides));
  if (end * byte_size(t.dtype) > storage->bytes) grow_storage(*storage, end * byte_size(t.dtype));
  adopt(t, storage);
  t.set_geometry(sizes, strides, offset);
  return_argument(call, 0);
}

void set_storage(Call& call) {
  TensorImpl& t = self(call);
  StorageImpl* storage = static_cast<const Storage*>(call.args[1].pointer)->impl();
  adopt(t, storage);
  const int64_t n = static_cast<int64_t>(storage->bytes / byte_size(t.dtype));
  const int64_t size[] = {n}, stride[] = {1};
  t.set_geometry(size, stride, 0);
  return_argument(call, 0);
}

void set_tensor(Call& call) {
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

void set_empty(Call& call) {
  TensorImpl& t = self(call);
  std::exchange(t.storage, new_storage(t.device(), 0))->release();
  const int64_t size[] = {0}, stride[] = {1};
  t.set_geometry(size, stride, 0);
  return_argument(call, 0);
}

struct Entry {
  std::string_view name;
  Intrinsic function;
  // It only completes its arguments: a graph records what it is given.
  bool recordable = false;
};
constexpr std::array kTable = {
    Entry{"copy_", copy_, true},
    Entry{"_to_copy", to_device, true},
    Entry{"to.dtype_layout", to_device},
    Entry{"to.device", to_device},
    Entry{"narrow.Tensor", narrow_at_tensor},
    Entry{"repeat_interleave.Tensor", repeat_by_tensor, true},
    Entry{"repeat_interleave.Tensor_out", repeat_by_tensor, true},
    Entry{"repeat_interleave.self_Tensor", repeat_by_tensor, true},
    Entry{"as_strided_copy", copy_strided_view, true},
    Entry{"as_strided_copy.out", copy_strided_view, true},
    Entry{"bincount", count_to_greatest},
    Entry{"bincount.out", count_to_greatest},
    Entry{"native_batch_norm", update_statistics, true},
    Entry{"native_batch_norm.out", update_statistics, true},
    Entry{"batch_norm", update_statistics, true},
    Entry{"_local_scalar_dense", item},
    Entry{"item", item},
    Entry{"resolve_conj", resolve_conj},
    Entry{"resolve_neg", resolve_neg},
    Entry{"resize_", resize_},
    Entry{"resize_as_", resize_as_},
    Entry{"_resize_output_", resize_output_},
    Entry{"set_", set_empty},
    Entry{"set_.source_Storage", set_storage},
    Entry{"set_.source_Storage_storage_offset", set_with_geometry},
    Entry{"set_.source_Tensor", set_tensor},
    Entry{"set_.source_Tensor_storage_offset", set_with_geometry},
};

}  // namespace

namespace {
const Entry* find(std::string_view qualified) {
  const auto* e = std::ranges::find(kTable, qualified, &Entry::name);
  return e == kTable.end() ? nullptr : e;
}
}  // namespace

Intrinsic find_intrinsic(std::string_view qualified) {
  const Entry* e = find(qualified);
  return e ? e->function : nullptr;
}

bool is_recordable(std::string_view qualified) {
  const Entry* e = find(qualified);
  return !e || e->recordable;
}

}  // namespace primset::runtime
