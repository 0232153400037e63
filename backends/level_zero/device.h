// An open device: its memory and its events, in the context of its ze driver.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_DEVICE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_DEVICE_H_

#include <primset/plugin.h>

#include <atomic>
#include <memory>

#include "backends/common/device_buffer.h"
#include "backends/level_zero/driver.h"

// Any thread.
struct primset_device_t
    : primset_backend::OpenDevice<primset_level_zero::Driver, primset_level_zero::PhysicalDevice> {
  primset_device_t(std::shared_ptr<primset_level_zero::Driver> driver, uint32_t index);

  // A new address; throws BackendError.
  uint64_t allocate(uint64_t bytes);
  void free(uint64_t address) noexcept;
  char* allocate_on_host(uint64_t bytes);
  void free_on_host(char* address) noexcept { free(reinterpret_cast<uint64_t>(address)); }

  // What backends/common/peer_functions.h asks.
  bool reach(const primset_device_t& peer) const;

  // Of the queues that compute, each in its turn.
  ze_command_queue_desc_t next_queue() const;

  const primset_level_zero::Functions& ze;
  const std::shared_ptr<primset_level_zero::Context> context;

 private:
  mutable std::atomic<uint32_t> queues_used_ = 0;
};

struct primset_buffer_t : primset_backend::DeviceBuffer<primset_device_t> {
  using DeviceBuffer::DeviceBuffer;
};

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_DEVICE_H_
