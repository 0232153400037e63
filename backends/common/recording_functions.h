// The functions of PRIMSET_EXT_RECORDING, for back ends whose streams record. Beside what
// backends/common/plugin_functions.h asks for there is a primset_recording_t, and a stream has
//   begin_recording(), play(recording)
//   end_recording(bool keep)  a std::unique_ptr<primset_recording_t>, null unless `keep`; the
//   stream
//                             records no more, also when it throws
#ifndef PRIMSET_BACKENDS_COMMON_RECORDING_FUNCTIONS_H_
#define PRIMSET_BACKENDS_COMMON_RECORDING_FUNCTIONS_H_

#include <primset/plugin.h>

#include "backends/common/scoped_call.h"

namespace primset_backend {

template <typename Scope>
struct RecordingFunctions {
  template <typename Stream>
  static primset_status* begin(Stream* stream) {
    return scoped<Scope>("recordings.begin", *stream->device, [&] { stream->begin_recording(); });
  }

  template <typename Stream, typename Recording>
  static primset_status* end(Stream* stream, Recording** out_recording) {
    if (out_recording) *out_recording = nullptr;
    return scoped<Scope>("recordings.end", *stream->device, [&] {
      auto recording = stream->end_recording(out_recording != nullptr);
      if (out_recording) *out_recording = recording.release();
    });
  }

  template <typename Stream, typename Recording>
  static primset_status* play(Stream* stream, Recording* recording) {
    return scoped<Scope>("recordings.play", *stream->device, [&] { stream->play(*recording); });
  }
};

template <typename Scope>
inline constexpr primset_recordings kRecordings = {
    sizeof(primset_recordings),       0,
    RecordingFunctions<Scope>::begin, RecordingFunctions<Scope>::end,
    RecordingFunctions<Scope>::play,  destroy<Scope>,
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_RECORDING_FUNCTIONS_H_
