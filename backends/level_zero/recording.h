// Recordings are closed command lists, which a queue beside the stream's list runs.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_RECORDING_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_RECORDING_H_

#include <primset/plugin.h>

#include "backends/level_zero/command_list.h"
#include "backends/level_zero/event.h"

struct primset_recording_t {
  explicit primset_recording_t(primset_device device);
  // Waits for the last play.
  ~primset_recording_t();
  primset_recording_t(const primset_recording_t&) = delete;
  primset_recording_t& operator=(const primset_recording_t&) = delete;

  // Nothing is appended any more.
  void close();

  const primset_device device;
  primset_level_zero::CommandList list;
  // The list waits for `start` and clears it, and sets `end` last: both serve every play.
  const primset_level_zero::EventRef start, end;
  primset_level_zero::Mark played;  // the end of the last play
};

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_RECORDING_H_
