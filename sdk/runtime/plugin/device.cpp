#include "sdk/runtime/plugin/device.h"

#include <fmt/format.h>

#include <cstdlib>

#include "sdk/base/printable.h"
#include "sdk/runtime/plugin/boundary.h"
#include "sdk/runtime/plugin/device_properties.h"
#include "sdk/runtime/plugin/hidden_features.h"
#include "sdk/runtime/plugin/library.h"
#include "sdk/runtime/plugin/required_members.h"
#include "sdk/runtime/plugin/validation/validation.h"

namespace primset::plugin {
namespace {

constexpr size_t kMaxTextBytes = 256;

// A plugin that reports success must have filled the handle.
template <typename Handle>
Handle filled(Handle handle, std::string_view where, std::string_view call) {
  if (!handle)
    throw Error(ErrorCode::plugin,
                fmt::format("{}: {}: returned success but no handle", where, call));
  return handle;
}

}  // namespace

// --- Plugin --------------------------------------------------------------------------------------

Plugin::Plugin(std::shared_ptr<PluginLibrary> library, const primset_plugin* table,
               std::unique_ptr<ValidationLayer> layer, std::filesystem::path file)
    : library_(std::move(library)),
      layer_(std::move(layer)),
      table_(layer_ ? layer_->table() : table),
      file_(std::move(file)),
      version_(printable(table->version, kMaxTextBytes)),
      vendor_(printable(table->vendor, kMaxTextBytes)) {}

Plugin::~Plugin() {
  table_->release(table_);
}

uint32_t Plugin::device_count() const {
  uint32_t count = 0;
  check(without_exceptions(name(), "device_count",
                           [&] { return table_->device_count(table_, &count); }),
        name(), "device_count");
  if (count > kMaxDevices)
    throw Error(ErrorCode::plugin, fmt::format("{}: device_count: {} devices; expected at most {}",
                                               name(), count, kMaxDevices));
  return count;
}

std::shared_ptr<PluginDevice> Plugin::open(uint32_t index) {
  const uint32_t count = device_count();
  if (index >= count)
    throw Error(ErrorCode::plugin,
                fmt::format("{}:{}: no such device; plugin {} ({}) has {} device{}", name(), index,
                            name(), printable(file_.string()), count, count == 1 ? "" : "s"));
  const std::string call = fmt::format("device_open({})", index);
  primset_device handle = nullptr;
  check(
      without_exceptions(name(), call, [&] { return table_->device_open(table_, index, &handle); }),
      name(), call);
  return std::make_shared<PluginDevice>(shared_from_this(), index, filled(handle, name(), call));
}

// --- PluginDevice --------------------------------------------------------------------------------

PluginDevice::PluginDevice(std::shared_ptr<Plugin> plugin, uint32_t index, primset_device handle)
    : plugin_(std::move(plugin)),
      table_(&plugin_->table()),
      handle_(handle),
      index_(index),
      name_(fmt::format("{}:{}", plugin_->name(), index)) {
  try {
    read_properties();
    check_properties(properties_, name_);
    host_memory_ = extension<primset_host_memory>(PRIMSET_EXT_HOST_MEMORY);
    pinned_memory_ = extension<primset_pinned_memory>(PRIMSET_EXT_PINNED_MEMORY);
    peer_copies_ = extension<primset_peer_copies>(PRIMSET_EXT_PEER_COPY);
    device_addresses_ = extension<primset_device_addresses>(PRIMSET_EXT_DEVICE_ADDRESS);
    primitives_ = extension<primset_primitives>(PRIMSET_EXT_PRIMITIVES);
    recordings_ = extension<primset_recordings>(PRIMSET_EXT_RECORDING);
  } catch (...) {
    table_->device_close(handle_);
    throw;
  }
}

PluginDevice::~PluginDevice() {
  table_->device_close(handle_);
}

void PluginDevice::read_properties() {
  properties_.struct_size = sizeof(properties_);
  check(without_exceptions(name_, "device_properties",
                           [&] { return table_->device_properties(handle_, &properties_); }),
        name_, "device_properties");
  properties_.struct_size = sizeof(properties_);
  properties_.name[sizeof(properties_.name) - 1] = '\0';
  title_ = printable(std::string_view(properties_.name));
  if (const char* hidden = std::getenv("PRIMSET_HIDE")) hide_features(hidden, properties_);
}

template <typename Table>
const Table* PluginDevice::extension(const char* id) const {
  const void* found = without_exceptions(name_, "device_extension",
                                         [&] { return table_->device_extension(handle_, id); });
  if (!found) return nullptr;
  if (const std::string fault = extension_fault(found, id); !fault.empty())
    throw Error(ErrorCode::plugin,
                fmt::format("{}: device_extension(\"{}\"): {}", name_, id, fault));
  return static_cast<const Table*>(found);
}

DeviceBuffer PluginDevice::alloc(uint64_t bytes) const {
  primset_buffer buffer = nullptr;
  if (primset_status* status = table_->memory_alloc(handle_, bytes, &buffer)) [[unlikely]]
    raise_status(status, name_, fmt::format("memory_alloc({} bytes)", bytes));
  return {this, filled(buffer, name_, "memory_alloc"), bytes};
}

DeviceBuffer PluginDevice::import(void* address, uint64_t bytes) const {
  if (!host_memory_)
    throw Error(ErrorCode::not_implemented,
                fmt::format("{}: cannot use host memory in place: the plugin has no {} table",
                            name_, PRIMSET_EXT_HOST_MEMORY));
  primset_buffer buffer = nullptr;
  check(host_memory_->import(handle_, address, bytes, &buffer), name_, "import");
  return {this, filled(buffer, name_, "import"), bytes};
}

PinnedHandle PluginDevice::alloc_pinned(uint64_t bytes) const {
  if (!pinned_memory_)
    throw Error(ErrorCode::not_implemented,
                fmt::format("{}: has no pinned memory: the plugin has no {} table", name_,
                            PRIMSET_EXT_PINNED_MEMORY));
  void* memory = nullptr;
  if (primset_status* status = pinned_memory_->alloc(handle_, bytes, &memory)) [[unlikely]]
    raise_status(status, name_, fmt::format("pinned_memory.alloc({} bytes)", bytes));
  return {this, filled(memory, name_, "pinned_memory.alloc"), bytes};
}

bool PluginDevice::reaches(const PluginDevice& peer) const {
  if (!peer_copies_ || !peer.peer_copies_ || table_ != peer.table_ || this == &peer) return false;
  uint32_t reachable = 0;
  check(peer_copies_->reachable(handle_, peer.handle_, &reachable), name_, "peer_copy.reachable");
  return reachable != 0;
}

StreamHandle PluginDevice::create_stream() const {
  primset_stream stream = nullptr;
  check(table_->stream_create(handle_, &stream), name_, "stream_create");
  return {this, filled(stream, name_, "stream_create")};
}

EventHandle PluginDevice::create_event() const {
  primset_event event = nullptr;
  check(table_->event_create(handle_, &event), name_, "event_create");
  return {this, filled(event, name_, "event_create")};
}

ModuleHandle PluginDevice::load_module(const primset_module_desc& desc) const {
  primset_module module = nullptr;
  if (primset_status* status = table_->module_load(handle_, &desc, &module)) [[unlikely]]
    raise_status(status, name_,
                 fmt::format("module_load(\"{}\", {} bytes)", desc.entry, desc.size));
  // Held from here on, so that a failing module_kernel does not leak it.
  ModuleHandle loaded(this, filled(module, name_, "module_load"), nullptr);
  primset_kernel kernel = nullptr;
  check(table_->module_kernel(module, &kernel), name_, "module_kernel");
  loaded.kernel_ = filled(kernel, name_, "module_kernel");
  return loaded;
}

// --- handles -------------------------------------------------------------------------------------

void DeviceBuffer::reset() noexcept {
  if (handle_) device_->table().memory_free(device_->handle(), std::exchange(handle_, nullptr));
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& o) noexcept {
  if (this == &o) return *this;
  reset();
  device_ = o.device_;
  handle_ = std::exchange(o.handle_, nullptr);
  bytes_ = o.bytes_;
  return *this;
}

void* DeviceBuffer::host_address() const {
  const primset_host_memory* memory = device_ ? device_->host_memory() : nullptr;
  return memory && handle_ ? memory->address(device_->handle(), handle_) : nullptr;
}

uint64_t DeviceBuffer::device_address() const {
  const primset_device_addresses* table = device_ ? device_->device_addresses() : nullptr;
  return table && handle_ ? table->address(device_->handle(), handle_) : 0;
}

void PinnedHandle::reset() noexcept {
  if (memory_) device_->pinned_memory()->free(device_->handle(), std::exchange(memory_, nullptr));
}

PinnedHandle& PinnedHandle::operator=(PinnedHandle&& o) noexcept {
  if (this == &o) return *this;
  reset();
  device_ = o.device_;
  memory_ = std::exchange(o.memory_, nullptr);
  bytes_ = o.bytes_;
  return *this;
}

void EventHandle::reset() noexcept {
  if (handle_) device_->table().event_destroy(std::exchange(handle_, nullptr));
}

EventHandle& EventHandle::operator=(EventHandle&& o) noexcept {
  if (this == &o) return *this;
  reset();
  device_ = o.device_;
  handle_ = std::exchange(o.handle_, nullptr);
  return *this;
}

void EventHandle::record(const StreamHandle& stream) {
  check(device_->table().event_record(handle_, stream.handle()), device_->name(), "event_record");
}

bool EventHandle::reached() const {
  uint32_t reached = 0;
  check(device_->table().event_query(handle_, &reached), device_->name(), "event_query");
  return reached != 0;
}

void EventHandle::synchronize() const {
  check(device_->table().event_synchronize(handle_), device_->name(), "event_synchronize");
}

void ModuleHandle::reset() noexcept {
  kernel_ = nullptr;
  if (handle_) device_->table().module_unload(device_->handle(), std::exchange(handle_, nullptr));
}

ModuleHandle& ModuleHandle::operator=(ModuleHandle&& o) noexcept {
  if (this == &o) return *this;
  reset();
  device_ = o.device_;
  handle_ = std::exchange(o.handle_, nullptr);
  kernel_ = std::exchange(o.kernel_, nullptr);
  return *this;
}

void RecordingHandle::reset() noexcept {
  if (handle_) device_->recordings()->destroy(device_->handle(), std::exchange(handle_, nullptr));
}

RecordingHandle& RecordingHandle::operator=(RecordingHandle&& o) noexcept {
  if (this == &o) return *this;
  reset();
  device_ = o.device_;
  handle_ = std::exchange(o.handle_, nullptr);
  return *this;
}

void StreamHandle::copy_in_pinned(primset_buffer target, uint64_t offset, const void* source,
                                  uint64_t bytes) const {
  check(device_->pinned_memory()->copy_in(handle_, target, offset, source, bytes), device_->name(),
        "pinned_memory.copy_in");
}

void StreamHandle::copy_out_pinned(primset_buffer source, uint64_t offset, void* target,
                                   uint64_t bytes) const {
  check(device_->pinned_memory()->copy_out(handle_, source, offset, target, bytes), device_->name(),
        "pinned_memory.copy_out");
}

void StreamHandle::wait_for_peer(const EventHandle& event) const {
  check(device_->peer_copies()->wait_event(handle_, event.handle()), device_->name(),
        "peer_copy.wait_event");
}

void StreamHandle::copy_from_peer(primset_buffer target, uint64_t target_offset,
                                  primset_buffer source, uint64_t source_offset,
                                  uint64_t bytes) const {
  check(device_->peer_copies()->copy(handle_, target, target_offset, source, source_offset, bytes),
        device_->name(), "peer_copy.copy");
}

void StreamHandle::begin_recording() const {
  check(device_->recordings()->begin(handle_), device_->name(), "recordings.begin");
}

RecordingHandle StreamHandle::end_recording() const {
  primset_recording recording = nullptr;
  check(device_->recordings()->end(handle_, &recording), device_->name(), "recordings.end");
  return {device_, filled(recording, device_->name(), "recordings.end")};
}

void StreamHandle::abandon_recording() const noexcept {
  drop_status(device_->recordings()->end(handle_, nullptr));
}

void StreamHandle::play(const RecordingHandle& recording) const {
  check(device_->recordings()->play(handle_, recording.handle()), device_->name(),
        "recordings.play");
}

void StreamHandle::reset() noexcept {
  if (handle_) table_->stream_destroy(std::exchange(handle_, nullptr));
}

StreamHandle& StreamHandle::operator=(StreamHandle&& o) noexcept {
  if (this == &o) return *this;
  reset();
  device_ = o.device_;
  table_ = o.table_;
  handle_ = std::exchange(o.handle_, nullptr);
  return *this;
}

}  // namespace primset::plugin
