#include "sdk/runtime/plugin/validation/timeline.h"

#include <algorithm>
#include <mutex>

#include "sdk/runtime/plugin/validation/objects.h"

namespace primset::plugin::validation::timeline {
namespace {

std::mutex& mutex() {
  static std::mutex m;
  return m;
}

// Marks everything up to `first` complete, and all that this implies on other streams.
void complete_locked(const Mark& first) {
  std::vector<Mark> open{first};
  while (!open.empty()) {
    const Mark mark = open.back();
    open.pop_back();
    const ObjectPtr stream = Objects::instance().find(mark.stream);
    if (!stream) continue;
    Progress& progress = stream->progress;
    progress.complete = std::max(progress.complete, mark.number);
    auto& dependencies = progress.dependencies;
    const auto done =
        std::partition(dependencies.begin(), dependencies.end(),
                       [&](const Progress::Dependency& d) { return d.number > progress.complete; });
    for (auto it = done; it != dependencies.end(); ++it) open.push_back(it->mark);
    dependencies.erase(done, dependencies.end());
  }
}

}  // namespace

void submit(Object& stream, const std::vector<Object*>& things) {
  const std::lock_guard lock(mutex());
  if (stream.records) {
    for (const Object* thing : things)
      if (thing) stream.recorded.push_back(thing->handle);
    return;
  }
  const uint64_t number = ++stream.progress.submitted;
  for (Object* thing : things)
    if (thing) thing->uses[stream.handle] = number;
  if (stream.device->properties.features & PRIMSET_FEATURE_INLINE)
    stream.progress.complete = stream.progress.submitted;
}

void record(Object& event, const Object& stream) {
  const std::lock_guard lock(mutex());
  event.mark = {stream.handle, stream.progress.submitted};
}

void wait(Object& stream, const Object& event) {
  const std::lock_guard lock(mutex());
  // The wait is a call of its own: what completes it completes the mark.
  const uint64_t number = ++stream.progress.submitted;
  stream.progress.dependencies.push_back({number, event.mark});
}

void complete(Object& stream) {
  const std::lock_guard lock(mutex());
  complete_locked({stream.handle, stream.progress.submitted});
}

void complete_mark(const Object& event) {
  const std::lock_guard lock(mutex());
  complete_locked(event.mark);
}

uintptr_t pending(const Object& thing) {
  const std::lock_guard lock(mutex());
  for (const auto& [handle, number] : thing.uses) {
    const ObjectPtr stream = Objects::instance().find(handle);
    if (stream && number > stream->progress.complete) return handle;
  }
  return 0;
}

}  // namespace primset::plugin::validation::timeline
