// Intrinsics that give a tensor other memory, or another geometry over it: resize_ and set_.
// Written once for a tensor and used three ways: on self, on a copy of it, and on a copy that an
// out= tensor is then filled from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sdk/runtime/call/aliasing.h"
#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/call/intrinsics.h"
#include "sdk/runtime/device/device_state.h"

namespace primset::runtime {
namespace {

using Ints = std::span<const int64_t>;
using Geometry = SmallVector<int64_t, kInlineRank>;

const Arg& argument(const Call& call, std::string_view name) {
  return call.args[static_cast<size_t>(call.op.overload.find_arg(name))];
}

Ints ints(const Arg& a) {
  return {static_cast<const int64_t*>(a.pointer), a.count};
}

[[noreturn]] void refuse(std::string text) {
  throw Error(ErrorCode::runtime, std::move(text));
}

void require_sizes(Ints sizes) {
  for (int64_t s : sizes) {
    if (s < 0)
      refuse(fmt::format("Trying to create tensor with negative dimension {}: [{}]", s,
                         fmt::join(sizes, ", ")));
  }
}

// --- resize ---

void resize_to(TensorImpl& t, Ints sizes) {
  Geometry strides, copy(sizes);
  strides.resize_uninitialized(sizes.size());
  contiguous_strides(copy, strides.span());
  grow_storage(*t.storage, bytes_to_end(copy, strides, t.offset, t.dtype));
  t.set_geometry(copy, strides, t.offset);
}

// The order in which dims of a format lie in memory, the innermost first.
std::vector<size_t> dim_order(MemoryFormat format, size_t rank) {
  if (format == MemoryFormat::channels_last || format == MemoryFormat::channels_last_3d) {
    const size_t wanted = format == MemoryFormat::channels_last ? 4 : 5;
    if (rank != wanted)
      refuse(fmt::format("required rank {} tensor to use channels_last{} format; found rank {}",
                         wanted, wanted == 5 ? "_3d" : "", rank));
    return wanted == 4 ? std::vector<size_t>{1, 3, 2, 0} : std::vector<size_t>{1, 4, 3, 2, 0};
  }
  std::vector<size_t> order;
  for (size_t d = rank; d-- > 0;) order.push_back(d);
  return order;
}

void lay_out(TensorImpl& t, MemoryFormat format) {
  const Geometry sizes(t.sizes());
  Geometry strides(t.strides());
  int64_t step = 1;
  for (size_t d : dim_order(format, t.rank)) {
    strides[d] = step;
    if (__builtin_mul_overflow(step, std::max<int64_t>(sizes[d], 1), &step)) step = INT64_MAX;
  }
  t.set_geometry(sizes, strides, t.offset);
}

// A tensor of these sizes already keeps its strides, unless a format is named.
void resize_tensor(TensorImpl& t, Ints sizes, const Arg& format) {
  require_sizes(sizes);
  const auto named = static_cast<MemoryFormat>(format.integer);
  const bool has_format = format.kind == Arg::Kind::memory_format;
  if (has_format && named == MemoryFormat::preserve) refuse("Unsupported memory formatPreserve");
  if (has_format) dim_order(named, sizes.size());
  if (!std::ranges::equal(t.sizes(), sizes)) resize_to(t, sizes);
  if (has_format) lay_out(t, named);
}

// The format of a template whose strides say it.
MemoryFormat format_of(const TensorImpl& t) {
  const Tensor handle = handle_of(t);
  for (MemoryFormat f : {MemoryFormat::channels_last, MemoryFormat::channels_last_3d}) {
    if (handle.is_contiguous(f) && !handle.is_contiguous()) return f;
  }
  return MemoryFormat::contiguous;
}

void resize_as_template(Call& call, TensorImpl& t) {
  const TensorImpl& other = *call.tensor(1);
  Arg format = argument(call, "memory_format");
  if (format.kind == Arg::Kind::memory_format &&
      static_cast<MemoryFormat>(format.integer) == MemoryFormat::preserve)
    format = Arg(format_of(other));
  resize_tensor(t, other.sizes(), format);
}

// --- set ---

void adopt(TensorImpl& t, StorageImpl* storage) {
  if (storage->device != &t.device())
    refuse(
        fmt::format("Expected all tensors to be on the same device, but found at least two "
                    "devices, {} and {}!",
                    t.device().device().to_string(), storage->device->device().to_string()));
  storage->retain();
  std::exchange(t.storage, storage)->release();
}

StorageImpl* source_storage(const Call& call) {
  return call.tensor(1) ? call.tensor(1)->storage
                        : static_cast<const Storage*>(call.args[1].pointer)->impl();
}

void require_strides(Ints sizes, Ints strides) {
  if (strides.size() != sizes.size())
    refuse(fmt::format("unequal size length ({}) and stride length ({})", sizes.size(),
                       strides.size()));
  if (std::ranges::any_of(strides, [](int64_t s) { return s < 0; }))
    refuse(
        fmt::format("Storage size calculation overflowed with sizes=[{}] and strides=[{}]; "
                    "expected strides of at least 0",
                    fmt::join(sizes, ", "), fmt::join(strides, ", ")));
}

// Of a storage the offset itself; of a tensor, which must lie by rows, it counts from where that
// starts.
int64_t offset_in_storage(const Call& call) {
  const int64_t offset = argument(call, "storage_offset").integer;
  const TensorImpl* source = call.tensor(1);
  if (!source) return offset;
  if (!is_contiguous(source->sizes(), source->strides()))
    refuse("passed in tensor to be used as storage must be contiguous");
  int64_t whole = 0;
  if (__builtin_add_overflow(source->offset, offset, &whole))
    refuse(fmt::format("Tensor: storage offset {} overflows; the source starts at {}", offset,
                       source->offset));
  return whole;
}

// Another storage, or another tensor's, seen through the sizes and strides that the call names.
void see_through(Call& call, TensorImpl& t) {
  const Ints sizes = ints(argument(call, "size"));
  const int64_t offset = offset_in_storage(call);
  Geometry strides(ints(argument(call, "stride")));
  require_sizes(sizes);
  if (strides.empty() && !sizes.empty()) {
    strides.resize_uninitialized(sizes.size());
    contiguous_strides(sizes, strides.span());
  }
  require_strides(sizes, strides);
  if (offset < 0) refuse(fmt::format("Tensor: invalid storage offset {}", offset));
  StorageImpl* storage = source_storage(call);
  grow_storage(*storage, bytes_to_end(sizes, strides, offset, t.dtype));
  adopt(t, storage);
  t.set_geometry(sizes, strides, offset);
}

void see_whole(Call& call, TensorImpl& t) {
  StorageImpl* storage = source_storage(call);
  adopt(t, storage);
  const int64_t size[] = {static_cast<int64_t>(storage->bytes / byte_size(t.dtype))},
                stride[] = {1};
  t.set_geometry(size, stride, 0);
}

void see_as_tensor(Call& call, TensorImpl& t) {
  const TensorImpl& other = *call.tensor(1);
  if (t.dtype != other.dtype)
    refuse(fmt::format("Could not set tensor of type {} to a tensor of type {}",
                       info(other.dtype).torch_name, info(t.dtype).torch_name));
  adopt(t, other.storage);
  t.set_geometry(other.sizes(), other.strides(), other.offset);
}

void see_nothing(Call&, TensorImpl& t) {
  std::exchange(t.storage, new_storage(t.device(), 0))->release();
  const int64_t size[] = {0}, stride[] = {1};
  t.set_geometry(size, stride, 0);
}

// --- the three ways ---

using Change = void (*)(Call& call, TensorImpl& t);

void fill_out(Call& call, const Tensor& result) {
  const uint32_t at = call.op.outs[0];
  const Tensor out = handle_of(*call.tensor(at));
  if (out.dtype() != result.dtype())
    refuse(fmt::format("Expected out tensor to have dtype {}, but got {} instead",
                       info(result.dtype()).torch_name, info(out.dtype()).torch_name));
  Geometry strides;
  strides.resize_uninitialized(result.sizes().size());
  contiguous_strides(result.sizes(), strides.span());
  resize_output(*out.impl(), result.sizes(), strides);
  const Arg arguments[] = {out, result, false};
  call_operator("copy_", arguments);
  call.add_result(out, {ResultOrigin::Kind::argument, at});
}

// On a copy of self where it keeps self's elements, else on a tensor of its own.
void change(Call& call, Change change, bool keeps_elements) {
  const TensorImpl& self = *call.tensor(0);
  if (call.op.overload.kind == specs::OverloadKind::inplace) {
    change(call, const_cast<TensorImpl&>(self));
    return call.add_result(handle_of(self), {ResultOrigin::Kind::argument, 0});
  }
  const Tensor source = handle_of(self);
  const Arg arguments[] = {source, std::nullopt};
  const Tensor made = keeps_elements ? call_operator("clone", arguments)
                                     : Tensor::empty({0}, source.dtype(), source.device());
  change(call, *made.impl());
  if (!call.op.outs.empty()) return fill_out(call, made);
  const bool shares = !keeps_elements && call.args.size() > 1 && call.tensor(1);
  call.add_result(made, shares ? ResultOrigin{ResultOrigin::Kind::view, 1} : ResultOrigin{});
}

}  // namespace

void intrinsics::resize(Call& call) {
  change(
      call,
      [](Call& c, TensorImpl& t) {
        resize_tensor(t, ints(c.args[1]), argument(c, "memory_format"));
      },
      true);
}
void intrinsics::resize_as(Call& call) {
  change(call, resize_as_template, true);
}
void intrinsics::set_with_geometry(Call& call) {
  change(call, see_through, false);
}
void intrinsics::set_storage(Call& call) {
  change(call, see_whole, false);
}
void intrinsics::set_tensor(Call& call) {
  change(call, see_as_tensor, false);
}
void intrinsics::set_empty(Call& call) {
  change(call, see_nothing, false);
}

}  // namespace primset::runtime
