// Validated calls: recordings.
#include <fmt/format.h>

#include <utility>

#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"

namespace primset::plugin::validation {
namespace {

const primset_recordings& inner_recordings(const ObjectPtr& stream) {
  return *stream->device->extensions.inner_recordings;
}

primset_status* begin(primset_stream handle) {
  Scope scope("recordings.begin");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  scope.not_recording(stream);
  if (primset_status* stop = scope.stop()) return stop;
  primset_status* status =
      scope.result(inner_recordings(stream).begin(inner<primset_stream>(stream)));
  stream->records = !status;
  return status;
}

primset_status* end(primset_stream handle, primset_recording* out) {
  Scope scope("recordings.end");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  if (out) *out = nullptr;
  if (stream && !stream->records) scope.fail("the stream does not record");
  if (primset_status* stop = scope.stop()) return stop;
  stream->records = false;
  std::vector<uintptr_t> recorded = std::exchange(stream->recorded, {});
  if (!out)
    return scope.result(inner_recordings(stream).end(inner<primset_stream>(stream), nullptr));
  primset_recording made = nullptr;
  if (primset_status* status =
          scope.result(inner_recordings(stream).end(inner<primset_stream>(stream), &made), made,
                       "out_recording"))
    return status;
  publish(Kind::recording, stream->device, made, out)->recorded = std::move(recorded);
  return nullptr;
}

// What the recording uses; a finding for what is gone.
std::vector<ObjectPtr> used_by(Scope& scope, const Object& recording) {
  std::vector<ObjectPtr> things;
  for (const uintptr_t handle : recording.recorded) {
    if (ObjectPtr thing = Objects::instance().find(handle))
      things.push_back(std::move(thing));
    else
      scope.fail(fmt::format("{} uses {}, which does not exist any more", describe(recording),
                             describe(reinterpret_cast<const void*>(handle))));
  }
  return things;
}

primset_status* play(primset_stream handle, primset_recording recording_handle) {
  Scope scope("recordings.play");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  const ObjectPtr recording = scope.get(Kind::recording, recording_handle, "recording");
  scope.not_recording(stream);
  std::vector<ObjectPtr> things;
  if (recording) things = used_by(scope, *recording);
  if (primset_status* stop = scope.stop()) return stop;
  stream->hazards.restart({}, false);
  std::vector<Object*> used;
  for (const ObjectPtr& thing : things) used.push_back(thing.get());
  timeline::submit(*stream, used);
  return scope.result(inner_recordings(stream).play(inner<primset_stream>(stream),
                                                    inner<primset_recording>(recording)));
}

void destroy(primset_device device_handle, primset_recording handle) {
  Scope scope("recordings.destroy");
  const ObjectPtr device = scope.get(Kind::device, device_handle, "device");
  const ObjectPtr recording = scope.get(Kind::recording, handle, "recording");
  if (!device || !recording) return;
  Objects::instance().remove(recording->handle);
  device->extensions.inner_recordings->destroy(inner<primset_device>(device),
                                               inner<primset_recording>(recording));
}

}  // namespace

primset_recordings recording_calls() {
  return {sizeof(primset_recordings), 0, begin, end, play, destroy};
}

}  // namespace primset::plugin::validation
