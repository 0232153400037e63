// Streams: in-order command queues, with memory of the host's for what is copied to the device.
#ifndef PRIMSET_BACKENDS_OPENCL_STREAM_H_
#define PRIMSET_BACKENDS_OPENCL_STREAM_H_

#include <primset/plugin.h>

#include <deque>

#include "backends/common/ring.h"
#include "backends/common/staging.h"
#include "backends/opencl/device.h"
#include "backends/opencl/event.h"

struct primset_stream_t {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t();
  primset_stream_t(const primset_stream_t&) = delete;
  primset_stream_t& operator=(const primset_stream_t&) = delete;

  // Waits for everything.
  void synchronize();
  // Later work starts after the mark.
  void wait_for(const primset_opencl::Mark& mark);
  // The stream's present end.
  primset_opencl::Mark end();

  // --- what backends/common/staging.h asks for ---------------------------------------------------

  // Staging memory, free again when what is enqueued before the next flush() is complete.
  // bytes <= primset_backend::kPiece.
  struct Piece {
    char* mapped;
  };
  Piece upload(uint64_t bytes);
  // Everything is in order: `ordered` asks for nothing more.
  void copy_from(const Piece& piece, char* to, uint64_t offset, uint64_t bytes, bool ordered);
  // Marks the pieces taken so far, and gives the queue to the device.
  void flush();
  // Waits until mark `value` is reached.
  void wait(uint64_t value);
  // Takes back what is known to be complete.
  void reclaim();

  const primset_device device;
  cl_command_queue queue = nullptr;

 private:
  struct Flushed {
    uint64_t value;
    primset_opencl::Mark mark;
  };

  primset_backend::Ring ring_{primset_backend::kRingBytes};
  char* staging_ = nullptr;  // made when it is first needed
  uint64_t unmarked_ = 0;    // bytes taken since the last flush
  uint64_t submitted_ = 0;   // flushes so far
  std::deque<Flushed> flushed_;
};

#endif  // PRIMSET_BACKENDS_OPENCL_STREAM_H_
