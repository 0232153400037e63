// Validated calls: memory.
#include <fmt/format.h>

#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"

namespace primset::plugin::validation {
namespace {

primset_status* memory_alloc(primset_device handle, uint64_t bytes, primset_buffer* out) {
  Scope scope("memory_alloc");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  if (scope.required(out, "out_buffer")) *out = nullptr;
  if (bytes == 0) scope.fail("bytes is 0; expected more");
  if (primset_status* stop = scope.stop()) return stop;
  primset_buffer made = nullptr;
  if (primset_status* status = scope.result(
          inner_table(device).memory_alloc(inner<primset_device>(device), bytes, &made), made,
          "out_buffer"))
    return status;
  publish(Kind::buffer, device, made, out)->bytes = bytes;
  return nullptr;
}

void memory_free(primset_device handle, primset_buffer buffer) {
  Scope scope("memory_free");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  const ObjectPtr object = scope.get(Kind::buffer, buffer, "buffer");
  if (!device || !object) return;
  if (const uintptr_t stream = timeline::pending(*object))
    scope.fail(fmt::format("{} may still be in use by work on {}, which was not waited for",
                           describe(*object), describe(reinterpret_cast<const void*>(stream))));
  Objects::instance().remove(object->handle);
  inner_table(device).memory_free(inner<primset_device>(device), inner<primset_buffer>(object));
}

// The ranges of a copy or fill, in flight from here on: these calls wait for all earlier work.
// Empty ones use nothing.
void note(const ObjectPtr& stream, std::initializer_list<primset_binding> ranges,
          std::initializer_list<Object*> things) {
  if (ranges.begin()->size == 0) return;
  stream->hazards.restart({ranges.begin(), ranges.size()});
  timeline::submit(*stream, things);
}

primset_status* copy_in(primset_stream handle, primset_buffer buffer, uint64_t offset,
                        const void* source, uint64_t bytes) {
  Scope scope("copy_in");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  const ObjectPtr target = scope.place(buffer, offset, bytes, "buffer");
  if (bytes > 0) scope.required(source, "source");
  if (primset_status* stop = scope.stop()) return stop;
  note(stream, {{buffer, offset, bytes, PRIMSET_ACCESS_WRITE, 0}}, {target.get()});
  return scope.result(inner_table(stream).copy_in(
      inner<primset_stream>(stream), inner<primset_buffer>(target), offset, source, bytes));
}

primset_status* copy_out(primset_stream handle, primset_buffer buffer, uint64_t offset,
                         void* target, uint64_t bytes) {
  Scope scope("copy_out");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  const ObjectPtr source = scope.place(buffer, offset, bytes, "buffer");
  if (bytes > 0) scope.required(target, "target");
  if (primset_status* stop = scope.stop()) return stop;
  note(stream, {{buffer, offset, bytes, PRIMSET_ACCESS_READ, 0}}, {source.get()});
  primset_status* status = scope.result(inner_table(stream).copy_out(
      inner<primset_stream>(stream), inner<primset_buffer>(source), offset, target, bytes));
  if (!status && bytes > 0) {
    stream->hazards.clear();
    timeline::complete(*stream);
  }
  return status;
}

primset_status* copy(primset_stream handle, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  Scope scope("copy");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  const ObjectPtr to = scope.place(target, target_offset, bytes, "target");
  const ObjectPtr from = scope.place(source, source_offset, bytes, "source");
  if (to && to == from && target_offset < source_offset + bytes &&
      source_offset < target_offset + bytes)
    scope.fail(
        fmt::format("the ranges of {} bytes at offsets {} (target) and {} (source) of {} "
                    "overlap",
                    bytes, target_offset, source_offset, describe(*to)));
  if (primset_status* stop = scope.stop()) return stop;
  note(stream,
       {{target, target_offset, bytes, PRIMSET_ACCESS_WRITE, 0},
        {source, source_offset, bytes, PRIMSET_ACCESS_READ, 0}},
       {to.get(), from.get()});
  return scope.result(inner_table(stream).copy(inner<primset_stream>(stream),
                                               inner<primset_buffer>(to), target_offset,
                                               inner<primset_buffer>(from), source_offset, bytes));
}

void check_pattern(Scope& scope, uint64_t offset, uint64_t bytes, const void* pattern,
                   uint32_t pattern_bytes) {
  scope.required(pattern, "pattern");
  if (pattern_bytes == 0 || pattern_bytes > 16 || (pattern_bytes & (pattern_bytes - 1)) != 0)
    scope.fail(fmt::format("pattern_bytes is {}; expected 1, 2, 4, 8 or 16", pattern_bytes));
  else if (offset % pattern_bytes != 0 || bytes % pattern_bytes != 0)
    scope.fail(fmt::format("offset {} and bytes {} are not multiples of pattern_bytes {}", offset,
                           bytes, pattern_bytes));
}

primset_status* fill(primset_stream handle, primset_buffer buffer, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes) {
  Scope scope("fill");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  const ObjectPtr target = scope.place(buffer, offset, bytes, "buffer");
  check_pattern(scope, offset, bytes, pattern, pattern_bytes);
  if (primset_status* stop = scope.stop()) return stop;
  note(stream, {{buffer, offset, bytes, PRIMSET_ACCESS_WRITE, 0}}, {target.get()});
  return scope.result(inner_table(stream).fill(inner<primset_stream>(stream),
                                               inner<primset_buffer>(target), offset, bytes,
                                               pattern, pattern_bytes));
}

}  // namespace

void fill_memory_calls(primset_plugin& table) {
  table.memory_alloc = memory_alloc;
  table.memory_free = memory_free;
  table.copy_in = copy_in;
  table.copy_out = copy_out;
  table.copy = copy;
  table.fill = fill;
}

}  // namespace primset::plugin::validation
