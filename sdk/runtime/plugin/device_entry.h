// What lists of devices are made of.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_ENTRY_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_ENTRY_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "sdk/runtime/plugin/device.h"

namespace primset::plugin {

// What a list shows of a device. Printable text.
struct DeviceDescription {
  std::string title;  // "NVIDIA H200"
  std::string plugin_version;
  uint32_t kernel_format = 0;  // PRIMSET_FORMAT_*
  uint64_t memory_bytes = 0;
  uint64_t dtypes = 0;

  bool operator==(const DeviceDescription&) const = default;
};

DeviceDescription describe(const PluginDevice& device);

// A device, or a plugin that cannot be used.
struct DeviceEntry {
  std::string name;  // "acme:0"; a broken plugin's is "acme"
  std::filesystem::path file;
  std::string error;  // empty when usable
  // From the process that probed the plugin; none for a plugin that is loaded in this one.
  std::optional<DeviceDescription> description;
};

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_ENTRY_H_
