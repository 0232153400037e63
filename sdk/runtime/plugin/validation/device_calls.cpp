// Validated calls: plugin and devices.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"
#include "sdk/runtime/plugin/validation/validation.h"

namespace primset::plugin {
namespace validation {
namespace {

void release(const primset_plugin* self) {
  const primset_plugin* inner = ValidationLayer::of(self).inner();
  inner->release(inner);
}

primset_status* device_count(const primset_plugin* self, uint32_t* out_count) {
  ValidationLayer& layer = ValidationLayer::of(self);
  Scope scope("device_count", &layer);
  scope.required(out_count, "out_count");
  if (primset_status* stop = scope.stop()) return stop;
  *out_count = 0;
  return scope.result(layer.inner()->device_count(layer.inner(), out_count));
}

primset_status* device_open(const primset_plugin* self, uint32_t index, primset_device* out) {
  ValidationLayer& layer = ValidationLayer::of(self);
  Scope scope("device_open", &layer);
  if (scope.required(out, "out_device")) *out = nullptr;
  if (primset_status* stop = scope.stop()) return stop;
  primset_device opened = nullptr;
  if (primset_status* status = scope.result(
          layer.inner()->device_open(layer.inner(), index, &opened), opened, "out_device"))
    return status;
  auto object = std::make_shared<Object>();
  object->kind = Kind::device;
  object->inner = opened;
  object->layer = &layer;
  object->properties.struct_size = sizeof(object->properties);
  if (primset_status* status = layer.inner()->device_properties(opened, &object->properties)) {
    layer.inner()->device_close(opened);
    return scope.result(status);
  }
  *out = reinterpret_cast<primset_device>(Objects::instance().add(object));
  return nullptr;
}

// Releases in the plugin what the host forgot, so that the plugin's own close is legal.
void release_leaked(const primset_plugin& table, const ObjectPtr& device, const ObjectPtr& object) {
  const auto inner_device = inner<primset_device>(device);
  Objects::instance().remove(object->handle);
  switch (object->kind) {
    case Kind::stream:
      return table.stream_destroy(inner<primset_stream>(object));
    case Kind::event:
      return table.event_destroy(inner<primset_event>(object));
    case Kind::module:
      return table.module_unload(inner_device, inner<primset_module>(object));
    case Kind::buffer:
      return table.memory_free(inner_device, inner<primset_buffer>(object));
    default:
      return;  // kernels go with their module
  }
}

void device_close(primset_device handle) {
  Scope scope("device_close");
  const ObjectPtr device = scope.enter(Kind::device, handle, "device");
  if (!device) return;
  const primset_plugin& table = inner_table(device);
  std::vector<ObjectPtr> leaked = Objects::instance().of_device(device.get());
  // Streams first: destroying one waits for the work that uses all the rest.
  std::sort(leaked.begin(), leaked.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
    const bool a_late = a->kind != Kind::stream, b_late = b->kind != Kind::stream;
    return std::pair(a_late, a->handle) < std::pair(b_late, b->handle);
  });
  for (const ObjectPtr& object : leaked) {
    if (object->kind != Kind::kernel)
      scope.fail(fmt::format(
          "{}{} was never released", describe(*object),
          object->kind == Kind::buffer ? fmt::format(" of {} bytes", object->bytes) : ""));
    release_leaked(table, device, object);
  }
  release_leaked_pinned(scope, device);
  Objects::instance().remove(device->handle);
  table.device_close(inner<primset_device>(device));
}

primset_status* device_properties(primset_device handle, primset_device_properties* out) {
  Scope scope("device_properties");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  if (scope.required(out, "out") && out->struct_size < sizeof(uint32_t))
    scope.fail("out->struct_size is not set by the host");
  if (primset_status* stop = scope.stop()) return stop;
  return scope.result(inner_table(device).device_properties(inner<primset_device>(device), out));
}

const void* device_extension(primset_device handle, const char* name) {
  Scope scope("device_extension");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  scope.required(name, "name");
  return scope.ok() ? wrap_extension(device, name) : nullptr;
}

}  // namespace

const primset_plugin& inner_table(const ObjectPtr& object) {
  return *object->layer->inner();
}

}  // namespace validation

void fill_validation_table(const primset_plugin& inner, primset_plugin& table) {
  table.struct_size = sizeof(primset_plugin);
  table.abi_version = inner.abi_version;
  table.name = inner.name;
  table.version = inner.version;
  table.vendor = inner.vendor;
  table.release = validation::release;
  table.device_count = validation::device_count;
  table.device_open = validation::device_open;
  table.device_close = validation::device_close;
  table.device_properties = validation::device_properties;
  table.device_extension = validation::device_extension;
  validation::fill_memory_calls(table);
  validation::fill_stream_calls(table);
  validation::fill_kernel_calls(table);
}

}  // namespace primset::plugin
