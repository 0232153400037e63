// A stream is an immediate command list. Copies to and from the host go through staging memory of
// the host, whose pieces come back as the stream passes events.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_STREAM_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_STREAM_H_

#include <primset/plugin.h>

#include <deque>
#include <memory>

#include "backends/common/ring.h"
#include "backends/level_zero/command_list.h"
#include "backends/level_zero/device.h"
#include "backends/level_zero/recording.h"

struct primset_stream_t {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t();
  primset_stream_t(const primset_stream_t&) = delete;
  primset_stream_t& operator=(const primset_stream_t&) = delete;

  void synchronize();
  // An event that is set when all work given so far is complete.
  primset_level_zero::EventRef mark();
  // Later work waits for the event, which stays until then.
  void wait_for(primset_level_zero::EventRef event);
  // Runs a recording behind all earlier work; later work waits for it.
  void play(const primset_recording_t& recording);

  // Where launches, copies on the device and fills go: the stream's list, or the one that records.
  primset_level_zero::CommandList& commands() { return recording ? recording->list : list_; }

  // --- what backends/common/staging.h asks of a stream -------------------------------------------
  struct Piece {
    char* mapped;
  };
  Piece upload(uint64_t bytes);
  Piece readback(uint64_t bytes);
  void copy_from(const Piece& piece, uint64_t to, uint64_t offset, uint64_t bytes, bool ordered);
  void copy_to(uint64_t from, uint64_t offset, const Piece& piece, uint64_t bytes);
  // Marks the pieces given out so far.
  void flush();
  void wait(uint64_t value);
  void reclaim();
  uint64_t submitted() const { return submitted_; }

  const primset_device device;
  std::unique_ptr<primset_recording_t> recording;  // that the stream writes; null: none

 private:
  struct Staging {
    Staging(primset_device device, uint64_t bytes)
        : device(device), ring(bytes), memory(device->allocate_on_host(bytes)) {}
    ~Staging() { device->free(reinterpret_cast<uint64_t>(memory)); }
    const primset_device device;
    primset_backend::Ring ring;
    char* const memory;
  };
  // Something that is in use until the stream's counter reaches the value.
  struct Held {
    uint64_t value;
    primset_level_zero::EventRef event;
  };

  Piece take(std::unique_ptr<Staging>& staging, uint64_t bytes);
  void release(uint64_t value);

  primset_level_zero::CommandList list_;
  ze_command_queue_handle_t queue_ = nullptr;  // for recordings; null until one is played
  uint64_t submitted_ = 0;
  std::deque<Held> marks_;
  std::deque<Held> waited_for_;
  std::unique_ptr<Staging> upload_, readback_;
};

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_STREAM_H_
