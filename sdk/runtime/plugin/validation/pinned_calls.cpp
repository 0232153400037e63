// Validated calls: pinned memory.
#include <fmt/format.h>

#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"

namespace primset::plugin::validation {
namespace {

constexpr uint64_t kAlignment = 64;

const primset_pinned_memory& inner_pinned(const ObjectPtr& object) {
  const ObjectPtr& device = object->device ? object->device : object;
  return *device->extensions.inner_pinned;
}

primset_status* alloc_pinned(primset_device handle, uint64_t bytes, void** out) {
  Scope scope("pinned_memory.alloc");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  if (scope.required(out, "out_memory")) *out = nullptr;
  if (bytes == 0) scope.fail("bytes is 0; expected more");
  if (primset_status* stop = scope.stop()) return stop;
  void* made = nullptr;
  if (primset_status* status =
          scope.result(inner_pinned(device).alloc(inner<primset_device>(device), bytes, &made),
                       made, "out_memory"))
    return status;
  const auto address = reinterpret_cast<uintptr_t>(made);
  if (address % kAlignment != 0)
    scope.fail(fmt::format("the plugin returned {}; expected a multiple of {}", made, kAlignment));
  auto object = std::make_shared<Object>();
  object->bytes = bytes;
  const std::lock_guard lock(device->mutex);
  device->extensions.pinned[address] = std::move(object);
  *out = made;
  return nullptr;
}

// The memory of alloc that the range lies in, or null and a finding.
ObjectPtr pinned_range(Scope& scope, const ObjectPtr& stream, const void* memory, uint64_t bytes,
                       std::string_view argument) {
  if (!stream) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const ObjectPtr& device = stream->device;
  const std::lock_guard lock(device->mutex);
  auto after = device->extensions.pinned.upper_bound(address);
  if (after != device->extensions.pinned.begin()) {
    const auto& [start, object] = *--after;
    const uint64_t offset = address - start;
    if (offset <= object->bytes && bytes <= object->bytes - offset) return object;
  }
  scope.fail(fmt::format("{} is {} bytes at {}, which are not within memory of alloc of {}",
                         argument, bytes, memory, describe(*device)));
  return nullptr;
}

void free_pinned(primset_device handle, void* memory) {
  Scope scope("pinned_memory.free");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  if (!device) return;
  ObjectPtr object;
  {
    const std::lock_guard lock(device->mutex);
    auto found = device->extensions.pinned.extract(reinterpret_cast<uintptr_t>(memory));
    if (found) object = std::move(found.mapped());
  }
  if (!object) return scope.fail(fmt::format("memory is {}, which alloc did not return", memory));
  if (const uintptr_t stream = timeline::pending(*object))
    scope.fail(
        fmt::format("a copy from or to {} may still be pending on {}, which was not waited "
                    "for",
                    memory, describe(reinterpret_cast<const void*>(stream))));
  inner_pinned(device).free(inner<primset_device>(device), memory);
}

// Checks a copy of either direction; the buffer, or null when there are findings.
ObjectPtr begin_copy(Scope& scope, const ObjectPtr& stream, primset_buffer buffer, uint64_t offset,
                     uint64_t bytes, const void* host, std::string_view argument, uint32_t access) {
  scope.not_recording(stream);
  const ObjectPtr place = scope.place(buffer, offset, bytes, "buffer");
  ObjectPtr pinned;
  if (bytes > 0) pinned = pinned_range(scope, stream, host, bytes, argument);
  if (!scope.ok() || bytes == 0) return place;
  stream->hazards.restart(std::vector<primset_binding>{{buffer, offset, bytes, access, 0}});
  timeline::submit(*stream, {place.get(), pinned.get()});
  return place;
}

primset_status* copy_in_pinned(primset_stream handle, primset_buffer buffer, uint64_t offset,
                               const void* source, uint64_t bytes) {
  Scope scope("pinned_memory.copy_in");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  const ObjectPtr target =
      begin_copy(scope, stream, buffer, offset, bytes, source, "source", PRIMSET_ACCESS_WRITE);
  if (primset_status* stop = scope.stop()) return stop;
  return scope.result(inner_pinned(stream).copy_in(
      inner<primset_stream>(stream), inner<primset_buffer>(target), offset, source, bytes));
}

primset_status* copy_out_pinned(primset_stream handle, primset_buffer buffer, uint64_t offset,
                                void* target, uint64_t bytes) {
  Scope scope("pinned_memory.copy_out");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  const ObjectPtr source =
      begin_copy(scope, stream, buffer, offset, bytes, target, "target", PRIMSET_ACCESS_READ);
  if (primset_status* stop = scope.stop()) return stop;
  return scope.result(inner_pinned(stream).copy_out(
      inner<primset_stream>(stream), inner<primset_buffer>(source), offset, target, bytes));
}

}  // namespace

void release_leaked_pinned(Scope& scope, const ObjectPtr& device) {
  for (const auto& [address, object] : device->extensions.pinned) {
    void* const memory = reinterpret_cast<void*>(address);
    scope.fail(
        fmt::format("{} bytes of pinned memory at {} were never released", object->bytes, memory));
    inner_pinned(device).free(inner<primset_device>(device), memory);
  }
  device->extensions.pinned.clear();
}

primset_pinned_memory pinned_memory_calls() {
  return {
      sizeof(primset_pinned_memory), 0, alloc_pinned, free_pinned, copy_in_pinned, copy_out_pinned};
}

}  // namespace primset::plugin::validation
