#include "backends/level_zero/recording.h"

#include <memory>
#include <utility>

#include "backends/level_zero/stream.h"

namespace primset_level_zero {
namespace {

primset_status* begin(primset_stream stream) {
  return guarded("recordings.begin", [&] {
    stream->recording = std::make_unique<primset_recording_t>(stream->device);
  });
}

primset_status* end(primset_stream stream, primset_recording* out_recording) {
  if (out_recording) *out_recording = nullptr;
  return guarded("recordings.end", [&] {
    std::unique_ptr<primset_recording_t> recording = std::move(stream->recording);
    if (!out_recording) return;
    recording->list.signal(recording->end.get());
    recording->list.close();
    *out_recording = recording.release();
  });
}

primset_status* play(primset_stream stream, primset_recording recording) {
  return guarded("recordings.play", [&] {
    stream->play(*recording);
    recording->played = stream->mark();
  });
}

void destroy(primset_device, primset_recording recording) {
  delete recording;
}

}  // namespace

const primset_recordings kRecordings = {sizeof(primset_recordings), 0, begin, end, play, destroy};

}  // namespace primset_level_zero

using namespace primset_level_zero;

primset_recording_t::primset_recording_t(primset_device device_)
    : device(device_),
      list(*device, CommandList::Kind::recorded),
      start(device->events->take()),
      end(device->events->take()) {
  list.wait_and_reset(start.get());
}

primset_recording_t::~primset_recording_t() {
  if (played) device->ze.zeEventHostSynchronize(played.get(), UINT64_MAX);
  // The pool takes events back that are set.
  device->ze.zeEventHostSignal(start.get());
  device->ze.zeEventHostSignal(end.get());
}
