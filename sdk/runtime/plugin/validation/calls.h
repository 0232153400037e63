// The validated functions of the table, one for each of primset_plugin.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_CALLS_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_CALLS_H_

#include <primset/plugin.h>

#include "sdk/runtime/plugin/validation/objects.h"

namespace primset::plugin {

// Names and versions from `inner`, functions of the layer.
void fill_validation_table(const primset_plugin& inner, primset_plugin& table);

namespace validation {

class Scope;

// The layer's version of an optional table; null where the plugin has none or the layer knows none
// of that name (its functions would be given handles that the plugin does not know).
const void* wrap_extension(const ObjectPtr& device, const char* name);

primset_recordings recording_calls();
primset_pinned_memory pinned_memory_calls();
// Findings for the pinned memory that the host forgot; releases it in the plugin.
void release_leaked_pinned(Scope& scope, const ObjectPtr& device);
primset_peer_copies peer_copy_calls();

void fill_memory_calls(primset_plugin& table);
void fill_stream_calls(primset_plugin& table);
void fill_kernel_calls(primset_plugin& table);

const primset_plugin& inner_table(const ObjectPtr& object);
// Makes an object around a handle of the plugin and publishes it in *out.
template <typename Handle>
ObjectPtr publish(Kind kind, const ObjectPtr& device, Handle inner_handle, Handle* out) {
  auto object = std::make_shared<Object>();
  object->kind = kind;
  object->inner = inner_handle;
  object->layer = device->layer;
  object->device = device;
  *out = reinterpret_cast<Handle>(Objects::instance().add(object));
  return object;
}

}  // namespace validation
}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_CALLS_H_
