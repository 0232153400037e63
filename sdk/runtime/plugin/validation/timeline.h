// Which work the host may know to be complete: a model of streams and events that finds buffers and
// modules released while work that uses them may be pending.
//
// Every call given to a stream has a number. A number is known to be complete after the stream was
// synchronised, after a synchronised or reached event that marks it, or after anything complete on
// another stream that waited for such an event.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_TIMELINE_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_TIMELINE_H_

#include <cstdint>
#include <map>
#include <vector>

namespace primset::plugin::validation {

struct Object;

// Of an event: the place it marks. stream 0: fresh, or the stream is gone (and so complete).
struct Mark {
  uintptr_t stream = 0;
  uint64_t number = 0;
};

// Of a stream. A dependency: what is numbered `number` or higher starts after `mark`.
struct Progress {
  struct Dependency {
    uint64_t number;
    Mark mark;
  };
  uint64_t submitted = 0, complete = 0;
  std::vector<Dependency> dependencies;
};

// Of a buffer or module: the last use on each stream.
using Uses = std::map<uintptr_t, uint64_t>;

// All functions are thread safe.
namespace timeline {
// One more call on the stream that uses `things` (null members are skipped); while the stream
// records, a part of the recording.
void submit(Object& stream, const std::vector<Object*>& things);
void record(Object& event, const Object& stream);
void wait(Object& stream, const Object& event);
// All that the stream was given is complete.
void complete(Object& stream);
// All up to the event's mark is complete.
void complete_mark(const Object& event);
// The stream on which the thing may still be in use, or 0.
uintptr_t pending(const Object& thing);
}  // namespace timeline

}  // namespace primset::plugin::validation

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_TIMELINE_H_
