// The objects behind the handles of the cpu back end.
#ifndef PRIMSET_BACKENDS_CPU_OBJECTS_H_
#define PRIMSET_BACKENDS_CPU_OBJECTS_H_

#include <primset/plugin.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "backends/cpu/image.h"
#include "backends/cpu/thread_pool.h"

namespace primset_cpu {

inline constexpr uint32_t kMaxParamBytes = 4096;
inline constexpr uint32_t kMemoryAlignment = 64;  // a cache line, and the widest vector

}  // namespace primset_cpu

struct primset_device_t {
  std::shared_ptr<primset_cpu::ThreadPool> pool;  // shared by all open devices
};

struct primset_buffer_t {
  char* address = nullptr;
  uint64_t bytes = 0;
  uint64_t mapped_bytes = 0;  // > 0: from mmap
  bool owned = true;          // false: imported
};

// Work runs inline, so a stream is the device and a place to build parameter blocks in.
struct primset_stream_t {
  alignas(64) unsigned char params[primset_cpu::kMaxParamBytes];
  primset_device device = nullptr;
};

// Everything before it is complete as soon as it is given: an event holds nothing.
struct primset_event_t {
  char unused = 0;
};

struct primset_kernel_t {
  primset_native_entry entry = nullptr;
  uint32_t pointer_count = 0;
  uint32_t param_bytes = 0;
  // Nanoseconds that one workgroup took lately; 0 when unknown. Steers only where the groups run.
  std::atomic<float> group_nanoseconds{0};
};

struct primset_module_t {
  primset_cpu::Image image;
  primset_kernel_t kernel;
};

#endif  // PRIMSET_BACKENDS_CPU_OBJECTS_H_
