#include "backends/level_zero/event.h"

#include "backends/level_zero/errors.h"

namespace primset_level_zero {
namespace {

constexpr uint32_t kEventsOfPool = 256;

}  // namespace

EventPool::~EventPool() {
  for (ze_event_handle_t event : all_) ze_.zeEventDestroy(event);
  for (ze_event_pool_handle_t pool : pools_) ze_.zeEventPoolDestroy(pool);
}

EventRef EventPool::take() {
  const std::lock_guard lock(mutex_);
  ze_event_handle_t event = reuse();
  if (!event) event = create();
  return {event, [this](ze_event_handle_t returned) {
            const std::lock_guard again(mutex_);
            returned_.push_back(returned);
          }};
}

// The one that was returned first is the likeliest to be signalled.
ze_event_handle_t EventPool::reuse() {
  if (returned_.empty()) return nullptr;
  ze_event_handle_t event = returned_.front();
  if (ze_.zeEventQueryStatus(event) != ZE_RESULT_SUCCESS) return nullptr;
  PRIMSET_ZE(ze_, zeEventHostReset, event);
  returned_.pop_front();
  return event;
}

ze_event_handle_t EventPool::create() {
  if (pools_.empty() || used_of_last_ == kEventsOfPool) {
    ze_event_pool_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    desc.count = kEventsOfPool;
    ze_event_pool_handle_t pool = nullptr;
    ze_device_handle_t device = device_;
    PRIMSET_ZE(ze_, zeEventPoolCreate, context_, &desc, 1, &device, &pool);
    pools_.push_back(pool);
    used_of_last_ = 0;
  }
  ze_event_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  desc.index = used_of_last_;
  desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  desc.wait = ZE_EVENT_SCOPE_FLAG_DEVICE;
  ze_event_handle_t event = nullptr;
  PRIMSET_ZE(ze_, zeEventCreate, pools_.back(), &desc, &event);
  ++used_of_last_;
  all_.push_back(event);
  return event;
}

bool Mark::reached() const {
  if (!event_) return true;
  const ze_result_t result = ze_->zeEventQueryStatus(get());
  if (result != ZE_RESULT_NOT_READY) check(result, "zeEventQueryStatus");
  return result == ZE_RESULT_SUCCESS;
}

void Mark::wait() const {
  if (event_) PRIMSET_ZE(*ze_, zeEventHostSynchronize, get(), UINT64_MAX);
}

}  // namespace primset_level_zero
