// Events of Level Zero, pooled, for all devices of a context: one is reset only when nobody refers
// to it any more, and its signal has come.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_EVENT_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_EVENT_H_

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/common/marked_event.h"
#include "backends/level_zero/functions.h"

namespace primset_level_zero {

// A reference; the last one gives the event back to its pool.
using EventRef = std::shared_ptr<_ze_event_handle_t>;

// Any thread. Outlives the events.
class EventPool {
 public:
  EventPool(const Functions& ze, ze_context_handle_t context) : ze_(ze), context_(context) {}
  ~EventPool();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  // One that is not signalled. Throws BackendError.
  EventRef take();

 private:
  ze_event_handle_t reuse();
  ze_event_handle_t create();

  const Functions& ze_;
  const ze_context_handle_t context_;
  std::mutex mutex_;
  std::vector<ze_event_pool_handle_t> pools_;
  uint32_t used_of_last_ = 0;
  std::vector<ze_event_handle_t> all_;
  std::deque<ze_event_handle_t> returned_;  // the signal of some is still to come
};

// A point in a stream: an event that is set there.
using Mark = primset_backend::SharedMark<Functions, ze_event_handle_t>;
// Throw BackendError.
bool is_reached(const Functions& ze, ze_event_handle_t event);
void wait_for(const Functions& ze, ze_event_handle_t event);

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_EVENT_H_
