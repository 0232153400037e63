// An open device: its plugin, allocator, caches, streams and target model. Opened on first use and
// kept until the process ends. Thread safe.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_DEVICE_STATE_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_DEVICE_STATE_H_

#include <primset/device.h>
#include <primset/dtype.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "codegen/schedule/tuning/machine.h"
#include "decomps/engine/device_traits.h"
#include "sdk/runtime/device/caching_allocator.h"
#include "sdk/runtime/device/pinned_pool.h"
#include "sdk/runtime/device/stream_state.h"
#include "sdk/runtime/plugin/loader.h"
#include "sdk/runtime/support/process_end.h"

namespace primset::runtime {

class KernelCache;
class PlanCache;
class Recordings;

class DeviceState {
 public:
  // `plugin` is null for the meta device.
  DeviceState(Device device, std::shared_ptr<plugin::PluginDevice> plugin);
  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  Device device() const { return device_; }
  bool is_meta() const { return !plugin_; }
  const plugin::PluginDevice& plugin() const { return *plugin_; }
  bool supports(DType t) const;
  // Launches, copies and fills are complete when the call returns (PRIMSET_FEATURE_INLINE).
  bool runs_inline() const { return inline_; }
  // It has queues, and this process is a fork of the one that opened it: nothing may be asked of
  // it.
  bool is_of_parent() const { return !inline_ && forks_ != fork_count(); }
  bool host_visible() const { return plugin_ && plugin_->host_memory(); }
  bool has_kernels() const { return target_valid_; }
  const kir::TargetModel& target() const { return machine_.target; }
  // What its graphs are scheduled for; PRIMSET_TUNING overrides parameters.
  const schedule::Machine& machine() const { return machine_; }
  // The device traits that decompositions may read.
  decomps::DeviceTraits traits() const {
    return {
        .fast_f64 = target_valid_ && target().fast_f64(),
        .f64 = !target_valid_ || target().f64,
        .i64 = !target_valid_ || target().i64,
        .flush_f32 = plugin_ && (plugin_->properties().numerics & PRIMSET_NUMERIC_FLUSH_F32) != 0,
        .fast_scatter = target_valid_ && !target().simt,
        .fast_launch = target_valid_ && !target().simt};
  }

  CachingAllocator& allocator() { return *allocator_; }
  PinnedPool& pinned() { return *pinned_; }
  // The plans of eager calls.
  PlanCache& plans() { return *plans_; }
  KernelCache& kernels() { return *kernels_; }
  // Evicts kernels beyond the limit that no plan uses. The caller holds no stream's lock.
  void trim_kernels();
  Recordings& recordings() { return *recordings_; }

  // The stream of this thread's operators: that of a StreamGuard, else the device's default stream.
  // On an inline device every thread has a default stream of its own.
  StreamState& current_stream() { return inline_ ? thread_stream() : shared_stream(); }
  // Takes a stream that nobody else uses from a pool, and returns it.
  StreamState* borrow_stream();
  void return_stream(StreamState* stream);
  // Waits for all streams, then throws the first error.
  void synchronize();

 private:
  [[noreturn]] void refuse_in_child() const;
  StreamState& thread_stream();
  StreamState& shared_stream();
  void wait_for_streams();

  Device device_;
  std::shared_ptr<plugin::PluginDevice> plugin_;
  bool inline_ = false, target_valid_ = false;
  const uint32_t forks_ = fork_count();
  schedule::Machine machine_{kir::TargetModel()};
  std::unique_ptr<CachingAllocator> allocator_;
  std::unique_ptr<PinnedPool> pinned_;
  std::unique_ptr<KernelCache> kernels_;
  std::unique_ptr<PlanCache> plans_;        // uses kernels
  std::unique_ptr<Recordings> recordings_;  // uses memory and kernels
  std::mutex mutex_;
  std::deque<StreamState> streams_;
  std::vector<StreamState*> idle_;
  std::atomic<StreamState*> default_stream_ = nullptr;
};

// The open device; opens it on first use. Throws Error{plugin} when there is none.
DeviceState& device_state(Device device);
// The devices opened so far.
std::vector<DeviceState*> open_devices();
plugin::Registry& plugin_registry();

// The stream of a StreamGuard on this thread, or null; set returns the previous one.
std::shared_ptr<StreamState> set_current_stream(Device device, std::shared_ptr<StreamState> stream);
StreamState* guarded_stream(Device device);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_DEVICE_STATE_H_
