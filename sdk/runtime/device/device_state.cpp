#include "sdk/runtime/device/device_state.h"

#include <fmt/format.h>

#include <atomic>
#include <optional>

#include "primset/stream.h"
#include "sdk/runtime/cache/kernel_cache.h"
#include "sdk/runtime/cache/shared_cache.h"
#include "sdk/runtime/device/device_packs.h"
#include "sdk/runtime/device/target.h"
#include "sdk/runtime/execute/recordings.h"
#include "sdk/runtime/plan/plan_cache.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/process_end.h"

namespace primset::runtime {
namespace {

struct Devices {
  std::mutex mutex;
  std::map<uint32_t, std::unique_ptr<DeviceState>> open;
};
// Never destroyed: tensors may outlive every static object of the program.
Devices& devices() {
  static Devices* instance = new Devices;
  return *instance;
}

// Streams that this thread's guards chose, and its own on inline devices.
struct ThreadStreams {
  struct Entry {
    DeviceState* device;
    StreamState* own = nullptr;
    std::shared_ptr<StreamState> guarded;
  };
  std::vector<Entry> entries;

  Entry* find(const DeviceState* device) {
    for (Entry& e : entries) {
      if (e.device == device) return &e;
    }
    return nullptr;
  }
  Entry& get(DeviceState* device) {
    if (Entry* e = find(device)) return *e;
    return entries.emplace_back(Entry{device, nullptr, nullptr});
  }
  ~ThreadStreams() {
    for (Entry& e : entries) {
      if (e.own) e.device->return_stream(e.own);
    }
  }
};
ThreadStreams& thread_streams() {
  thread_local ThreadStreams streams;
  return streams;
}

#ifndef PRIMSET_FALLBACK_PLUGIN_FOLDER
#define PRIMSET_FALLBACK_PLUGIN_FOLDER ""
#endif

plugin::LoaderOptions loader_options() {
  plugin::LoaderOptions options;
  if (const std::string_view folder = PRIMSET_FALLBACK_PLUGIN_FOLDER; !folder.empty())
    options.fallback_folders.emplace_back(folder);
  options.cache = shared_cache();
  options.probe = true;
  options.log = [](uint32_t level, std::string_view text) {
    const auto l = static_cast<LogLevel>(level > PRIMSET_LOG_ERROR ? PRIMSET_LOG_ERROR : level);
    if (log_enabled(l)) log_text(l, text);
  };
  return options;
}

}  // namespace

DeviceState::DeviceState(Device device, std::shared_ptr<plugin::PluginDevice> plugin)
    : device_(device), plugin_(std::move(plugin)), plans_(std::make_unique<PlanCache>()) {
  if (!plugin_) return;
  const primset_device_properties& p = plugin_->properties();
  inline_ = p.features & PRIMSET_FEATURE_INLINE;
  if (auto model = target_model(p)) {
    machine_ = schedule::Machine(*std::move(model), environment("PRIMSET_TUNING"));
    target_valid_ = true;
    open_packs(*plugin_, machine_.target);
  }
  recordings_ = std::make_unique<Recordings>(*plugin_);
  allocator_ = std::make_unique<CachingAllocator>(
      *plugin_, [this] { wait_for_streams(); }, [this] { recordings_->clear(); });
  pinned_ = std::make_unique<PinnedPool>(*plugin_);
  kernels_ = std::make_unique<KernelCache>(*plugin_, machine_.target);
}

DeviceState::~DeviceState() = default;

bool DeviceState::supports(DType t) const {
  return !plugin_ || (plugin_->properties().dtypes >> static_cast<int>(t)) & 1;
}

StreamState& DeviceState::thread_stream() {
  thread_local DeviceState* last_device = nullptr;
  thread_local StreamState* last_stream = nullptr;
  if (last_device == this) return *last_stream;
  ThreadStreams::Entry& entry = thread_streams().get(this);
  if (!entry.own) entry.own = borrow_stream();
  last_device = this;
  last_stream = entry.own;
  return *last_stream;
}

void DeviceState::refuse_in_child() const {
  throw Error(ErrorCode::device_lost,
              fmt::format("{} was opened before this process was forked, and cannot be used in the "
                          "child, which lacks its driver's threads; open it in the child only, "
                          "start children with spawn, or compute on cpu",
                          device_.to_string()));
}

StreamState& DeviceState::shared_stream() {
  if (is_of_parent()) [[unlikely]]
    refuse_in_child();
  if (StreamState* s = guarded_stream(device_)) return *s;
  if (StreamState* s = default_stream_.load(std::memory_order_acquire)) return *s;
  std::lock_guard lock(mutex_);
  StreamState* s = default_stream_.load(std::memory_order_relaxed);
  if (!s) {
    s = &streams_.emplace_back(*this, static_cast<uint32_t>(streams_.size()));
    default_stream_.store(s, std::memory_order_release);
  }
  return *s;
}

StreamState* DeviceState::borrow_stream() {
  std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    StreamState* stream = idle_.back();
    idle_.pop_back();
    return stream;
  }
  return &streams_.emplace_back(*this, static_cast<uint32_t>(streams_.size()));
}

void DeviceState::return_stream(StreamState* stream) {
  std::lock_guard lock(mutex_);
  idle_.push_back(stream);
}

void DeviceState::synchronize() {
  if (!plugin_ || is_of_parent()) return;
  std::vector<StreamState*> all;
  {
    std::lock_guard lock(mutex_);
    for (StreamState& s : streams_) all.push_back(&s);
  }
  // An inline device's streams belong to their threads and have nothing in flight.
  if (inline_) return;
  std::optional<Error> first;
  for (StreamState* s : all) {
    try {
      s->synchronize();
    } catch (const Error& e) {
      if (!first) first = e;
    }
  }
  if (first) throw Error(*first);
}

// For memory and kernels that go back to the plugin: an error of earlier work must not be lost
// here, so it stays in its slot.
void DeviceState::wait_for_streams() {
  if (inline_) return;
  std::vector<StreamState*> all;
  {
    std::lock_guard lock(mutex_);
    for (StreamState& s : streams_) all.push_back(&s);
  }
  for (StreamState* s : all) {
    StreamLock lock(*s);
    s->handle().synchronize();
    s->hazards().clear();
  }
}

void DeviceState::trim_kernels() {
  if (!kernels_) return;
  kernels_->trim([this] {
    wait_for_streams();
    recordings_->clear();  // some may be of the kernels
  });
}

plugin::Registry& plugin_registry() {
  static plugin::Registry* instance = new plugin::Registry(loader_options());
  return *instance;
}

DeviceState& device_state(Device device) {
  thread_local DeviceState* last = nullptr;
  if (last && last->device() == device) return *last;
  Devices& all = devices();
  std::lock_guard lock(all.mutex);
  auto& entry = all.open[device.id()];
  if (!entry) {
    // Drivers start threads here, which live on with what this thread has now.
    const DefaultFloatingPoint floating_point;
    const BlockedSignals signals;
    std::shared_ptr<plugin::PluginDevice> opened;
    if (!device.is_meta())
      opened = plugin_registry().open(fmt::format("{}:{}", device.type(), device.index()));
    entry = std::make_unique<DeviceState>(device, std::move(opened));
    expect_exit(!device.is_meta() && !entry->runs_inline());
    log(LogLevel::info, "opened {}", device.to_string());
  }
  return *(last = entry.get());
}

std::vector<DeviceState*> open_devices() {
  std::lock_guard lock(devices().mutex);
  std::vector<DeviceState*> list;
  for (auto& [id, state] : devices().open) {
    if (state) list.push_back(state.get());
  }
  return list;
}

StreamState* guarded_stream(Device device) {
  for (auto& e : thread_streams().entries) {
    if (e.guarded && e.device->device() == device) return e.guarded.get();
  }
  return nullptr;
}

std::shared_ptr<StreamState> set_current_stream(Device device,
                                                std::shared_ptr<StreamState> stream) {
  return std::exchange(thread_streams().get(&device_state(device)).guarded, std::move(stream));
}

}  // namespace primset::runtime

namespace primset {

Stream::Stream(Device device) {
  runtime::DeviceState& state = runtime::device_state(device);
  if (state.is_meta()) throw Error(ErrorCode::value, "Stream: the meta device has no streams");
  state_ = std::shared_ptr<runtime::StreamState>(
      state.borrow_stream(), [&state](runtime::StreamState* s) { state.return_stream(s); });
}

Device Stream::device() const {
  return state_->device().device();
}
void Stream::synchronize() const {
  state_->synchronize();
}

StreamGuard::StreamGuard(const Stream& stream)
    : stream_(stream.state()),
      previous_(runtime::set_current_stream(stream.device(), stream.state())) {}

StreamGuard::~StreamGuard() {
  runtime::set_current_stream(stream_->device().device(), std::move(previous_));
}

void synchronize(Device device) {
  runtime::device_state(device).synchronize();
}

void synchronize() {
  for (runtime::DeviceState* d : runtime::open_devices()) d->synchronize();
}

MemoryStatistics memory_statistics(Device device) {
  runtime::DeviceState& state = runtime::device_state(device);
  return state.is_meta() ? MemoryStatistics{} : state.allocator().statistics();
}

void empty_cache(Device device) {
  runtime::DeviceState& state = runtime::device_state(device);
  if (state.is_meta()) return;
  state.allocator().empty_cache();
  state.pinned().empty_cache();
}

}  // namespace primset
