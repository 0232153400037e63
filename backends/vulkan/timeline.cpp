#include "backends/vulkan/timeline.h"

#include "backends/vulkan/device.h"

namespace primset_vulkan {

Timeline::Timeline(primset_device device) : device_(device) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  check(device->vk.vkCreateSemaphore(device->handle, &info, nullptr, &semaphore_),
        "vkCreateSemaphore");
}

Timeline::~Timeline() {
  device_->vk.vkDestroySemaphore(device_->handle, semaphore_, nullptr);
}

uint64_t Timeline::value() const {
  uint64_t value = 0;
  check(device_->vk.vkGetSemaphoreCounterValue(device_->handle, semaphore_, &value),
        "vkGetSemaphoreCounterValue");
  return value;
}

void Timeline::wait(uint64_t value) const {
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &value;
  check(device_->vk.vkWaitSemaphores(device_->handle, &info, UINT64_MAX), "vkWaitSemaphores");
}

std::shared_ptr<Timeline> TimelinePool::take() {
  std::unique_ptr<Timeline> timeline;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      timeline = std::move(spare_.back());
      spare_.pop_back();
    }
    // Room for it to come back without fail.
    spare_.reserve(spare_.capacity() + 1);
  }
  if (!timeline) timeline = std::make_unique<Timeline>(device_);
  return {timeline.release(), [this](Timeline* t) {
            const std::lock_guard lock(mutex_);
            spare_.emplace_back(t);
          }};
}

}  // namespace primset_vulkan
