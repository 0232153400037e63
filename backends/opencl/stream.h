// Streams: in-order command queues. Events hold marks in them.
#ifndef PRIMSET_BACKENDS_OPENCL_STREAM_H_
#define PRIMSET_BACKENDS_OPENCL_STREAM_H_

#include <primset/plugin.h>

#include <memory>
#include <type_traits>

#include "backends/common/marked_event.h"
#include "backends/common/staged_stream.h"
#include "backends/opencl/device.h"

namespace primset_opencl {

// A shared reference to a cl_event. Empty: a mark that is reached.
class Mark {
 public:
  Mark() = default;
  // Takes the reference over.
  Mark(const Functions& cl, cl_event event) : cl_(&cl), event_(event, cl.clReleaseEvent) {}

  cl_event get() const { return event_.get(); }
  // Throw BackendError where the command failed.
  bool reached() const;
  void wait() const;

 private:
  const Functions* cl_ = nullptr;
  std::shared_ptr<std::remove_pointer_t<cl_event>> event_;
};

}  // namespace primset_opencl

struct primset_event_t : primset_backend::MarkedEvent<primset_device_t, primset_opencl::Mark> {
  using MarkedEvent::MarkedEvent;
};

struct primset_stream_t
    : primset_backend::StagedStream<primset_stream_t, primset_device_t, primset_opencl::Mark> {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t();

  // Waits for everything.
  void synchronize();
  // Later work starts after the event's mark.
  void wait_for(const primset_event_t& event);
  // Flushed, since whoever waits for it may be another queue.
  primset_opencl::Mark end();

  // The driver reads into the target itself.
  void copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target, uint64_t bytes);
  void copy(const primset_buffer_t& target, uint64_t target_offset, const primset_buffer_t& source,
            uint64_t source_offset, uint64_t bytes);
  void fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
            const unsigned char* pattern, uint32_t pattern_bytes);
  // For backends/common/staging.h. Everything is in order: `ordered` asks for nothing more.
  void copy_from(const Piece& piece, uint64_t to, uint64_t offset, uint64_t bytes, bool ordered);

  cl_command_queue queue = nullptr;

 private:
  cl_int enqueue_copy(void* to, const void* from, uint64_t bytes, cl_bool wait);
};

#endif  // PRIMSET_BACKENDS_OPENCL_STREAM_H_
