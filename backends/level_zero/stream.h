// A stream is an immediate command list. Events hold marks in it, which are events of Level Zero.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_STREAM_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_STREAM_H_

#include <primset/plugin.h>

#include <deque>
#include <memory>

#include "backends/common/marked_event.h"
#include "backends/common/staging/staged_stream.h"
#include "backends/level_zero/command_list.h"
#include "backends/level_zero/device.h"
#include "backends/level_zero/recording.h"

struct primset_event_t : primset_backend::MarkedEvent<primset_device_t, primset_level_zero::Mark> {
  using MarkedEvent::MarkedEvent;
};

struct primset_stream_t
    : primset_backend::StagedStream<primset_stream_t, primset_device_t, primset_level_zero::Mark> {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t();

  void synchronize();
  // An event that is set when all work given so far is complete.
  primset_level_zero::Mark end();
  // Later work waits for the event's mark, which stays until then.
  void wait_for(const primset_event_t& event);

  void begin_recording();
  std::unique_ptr<primset_recording_t> end_recording(bool keep);
  // Runs a recording behind all earlier work; later work waits for it.
  void play(primset_recording_t& recording);

  // Where launches, copies on the device and fills go: the stream's list, or the one that records.
  primset_level_zero::CommandList& commands() { return recording_ ? recording_->list : list_; }

  void fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
            const unsigned char* pattern, uint32_t pattern_bytes);
  void enqueue_copy(void* to, const void* from, uint64_t bytes, bool ordered);

 private:
  // Something that is in use until the stream passes its mark `value`.
  struct Held {
    uint64_t value;
    primset_level_zero::Mark mark;
  };

  primset_level_zero::CommandList list_;
  std::unique_ptr<primset_recording_t> recording_;  // that the stream writes; null: none
  // For recordings; null until one is played.
  primset_level_zero::Owned<ze_command_queue_handle_t> queue_;
  std::deque<Held> waited_for_;
};

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_STREAM_H_
