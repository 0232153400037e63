#include "backends/vulkan/stream.h"

#include <algorithm>

#include "backends/common/staging/staging.h"

namespace primset_vulkan {
namespace {

// Commands a batch holds at most: enough to hide the price of a submission, few enough to start
// early.
constexpr uint32_t kBatchCommands = 128;
// Batches on their way at most; then the host waits for the oldest.
constexpr size_t kMaxRunning = 32;

constexpr VkPipelineStageFlags kWorkStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;

struct Accesses {
  VkPipelineStageFlags stages;
  VkAccessFlags kinds;
};
constexpr Accesses kWorkWrites{kWorkStages, VK_ACCESS_MEMORY_WRITE_BIT};
constexpr Accesses kWork{kWorkStages, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
constexpr Accesses kLaunchWrites{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT};
constexpr Accesses kLaunches{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
constexpr Accesses kHostReads{VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT};

void barrier(const DeviceFunctions& vk, VkCommandBuffer commands, const Accesses& before,
             const Accesses& after) {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = before.kinds;
  memory.dstAccessMask = after.kinds;
  vk.vkCmdPipelineBarrier(commands, before.stages, after.stages, 0, 1, &memory, 0, nullptr, 0,
                          nullptr);
}

}  // namespace

}  // namespace primset_vulkan

using namespace primset_vulkan;

primset_stream_t::primset_stream_t(primset_device device_)
    : device(device_), timeline_(device_->timelines->take()), complete_(timeline_->submitted) {
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = device->physical.queue_family;
  check(device->vk.vkCreateCommandPool(device->handle, &info, nullptr, &pool_),
        "vkCreateCommandPool");
}

primset_stream_t::~primset_stream_t() {
  try {
    synchronize();
  } catch (const std::exception& e) {
    log(device->instance->host(), PRIMSET_LOG_ERROR,
        std::string("vulkan: stream_destroy: ") + e.what());
  }
  device->vk.vkDestroyCommandPool(device->handle, pool_, nullptr);
}

void primset_stream_t::begin() {
  while (running_.size() >= kMaxRunning) wait(running_.front().value);
  reclaim();
  if (spare_.empty()) {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer made = VK_NULL_HANDLE;
    check(device->vk.vkAllocateCommandBuffers(device->handle, &info, &made),
          "vkAllocateCommandBuffers");
    spare_.push_back(made);
  }
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(device->vk.vkBeginCommandBuffer(spare_.back(), &info), "vkBeginCommandBuffer");
  recording_ = spare_.back();
  spare_.pop_back();
  recorded_ = 0;
  copied_ = false;
  bound_ = VK_NULL_HANDLE;
}

VkCommandBuffer primset_stream_t::record(Work work, bool ordered) {
  const bool first = recording_ == VK_NULL_HANDLE;
  if (first) begin();
  if (first || ordered) {
    // Batches are ordered among themselves: what came before may be of any stream of the queue, and
    // of any kind. A launch that only launches came before waits for them alone: half the time.
    const bool launches = !first && work == Work::launch && !copied_;
    barrier(device->vk, recording_, launches ? kLaunchWrites : kWorkWrites,
            launches ? kLaunches : kWork);
    copied_ = false;
  }
  copied_ |= work == Work::copy;
  return recording_;
}

void primset_stream_t::recorded() {
  if (++recorded_ >= kBatchCommands) flush();
}

void primset_stream_t::bind(VkPipeline pipeline) {
  if (bound_ == pipeline) return;
  device->vk.vkCmdBindPipeline(recording_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  bound_ = pipeline;
}

void primset_stream_t::flush() {
  if (recording_ == VK_NULL_HANDLE && waits_.empty()) return;
  if (recording_ != VK_NULL_HANDLE) {
    barrier(device->vk, recording_, kWorkWrites, kHostReads);
    const VkCommandBuffer commands = recording_;
    recording_ = VK_NULL_HANDLE;
    running_.push_back({commands, submitted() + 1});
    check(device->vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    submit(true);
  } else {
    submit(false);
  }
}

void primset_stream_t::submit(bool commands) {
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  for (const Mark& mark : waits_) {
    semaphores.push_back(mark.timeline->handle());
    values.push_back(mark.value);
  }
  const std::vector<VkPipelineStageFlags> stages(waits_.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  const uint64_t value = submitted() + 1;
  const VkSemaphore own = timeline_->handle();
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.waitSemaphoreValueCount = static_cast<uint32_t>(values.size());
  timeline.pWaitSemaphoreValues = values.data();
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &value;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.waitSemaphoreCount = static_cast<uint32_t>(semaphores.size());
  info.pWaitSemaphores = semaphores.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = commands ? 1 : 0;
  info.pCommandBuffers = commands ? &running_.back().commands : nullptr;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &own;
  try {
    device->submit(info);
  } catch (...) {
    if (commands) running_.pop_back();  // the value will never be reached
    throw;
  }
  timeline_->submitted = value;
  waits_.clear();
  if (upload_) upload_->ring.mark(value);
  if (readback_) readback_->ring.mark(value);
}

void primset_stream_t::reclaim(uint64_t value) {
  complete_ = std::max(complete_, value);
  while (!running_.empty() && running_.front().value <= complete_) {
    spare_.push_back(running_.front().commands);
    running_.pop_front();
  }
  if (upload_) upload_->ring.release(complete_);
  if (readback_) readback_->ring.release(complete_);
}

void primset_stream_t::reclaim() {
  reclaim(timeline_->value());
}

void primset_stream_t::wait(uint64_t value) {
  if (value > complete_) timeline_->wait(value);
  reclaim(value);
}

void primset_stream_t::synchronize() {
  flush();
  wait(submitted());
}

bool primset_stream_t::idle() {
  if (recording_ != VK_NULL_HANDLE || !waits_.empty()) return false;
  if (complete_ < submitted()) reclaim();
  return complete_ == submitted();
}

void primset_stream_t::wait_for(const primset_event_t& event) {
  Mark mark = event.mark();
  if (!mark.timeline || mark.timeline == timeline_) return;
  flush();  // what was given before does not wait
  waits_.push_back(std::move(mark));
}

Mark primset_stream_t::end() {
  flush();
  return {timeline_, submitted()};
}

primset_stream_t::Piece primset_stream_t::take(std::unique_ptr<StagingMemory>& staging,
                                               MemoryUse use, uint64_t bytes) {
  using primset_backend::kRingBytes;
  if (!staging) staging = std::make_unique<StagingMemory>(device, kRingBytes, use);
  return staging->at(primset_backend::take_piece(*this, staging->ring, bytes));
}

primset_stream_t::Piece primset_stream_t::upload(uint64_t bytes) {
  return take(upload_, MemoryUse::upload, bytes);
}

primset_stream_t::Piece primset_stream_t::readback(uint64_t bytes) {
  return take(readback_, MemoryUse::readback, bytes);
}

void primset_stream_t::copy(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset,
                            uint64_t bytes, bool ordered) {
  const VkBufferCopy region{from_offset, to_offset, bytes};
  device->vk.vkCmdCopyBuffer(record(Work::copy, ordered), from, to, 1, &region);
  recorded();
}

void primset_stream_t::copy_from(const Piece& piece, const Memory& to, uint64_t offset,
                                 uint64_t bytes, bool ordered) {
  copy(piece.buffer, piece.offset, to.buffer, to.base + offset, bytes, ordered);
}

void primset_stream_t::copy_to(const Memory& from, uint64_t offset, const Piece& piece,
                               uint64_t bytes) {
  copy(from.buffer, from.base + offset, piece.buffer, piece.offset, bytes, true);
}

void primset_stream_t::copy_inside(const Memory& memory, uint64_t from, uint64_t to,
                                   uint64_t bytes) {
  copy(memory.buffer, memory.base + from, memory.buffer, memory.base + to, bytes, true);
}
