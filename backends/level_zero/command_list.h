// A command list that keeps the order of the plugin interface. Level Zero promises none between the
// commands of a list, so what depends on earlier ones is put behind a barrier.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_COMMAND_LIST_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_COMMAND_LIST_H_

#include <primset/plugin.h>

#include <cstdint>

#include "backends/level_zero/functions.h"

namespace primset_level_zero {

class CommandList {
 public:
  enum class Kind { immediate, recorded };
  // Throws BackendError.
  CommandList(const primset_device_t& device, Kind kind);

  // What is appended from here on comes after all that was appended before.
  void order();
  void copy(void* to, const void* from, uint64_t bytes);
  void fill(void* to, uint64_t bytes, const void* pattern, uint32_t pattern_bytes);
  void launch(ze_kernel_handle_t kernel, const uint32_t groups[3]);

  // Sets the event when all before is complete.
  void signal(ze_event_handle_t event);
  // What comes later waits for the event.
  void wait(ze_event_handle_t event);
  // ... and clears it, for the next time.
  void wait_and_reset(ze_event_handle_t event);

  void close();
  ze_command_list_handle_t handle() const { return handle_.get(); }

 private:
  const Functions& ze_;
  const Owned<ze_command_list_handle_t> handle_;
  bool unordered_ = false;  // something was appended behind the last barrier
};

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_COMMAND_LIST_H_
