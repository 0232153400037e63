// Contexts and their unified shared memory.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_MEMORY_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_MEMORY_H_

#include <level_zero/ze_api.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "backends/level_zero/cpu_driver/objects.h"

namespace primset_cpu_driver {

struct Allocation {
  uint64_t base, bytes;
  ze_memory_type_t type;
  std::optional<uint32_t> device;  // none: of no one device
};

class Context : public Object {
 public:
  ~Context() override;

  void add(const Allocation& allocation);
  bool remove(uint64_t base);
  // The allocation that an address is in.
  std::optional<Allocation> find(const void* address);

 private:
  std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;
};

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_MEMORY_H_
