#include "sdk/runtime/device/stream_state.h"

#include <algorithm>
#include <cstring>

#include "codegen/schedule/program/program.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/plan/check_table.h"
#include "sdk/runtime/support/options.h"

namespace primset::runtime {

using schedule::ErrorSlot;

StreamState::StreamState(DeviceState& device, uint32_t index)
    : device_(device),
      index_(index),
      pool_(device.runs_inline() ? 0 : index),
      in_order_(device.plugin().properties().features &
                (PRIMSET_FEATURE_INLINE | PRIMSET_FEATURE_IN_ORDER)),
      handle_(device.plugin().create_stream()) {}

uint32_t StreamState::launch_flags(std::span<const primset_binding> bindings, bool exact) {
  if (in_order_) return 0;
  if (launches_overlap()) return hazards_.flags_for(bindings, exact);
  hazards_.restart(bindings, exact);
  return 0;
}

void StreamState::synchronize() {
  {
    StreamLock lock(*this);
    synchronize_locked();
  }
  report_awaited_errors();
}

void StreamState::synchronize_locked() {
  handle_.synchronize();
  hazards_.clear();
  report_errors();
}

void StreamState::make_error_slots() {
  if (has_slots_.load(std::memory_order_acquire)) return;
  const Block block = device_.allocator().allocate(kErrorSlots * sizeof(ErrorSlot), pool_);
  StreamLock lock(*this);
  if (slots_.buffer) return device_.allocator().release(block, pool_);  // another thread was first
  const uint64_t zero = 0;
  handle_.fill(block.buffer, block.offset, kErrorSlots * sizeof(ErrorSlot), &zero, sizeof(zero));
  hazards_.restart({}, false);
  slots_ = block;
  has_slots_.store(true, std::memory_order_release);
}

StreamState::SlotBinding StreamState::error_slot(const std::shared_ptr<const CheckTable>& checks) {
  auto it = slot_of_.find(checks.get());
  if (it == slot_of_.end()) {
    if (slot_owner_.size() == kErrorSlots) synchronize_locked();
    it = slot_of_.emplace(checks.get(), static_cast<uint32_t>(slot_owner_.size())).first;
    slot_owner_.push_back(checks);
  }
  return {slots_.buffer, slots_.offset + it->second * sizeof(ErrorSlot)};
}

void StreamState::report_errors() {
  if (slot_owner_.empty()) return;
  const auto owners = std::move(slot_owner_);
  slot_owner_.clear();
  slot_of_.clear();
  std::vector<ErrorSlot> slots(owners.size());
  const uint64_t bytes = slots.size() * sizeof(ErrorSlot);
  if (slots_.host) {
    std::memcpy(slots.data(), slots_.host, bytes);
  } else {
    handle_.copy_out(slots_.buffer, slots_.offset, slots.data(), bytes);
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].code == 0) continue;
    const uint64_t zero = 0;
    handle_.fill(slots_.buffer, slots_.offset, kErrorSlots * sizeof(ErrorSlot), &zero,
                 sizeof(zero));
    hazards_.restart({}, false);
    throw owners[i]->error(slots[i]);
  }
}

// Streams may have waited for one another: each list is emptied before it is walked, so the walk
// ends.
void StreamState::report_awaited_errors() {
  std::vector<StreamState*> awaited;
  {
    StreamLock lock(*this);
    awaited = std::move(awaited_);
    awaited_.clear();
  }
  for (StreamState* s : awaited) s->synchronize();
}

void StreamState::wait_for(StreamState& other) {
  const bool unknown = !other.slot_owner_.empty() || !other.awaited_.empty();
  if (unknown && std::ranges::find(awaited_, &other) == awaited_.end()) awaited_.push_back(&other);
  follow(other);
}

void StreamState::follow(StreamState& other) {
  if (!other.event_) other.event_ = other.device_.plugin().create_event();
  other.event_.record(other.handle_);
  if (&other.device_ == &device_)
    handle_.wait(other.event_);
  else
    handle_.wait_for_peer(other.event_);
}

StreamLock::StreamLock(StreamState& stream)
    : stream_(stream.device().runs_inline() ? nullptr : &stream) {
  lock();
}

StreamLock::~StreamLock() {
  unlock();
}

void StreamLock::lock() {
  if (!stream_ || held_) return;
  stream_->mutex().lock();
  held_ = true;
}

void StreamLock::unlock() {
  if (!held_) return;
  held_ = false;
  stream_->mutex().unlock();
}

void StreamLock::acquire_all(std::span<StreamState* const> others) {
  unlock();
  std::vector<StreamState*> all(others.begin(), others.end());
  all.push_back(stream_);
  const auto place = [](const StreamState* s) {
    return std::pair(s->device().device().id(), s->index());
  };
  std::ranges::sort(all, {}, place);
  for (StreamState* s : all) s->mutex().lock();
  held_ = true;
}

void StreamLock::release_others(std::span<StreamState* const> others) {
  for (StreamState* s : others) s->mutex().unlock();
}

}  // namespace primset::runtime
