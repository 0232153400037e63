// Devices: where tensors live and operators run.
//
//   for (const auto& d : primset::devices()) std::puts(d.name.c_str());  // cpu:0, vulkan:0
//   primset::DeviceGuard on("vulkan:0");                                 // for this scope
//   auto x = primset::Tensor::empty({2, 3}, primset::DType::f32);        // on vulkan:0
//
// A device is a plugin's name and an index. Plugins are searched in PRIMSET_PLUGIN_PATH, then in
// the user's folder ($XDG_DATA_HOME/primset/plugins, else ~/.local/lib/primset/plugins), then in
// the installed folder, where nobody but the user and root can have put anything; each is loaded
// when one of its devices is first used. "cpu" is a plugin like any other; "meta" is built in and
// has shapes and dtypes but no data.
#ifndef PRIMSET_DEVICE_H_
#define PRIMSET_DEVICE_H_

#include <primset/export.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace primset {

class PRIMSET_API Device {
 public:
  // The CPU.
  constexpr Device() = default;
  // "cpu", "meta", "vulkan:0"; "vulkan" means "vulkan:0". Throws Error{runtime} for text that is no
  // device name. A device that does not exist is an error when it is first used.
  Device(std::string_view text);                                       // NOLINT: a name is a device
  Device(const char* text) : Device(std::string_view(text)) {}         // NOLINT
  Device(const std::string& text) : Device(std::string_view(text)) {}  // NOLINT
  Device(std::string_view type, int index);

  static constexpr Device cpu() { return Device(); }
  static constexpr Device meta() { return Device(kMeta, 0); }

  std::string_view type() const;
  int index() const { return index_; }
  bool is_cpu() const { return type_ == kCpu; }
  bool is_meta() const { return type_ == kMeta; }
  // "cpu", "meta", "vulkan:0"
  std::string to_string() const;
  // A small number, the same for equal devices within this process.
  uint32_t id() const { return uint32_t{type_} << 16 | index_; }

  friend bool operator==(const Device& a, const Device& b) = default;

 private:
  static constexpr uint16_t kCpu = 0, kMeta = 1;
  constexpr Device(uint16_t type, uint16_t index) : type_(type), index_(index) {}

  uint16_t type_ = kCpu;  // position in the table of names seen so far
  uint16_t index_ = 0;
};

struct DeviceInfo {
  std::string name;   // "vulkan:0"; the plugin's name when it cannot be used
  std::string title;  // "NVIDIA H200"
  std::string plugin_file;
  std::string plugin_version;
  std::string kernel_format;  // "native_image", "spirv_vulkan", "none" ...
  uint64_t memory_bytes = 0;  // 0: unknown
  std::vector<std::string> dtypes;
  std::string error;  // why it cannot be used; empty: it can
};

// All devices of all plugins found, in search order. A plugin that is not known to behave is listed
// by a process of its own; the others are loaded.
PRIMSET_API std::vector<DeviceInfo> devices();

// The device of new tensors when none is given: that of the innermost DeviceGuard on this thread,
// else PRIMSET_DEVICE, else the CPU. PRIMSET_DEVICE=auto is the first accelerator that works, and
// the CPU when there is none.
PRIMSET_API Device current_device();

// Sets the current device of this thread for a scope.
class PRIMSET_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  Device previous_;
  bool had_previous_;
};

// Waits for all work of the device on all streams, then throws the first error that only the device
// could detect (an index out of range). Without an argument: for every device in use.
PRIMSET_API void synchronize(Device device);
PRIMSET_API void synchronize();

}  // namespace primset

#endif  // PRIMSET_DEVICE_H_
