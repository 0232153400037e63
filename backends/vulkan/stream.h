// Streams: work is recorded into command buffers and given to the queue in batches.
//
// Each stream has a timeline semaphore; batch n sets it to n when it is complete. A batch begins
// with a barrier against everything submitted before it, and ends with one that makes its writes
// visible to the host. Between two commands inside a batch there is a barrier, unless the host said
// that the later one is independent.
#ifndef PRIMSET_BACKENDS_VULKAN_STREAM_H_
#define PRIMSET_BACKENDS_VULKAN_STREAM_H_

#include <primset/plugin.h>

#include <deque>
#include <memory>
#include <vector>

#include "backends/common/marked_event.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/staging_memory.h"
#include "backends/vulkan/timeline.h"

struct primset_event_t : primset_backend::MarkedEvent<primset_device_t, primset_vulkan::Mark> {
  using MarkedEvent::MarkedEvent;
};

struct primset_stream_t {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t();
  primset_stream_t(const primset_stream_t&) = delete;
  primset_stream_t& operator=(const primset_stream_t&) = delete;

  enum class Work { launch, copy };
  // A command buffer to put one command in. `ordered`: after all earlier work is complete and
  // visible.
  VkCommandBuffer record(Work work, bool ordered);
  // One command was put in: submits the batch when it is large.
  void recorded();
  // Gives what is recorded to the queue.
  void flush();
  // flush(), then waits for everything.
  void synchronize();
  // True when nothing is recorded, running, or waited for.
  bool idle();

  // Later work starts after the event's mark.
  void wait_for(const primset_event_t& event);
  // The stream's present end.
  primset_vulkan::Mark end();

  void copy_in(const primset_buffer_t& buffer, uint64_t offset, const void* source, uint64_t bytes);
  void copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target, uint64_t bytes);
  // The host's side is memory of the device's allocate_on_host; they wait for nothing.
  void copy_in_pinned(const primset_buffer_t& buffer, uint64_t offset, const void* source,
                      uint64_t bytes);
  void copy_out_pinned(const primset_buffer_t& buffer, uint64_t offset, void* target,
                       uint64_t bytes);
  void copy(const primset_buffer_t& target, uint64_t target_offset, const primset_buffer_t& source,
            uint64_t source_offset, uint64_t bytes);
  void fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
            const unsigned char* pattern, uint32_t pattern_bytes);

  // A piece of staging memory or parameter memory, free again when the batch being recorded is
  // complete. bytes <= primset_backend::kPiece.
  using Piece = primset_vulkan::StagingMemory::Piece;
  Piece upload(uint64_t bytes);
  Piece readback(uint64_t bytes);
  // Copies, each a command.
  void copy_from(const Piece& piece, const primset_vulkan::Memory& to, uint64_t offset,
                 uint64_t bytes, bool ordered);
  void copy_to(const primset_vulkan::Memory& from, uint64_t offset, const Piece& piece,
               uint64_t bytes);
  void copy_inside(const primset_vulkan::Memory& memory, uint64_t from, uint64_t to,
                   uint64_t bytes);
  // Waits until batch `value` is complete.
  void wait(uint64_t value);
  // Takes back what is complete by now.
  void reclaim();
  uint64_t submitted() const { return timeline_->submitted; }

  // Binds unless it is what the batch has bound already.
  void bind(VkPipeline pipeline);

  const primset_device device;

 private:
  struct Batch {
    VkCommandBuffer commands;
    uint64_t value;
  };

  void begin();
  void submit(bool commands);
  void reclaim(uint64_t value);
  void copy(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset, uint64_t bytes,
            bool ordered);
  Piece take(std::unique_ptr<primset_vulkan::StagingMemory>& staging, primset_vulkan::MemoryUse use,
             uint64_t bytes);

  std::shared_ptr<primset_vulkan::Timeline> timeline_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> spare_;
  std::deque<Batch> running_;
  VkCommandBuffer recording_ = VK_NULL_HANDLE;
  uint32_t recorded_ = 0;  // commands in the batch being recorded
  bool copied_ = false;    // one of those since its last barrier is a copy or a fill
  VkPipeline bound_ = VK_NULL_HANDLE;
  uint64_t complete_ = 0;                    // a value the timeline is known to have reached
  std::vector<primset_vulkan::Mark> waits_;  // before the next batch
  std::unique_ptr<primset_vulkan::StagingMemory> upload_, readback_;
};

#endif  // PRIMSET_BACKENDS_VULKAN_STREAM_H_
