// C++ wrappers of a loaded plugin and of its handles. Every call is checked: a failing one throws
// primset::Error, which names the plugin, the function and the values. launch and the copies are
// inline and add one comparison to the plugin's own cost.
//
// Ownership: a PluginDevice keeps its Plugin loaded. Buffers, streams, events and modules hold a
// plain pointer to their PluginDevice and must be gone before it; who owns them (allocator, kernel
// cache, stream pool) owns the device too.
// Threads: as the tags in plugin.h say of the calls behind them.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_H_

#include <primset/plugin.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "sdk/runtime/plugin/status.h"

namespace primset::plugin {

// More devices than any machine has: a plugin that counts more is wrong.
inline constexpr uint32_t kMaxDevices = 1024;

class PluginDevice;
class PluginLibrary;
class ValidationLayer;

// A loaded plugin. Made by Registry (loader.h) or, in tests, around an existing table.
class Plugin : public std::enable_shared_from_this<Plugin> {
 public:
  // `library` keeps the code mapped and the host struct alive. `layer` may be null.
  Plugin(std::shared_ptr<PluginLibrary> library, const primset_plugin* table,
         std::unique_ptr<ValidationLayer> layer, std::filesystem::path file);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  std::string_view name() const { return table_->name; }
  // Printable text.
  const std::string& version() const { return version_; }
  const std::string& vendor() const { return vendor_; }
  const std::filesystem::path& file() const { return file_; }
  // The table that calls go to: the validation layer's when it is interposed.
  const primset_plugin& table() const { return *table_; }
  ValidationLayer* validation() const { return layer_.get(); }

  uint32_t device_count() const;
  std::shared_ptr<PluginDevice> open(uint32_t index);

 private:
  std::shared_ptr<PluginLibrary> library_;
  std::unique_ptr<ValidationLayer> layer_;
  const primset_plugin* table_;
  std::filesystem::path file_;
  std::string version_, vendor_;
};

// Owns device memory.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const PluginDevice* device, primset_buffer handle, uint64_t bytes)
      : device_(device), handle_(handle), bytes_(bytes) {}
  DeviceBuffer(DeviceBuffer&& o) noexcept
      : device_(o.device_), handle_(std::exchange(o.handle_, nullptr)), bytes_(o.bytes_) {}
  DeviceBuffer& operator=(DeviceBuffer&& o) noexcept;
  ~DeviceBuffer() { reset(); }

  void reset() noexcept;
  explicit operator bool() const { return handle_ != nullptr; }
  primset_buffer handle() const { return handle_; }
  uint64_t bytes() const { return bytes_; }
  const PluginDevice* device() const { return device_; }
  // The CPU's address of the first byte, or null (PRIMSET_EXT_HOST_MEMORY).
  void* host_address() const;
  // The kernels' address of the first byte, or 0 (PRIMSET_EXT_DEVICE_ADDRESS).
  uint64_t device_address() const;

 private:
  const PluginDevice* device_ = nullptr;
  primset_buffer handle_ = nullptr;
  uint64_t bytes_ = 0;
};

// Owns host memory that a device copies from and to by itself (PRIMSET_EXT_PINNED_MEMORY).
class PinnedHandle {
 public:
  PinnedHandle() = default;
  PinnedHandle(const PluginDevice* device, void* memory, uint64_t bytes)
      : device_(device), memory_(memory), bytes_(bytes) {}
  PinnedHandle(PinnedHandle&& o) noexcept
      : device_(o.device_), memory_(std::exchange(o.memory_, nullptr)), bytes_(o.bytes_) {}
  PinnedHandle& operator=(PinnedHandle&& o) noexcept;
  ~PinnedHandle() { reset(); }

  void reset() noexcept;
  explicit operator bool() const { return memory_ != nullptr; }
  void* memory() const { return memory_; }
  uint64_t bytes() const { return bytes_; }

 private:
  const PluginDevice* device_ = nullptr;
  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
};

class StreamHandle;

class EventHandle {
 public:
  EventHandle() = default;
  EventHandle(const PluginDevice* device, primset_event handle)
      : device_(device), handle_(handle) {}
  EventHandle(EventHandle&& o) noexcept
      : device_(o.device_), handle_(std::exchange(o.handle_, nullptr)) {}
  EventHandle& operator=(EventHandle&& o) noexcept;
  ~EventHandle() { reset(); }

  void reset() noexcept;
  explicit operator bool() const { return handle_ != nullptr; }
  primset_event handle() const { return handle_; }
  void record(const StreamHandle& stream);
  bool reached() const;
  void synchronize() const;

 private:
  const PluginDevice* device_ = nullptr;
  primset_event handle_ = nullptr;
};

class ModuleHandle {
 public:
  ModuleHandle() = default;
  ModuleHandle(const PluginDevice* device, primset_module handle, primset_kernel kernel)
      : device_(device), handle_(handle), kernel_(kernel) {}
  ModuleHandle(ModuleHandle&& o) noexcept
      : device_(o.device_),
        handle_(std::exchange(o.handle_, nullptr)),
        kernel_(std::exchange(o.kernel_, nullptr)) {}
  ModuleHandle& operator=(ModuleHandle&& o) noexcept;
  ~ModuleHandle() { reset(); }

  void reset() noexcept;
  explicit operator bool() const { return handle_ != nullptr; }
  primset_module handle() const { return handle_; }
  primset_kernel kernel() const { return kernel_; }

 private:
  friend class PluginDevice;
  const PluginDevice* device_ = nullptr;
  primset_module handle_ = nullptr;
  primset_kernel kernel_ = nullptr;
};

// Owns a recording (PRIMSET_EXT_RECORDING).
class RecordingHandle {
 public:
  RecordingHandle() = default;
  RecordingHandle(const PluginDevice* device, primset_recording handle)
      : device_(device), handle_(handle) {}
  RecordingHandle(RecordingHandle&& o) noexcept
      : device_(o.device_), handle_(std::exchange(o.handle_, nullptr)) {}
  RecordingHandle& operator=(RecordingHandle&& o) noexcept;
  ~RecordingHandle() { reset(); }

  void reset() noexcept;
  explicit operator bool() const { return handle_ != nullptr; }
  primset_recording handle() const { return handle_; }

 private:
  const PluginDevice* device_ = nullptr;
  primset_recording handle_ = nullptr;
};

// An open device: its properties and optional tables; makes buffers, streams, events and modules.
class PluginDevice {
 public:
  PluginDevice(std::shared_ptr<Plugin> plugin, uint32_t index, primset_device handle);
  ~PluginDevice();
  PluginDevice(const PluginDevice&) = delete;
  PluginDevice& operator=(const PluginDevice&) = delete;

  const Plugin& plugin() const { return *plugin_; }
  const primset_plugin& table() const { return *table_; }
  primset_device handle() const { return handle_; }
  uint32_t index() const { return index_; }
  const std::string& name() const { return name_; }  // "acme:0"
  const primset_device_properties& properties() const { return properties_; }
  // properties().name as printable text: "NVIDIA H200".
  const std::string& title() const { return title_; }

  // Optional tables; null where the plugin has none. Their size and functions are checked.
  const primset_host_memory* host_memory() const { return host_memory_; }
  const primset_pinned_memory* pinned_memory() const { return pinned_memory_; }
  const primset_peer_copies* peer_copies() const { return peer_copies_; }
  const primset_device_addresses* device_addresses() const { return device_addresses_; }
  const primset_primitives* primitives() const { return primitives_; }
  const primset_recordings* recordings() const { return recordings_; }

  DeviceBuffer alloc(uint64_t bytes) const;
  // Wraps memory that the caller owns and keeps alive; throws not_implemented where the device
  // cannot.
  DeviceBuffer import(void* address, uint64_t bytes) const;
  // Throws not_implemented where the device has no pinned memory.
  PinnedHandle alloc_pinned(uint64_t bytes) const;
  // Whether the two copy from each other's buffers without the host.
  bool reaches(const PluginDevice& peer) const;
  StreamHandle create_stream() const;
  EventHandle create_event() const;
  ModuleHandle load_module(const primset_module_desc& desc) const;

 private:
  void read_properties();
  template <typename Table>
  const Table* extension(const char* id) const;

  std::shared_ptr<Plugin> plugin_;
  const primset_plugin* table_;
  primset_device handle_;
  uint32_t index_;
  std::string name_, title_;
  primset_device_properties properties_{};
  const primset_host_memory* host_memory_ = nullptr;
  const primset_pinned_memory* pinned_memory_ = nullptr;
  const primset_peer_copies* peer_copies_ = nullptr;
  const primset_device_addresses* device_addresses_ = nullptr;
  const primset_primitives* primitives_ = nullptr;
  const primset_recordings* recordings_ = nullptr;
};

class StreamHandle {
 public:
  StreamHandle() = default;
  StreamHandle(const PluginDevice* device, primset_stream handle)
      : device_(device), table_(&device->table()), handle_(handle) {}
  StreamHandle(StreamHandle&& o) noexcept
      : device_(o.device_), table_(o.table_), handle_(std::exchange(o.handle_, nullptr)) {}
  StreamHandle& operator=(StreamHandle&& o) noexcept;
  ~StreamHandle() { reset(); }

  void reset() noexcept;
  explicit operator bool() const { return handle_ != nullptr; }
  primset_stream handle() const { return handle_; }

  void launch(const primset_launch& launch) const {
    check(table_->launch(handle_, &launch), device_->name(), "launch");
  }
  void copy_in(primset_buffer target, uint64_t offset, const void* source, uint64_t bytes) const {
    check(table_->copy_in(handle_, target, offset, source, bytes), device_->name(), "copy_in");
  }
  void copy_out(primset_buffer source, uint64_t offset, void* target, uint64_t bytes) const {
    check(table_->copy_out(handle_, source, offset, target, bytes), device_->name(), "copy_out");
  }
  void copy(primset_buffer target, uint64_t target_offset, primset_buffer source,
            uint64_t source_offset, uint64_t bytes) const {
    check(table_->copy(handle_, target, target_offset, source, source_offset, bytes),
          device_->name(), "copy");
  }
  void fill(primset_buffer target, uint64_t offset, uint64_t bytes, const void* pattern,
            uint32_t pattern_bytes) const {
    check(table_->fill(handle_, target, offset, bytes, pattern, pattern_bytes), device_->name(),
          "fill");
  }
  // Only where the device has pinned_memory(), of which the host's side is; they wait for nothing.
  void copy_in_pinned(primset_buffer target, uint64_t offset, const void* source,
                      uint64_t bytes) const;
  void copy_out_pinned(primset_buffer source, uint64_t offset, void* target, uint64_t bytes) const;
  // Only where the device reaches() the event's and the source's.
  void wait_for_peer(const EventHandle& event) const;
  void copy_from_peer(primset_buffer target, uint64_t target_offset, primset_buffer source,
                      uint64_t source_offset, uint64_t bytes) const;
  void run(const primset_primitive& primitive, const primset_primitive_call& call,
           std::string_view primitive_name) const {
    check(primitive.run(handle_, primitive.data, &call), device_->name(), primitive_name);
  }
  // Only where the device has recordings().
  void begin_recording() const;
  RecordingHandle end_recording() const;
  void abandon_recording() const noexcept;
  void play(const RecordingHandle& recording) const;
  void wait(const EventHandle& event) const {
    check(table_->stream_wait_event(handle_, event.handle()), device_->name(), "stream_wait_event");
  }
  void synchronize() const {
    check(table_->stream_synchronize(handle_), device_->name(), "stream_synchronize");
  }

 private:
  const PluginDevice* device_ = nullptr;
  const primset_plugin* table_ = nullptr;
  primset_stream handle_ = nullptr;
};

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_DEVICE_H_
