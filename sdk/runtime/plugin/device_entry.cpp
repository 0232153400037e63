#include "sdk/runtime/plugin/device_entry.h"

namespace primset::plugin {

DeviceDescription describe(const PluginDevice& device) {
  const primset_device_properties& p = device.properties();
  return {device.title(), device.plugin().version(), p.kernel_format, p.memory_bytes, p.dtypes};
}

}  // namespace primset::plugin
