// Streams: in-order command queues. Events hold marks in them.
#ifndef PRIMSET_BACKENDS_OPENCL_STREAM_H_
#define PRIMSET_BACKENDS_OPENCL_STREAM_H_

#include <primset/plugin.h>

#include "backends/common/marked_event.h"
#include "backends/common/staging/staged_stream.h"
#include "backends/opencl/device.h"

namespace primset_opencl {

using Mark = primset_backend::SharedMark<Functions, cl_event>;
// Throw BackendError where the command failed.
bool is_reached(const Functions& cl, cl_event event);
void wait_for(const Functions& cl, cl_event event);

}  // namespace primset_opencl

struct primset_event_t : primset_backend::MarkedEvent<primset_device_t, primset_opencl::Mark> {
  using MarkedEvent::MarkedEvent;
};

struct primset_stream_t
    : primset_backend::StagedStream<primset_stream_t, primset_device_t, primset_opencl::Mark> {
  explicit primset_stream_t(primset_device device);
  ~primset_stream_t() { device->cl.clFinish(queue.get()); }

  // Waits for everything.
  void synchronize();
  // Later work starts after the event's mark.
  void wait_for(const primset_event_t& event);
  // Flushed, since whoever waits for it may be another queue.
  primset_opencl::Mark end();

  void copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target, uint64_t bytes);
  void fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
            const unsigned char* pattern, uint32_t pattern_bytes);
  // Everything is in order: `ordered` asks for nothing more.
  void enqueue_copy(void* to, const void* from, uint64_t bytes, bool ordered);

  const primset_opencl::Owned<cl_command_queue> queue;
};

#endif  // PRIMSET_BACKENDS_OPENCL_STREAM_H_
