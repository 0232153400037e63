// What a device claims of itself, checked before anything is computed from it.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_PROPERTIES_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_PROPERTIES_H_

#include <primset/plugin.h>

#include <string_view>

namespace primset::plugin {

// Throws Error{plugin} for a value that breaks a rule of plugin.h, or that no device has: buffers,
// loops and tables are made in these sizes. `where` begins the message.
void check_properties(const primset_device_properties& properties, std::string_view where);

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_PROPERTIES_H_
