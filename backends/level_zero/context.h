// A context of a ze driver, with the events in it. Memory and events of one context are nothing to
// another, so all open devices of the ze driver share one.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CONTEXT_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CONTEXT_H_

#include <map>
#include <memory>
#include <mutex>

#include "backends/level_zero/event.h"

namespace primset_level_zero {

struct Context {
  // Throws BackendError.
  Context(const Functions& ze, ze_driver_handle_t driver);

  const Owned<ze_context_handle_t> handle;
  // Here rather than in the devices: a stream may hold an event of a peer that is closed by then.
  EventPool events;
};

// Any thread. Contexts live as long as somebody has them.
class Contexts {
 public:
  // That of the ze driver; throws BackendError.
  std::shared_ptr<Context> of(const Functions& ze, ze_driver_handle_t driver);

 private:
  std::mutex mutex_;
  std::map<ze_driver_handle_t, std::weak_ptr<Context>> contexts_;
};

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CONTEXT_H_
