// Validated optional tables.
#include <fmt/format.h>

#include <cstring>

#include "sdk/runtime/plugin/required_members.h"
#include "sdk/runtime/plugin/status.h"
#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"
#include "sdk/runtime/plugin/validation/validation.h"

namespace primset::plugin::validation {
namespace {

// --- host memory and device addresses ------------------------------------------------------------

void* host_address(primset_device handle, primset_buffer buffer) {
  Scope scope("host_memory.address");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  const ObjectPtr object = scope.get(Kind::buffer, buffer, "buffer");
  if (!scope.ok()) return nullptr;
  return device->extensions.inner_host_memory->address(inner<primset_device>(device),
                                                       inner<primset_buffer>(object));
}

primset_status* host_import(primset_device handle, void* address, uint64_t bytes,
                            primset_buffer* out) {
  Scope scope("host_memory.import");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  scope.required(address, "address");
  if (scope.required(out, "out_buffer")) *out = nullptr;
  if (bytes == 0) scope.fail("bytes is 0; expected more");
  if (primset_status* stop = scope.stop()) return stop;
  primset_buffer made = nullptr;
  if (primset_status* status =
          scope.result(device->extensions.inner_host_memory->import(inner<primset_device>(device),
                                                                    address, bytes, &made),
                       made, "out_buffer"))
    return status;
  publish(Kind::buffer, device, made, out)->bytes = bytes;
  return nullptr;
}

uint64_t device_address(primset_device handle, primset_buffer buffer) {
  Scope scope("device_addresses.address");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  const ObjectPtr object = scope.get(Kind::buffer, buffer, "buffer");
  if (!scope.ok()) return 0;
  const uint64_t address = device->extensions.inner_addresses->address(
      inner<primset_device>(device), inner<primset_buffer>(object));
  if (address == 0) scope.fail(fmt::format("the plugin returned 0 for {}", describe(*object)));
  return address;
}

// --- primitives ----------------------------------------------------------------------------------

// True when the tensor's ranks and pointers can be read at all.
bool readable(Scope& scope, const primset_tensor& t, std::string_view argument) {
  if (t.struct_size < sizeof(primset_tensor))
    scope.fail(fmt::format("{}.struct_size is {}; expected at least {}", argument, t.struct_size,
                           sizeof(primset_tensor)));
  else if (t.rank > 0 && (!t.sizes || !t.strides))
    scope.fail(fmt::format("{}.sizes or .strides is NULL with rank {}", argument, t.rank));
  else
    return true;
  return false;
}

uint64_t element_bytes(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_U8:
    case PRIMSET_I8:
    case PRIMSET_BOOL:
      return 1;
    case PRIMSET_I16:
    case PRIMSET_F16:
    case PRIMSET_BF16:
      return 2;
    case PRIMSET_I32:
    case PRIMSET_F32:
      return 4;
    case PRIMSET_C128:
      return 16;
    default:
      return 8;
  }
}

// Bytes from offset to the end of the last element; 0 when there is no element. Negative strides
// are not part of the interface.
uint64_t extent_bytes(Scope& scope, const primset_tensor& t, std::string_view argument) {
  uint64_t last = 0;
  for (uint32_t d = 0; d < t.rank; ++d) {
    if (t.sizes[d] < 0 || (t.sizes[d] > 1 && t.strides[d] < 0)) {
      scope.fail(fmt::format("{}: size {} with stride {} in dimension {}", argument, t.sizes[d],
                             t.strides[d], d));
      return 0;
    }
    if (t.sizes[d] == 0) return 0;
    last += static_cast<uint64_t>(t.sizes[d] - 1) * static_cast<uint64_t>(t.strides[d]);
  }
  return (last + 1) * element_bytes(t.dtype);
}

// Translates tensors to the plugin's buffers and gives their ranges.
void translate(Scope& scope, const primset_tensor* tensors, uint32_t count, std::string_view list,
               uint32_t access, std::vector<primset_tensor>& translated,
               std::vector<primset_binding>& ranges, std::vector<ObjectPtr>& things) {
  if (count > 0 && !scope.required(tensors, list)) return;
  for (uint32_t i = 0; i < count; ++i) {
    primset_tensor t = tensors[i];
    const std::string argument = fmt::format("{}[{}]", list, i);
    if (!readable(scope, t, argument)) continue;
    const uint64_t bytes = extent_bytes(scope, t, argument);
    const ObjectPtr buffer = scope.place(t.buffer, t.offset, bytes, argument);
    ranges.push_back({t.buffer, t.offset, bytes, access, 0});
    t.buffer = inner<primset_buffer>(buffer);
    translated.push_back(t);
    things.push_back(buffer);
  }
}

primset_status* primitive_run(primset_stream handle, const void* data,
                              const primset_primitive_call* call) {
  const auto& wrapped = *static_cast<const WrappedPrimitive*>(data);
  Scope scope("primitive.run");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  if (!scope.required(call, "call")) return scope.refuse();
  std::vector<primset_tensor> operands, results;
  std::vector<primset_binding> ranges;
  std::vector<ObjectPtr> things;
  translate(scope, call->operands, call->operand_count, "operands", PRIMSET_ACCESS_READ, operands,
            ranges, things);
  translate(scope, call->results, call->result_count, "results", PRIMSET_ACCESS_WRITE, results,
            ranges, things);
  if (primset_status* stop = scope.stop()) return stop;
  stream->hazards.restart(ranges);
  std::vector<Object*> used;
  for (const ObjectPtr& thing : things) used.push_back(thing.get());
  timeline::submit(*stream, used);
  primset_primitive_call inner_call = *call;
  inner_call.operands = operands.data();
  inner_call.results = results.data();
  primset_status* status = scope.result(
      wrapped.inner.run(inner<primset_stream>(stream), wrapped.inner.data, &inner_call));
  if (status && status_code(status) == PRIMSET_UNSUPPORTED)
    scope.fail(
        fmt::format("the plugin refused a call of \"{}\" that its find accepted", wrapped.name));
  return status;
}

primset_status* primitive_find(primset_device handle, const char* name,
                               const primset_primitive_call* call, primset_primitive* out) {
  Scope scope("primitives.find");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  scope.required(name, "name");
  scope.required(call, "call");
  scope.required(out, "out");
  if (primset_status* stop = scope.stop()) return stop;
  primset_primitive found{};
  found.struct_size = sizeof(found);
  if (primset_status* status = device->extensions.inner_primitives->find(
          inner<primset_device>(device), name, call, &found))
    return scope.result(status);
  if (!found.run) {
    scope.fail(fmt::format("the plugin accepted \"{}\" but set no run function", name));
    return scope.refuse();
  }
  *out = found;
  out->struct_size = sizeof(found);
  out->run = primitive_run;
  auto wrapped = std::make_unique<WrappedPrimitive>(WrappedPrimitive{found, name});
  out->data = wrapped.get();
  const std::lock_guard lock(device->mutex);
  device->extensions.found.push_back(std::move(wrapped));
  return nullptr;
}

}  // namespace

// The layer's own table in place of the plugin's; null for an extension that the plugin or the
// layer does not have. A table that breaks the rules is given to the host as it is, which refuses
// it: the layer could not call it either.
const void* wrap_extension(const ObjectPtr& device, const char* name) {
  const std::string_view id = name;
  Extensions& e = device->extensions;
  const std::lock_guard lock(device->mutex);
  const void* found = inner_table(device).device_extension(inner<primset_device>(device), name);
  if (!found || !extension_fault(found, id).empty()) return found;
  if (id == PRIMSET_EXT_HOST_MEMORY) {
    e.inner_host_memory = static_cast<const primset_host_memory*>(found);
    e.host_memory = {sizeof(e.host_memory), 0, host_address, host_import};
    return &e.host_memory;
  }
  if (id == PRIMSET_EXT_DEVICE_ADDRESS) {
    e.inner_addresses = static_cast<const primset_device_addresses*>(found);
    e.addresses = {sizeof(e.addresses), 0, device_address};
    return &e.addresses;
  }
  if (id == PRIMSET_EXT_PRIMITIVES) {
    e.inner_primitives = static_cast<const primset_primitives*>(found);
    e.primitives = {sizeof(e.primitives), 0, primitive_find};
    return &e.primitives;
  }
  if (id == PRIMSET_EXT_RECORDING) {
    e.inner_recordings = static_cast<const primset_recordings*>(found);
    e.recordings = recording_calls();
    return &e.recordings;
  }
  if (id == PRIMSET_EXT_PINNED_MEMORY) {
    e.inner_pinned = static_cast<const primset_pinned_memory*>(found);
    e.pinned_memory = pinned_memory_calls();
    return &e.pinned_memory;
  }
  if (id == PRIMSET_EXT_PEER_COPY) {
    e.inner_peers = static_cast<const primset_peer_copies*>(found);
    e.peers = peer_copy_calls();
    return &e.peers;
  }
  return nullptr;
}

}  // namespace primset::plugin::validation
