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

// The one that was returned first is the likeliest to be signalled. One that is not, perhaps of a
// device that is slower, does not keep the others back.
ze_event_handle_t EventPool::reuse() {
  if (returned_.empty()) return nullptr;
  ze_event_handle_t event = returned_.front();
  returned_.pop_front();
  if (ze_.zeEventQueryStatus(event) != ZE_RESULT_SUCCESS) {
    returned_.push_back(event);
    return nullptr;
  }
  PRIMSET_ZE(ze_, zeEventHostReset, event);
  return event;
}

ze_event_handle_t EventPool::create() {
  if (pools_.empty() || used_of_last_ == kEventsOfPool) {
    auto desc = structure<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
    desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    desc.count = kEventsOfPool;
    // No list of devices: all that the ze driver has.
    pools_.push_back(PRIMSET_ZE_MAKE(ze_event_pool_handle_t, ze_, zeEventPoolCreate, context_,
                                     &desc, 0, nullptr));
    used_of_last_ = 0;
  }
  auto desc = structure<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
  desc.index = used_of_last_;
  desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  desc.wait = ZE_EVENT_SCOPE_FLAG_DEVICE;  // peers included
  all_.push_back(PRIMSET_ZE_MAKE(ze_event_handle_t, ze_, zeEventCreate, pools_.back(), &desc));
  ++used_of_last_;
  return all_.back();
}

bool is_reached(const Functions& ze, ze_event_handle_t event) {
  const ze_result_t result = ze.zeEventQueryStatus(event);
  if (result != ZE_RESULT_NOT_READY) kResults.check(result, "zeEventQueryStatus");
  return result == ZE_RESULT_SUCCESS;
}

void wait_for(const Functions& ze, ze_event_handle_t event) {
  PRIMSET_ZE(ze, zeEventHostSynchronize, event, UINT64_MAX);
}

}  // namespace primset_level_zero
