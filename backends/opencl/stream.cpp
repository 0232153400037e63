#include "backends/opencl/stream.h"

using primset_backend::pointer;

namespace primset_opencl {

bool is_reached(const Functions& cl, cl_event event) {
  cl_int state = CL_QUEUED;
  PRIMSET_CL(cl, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state,
             nullptr);
  if (state < 0) kResultsOfWaits.fail(state, "an earlier command");
  return state == CL_COMPLETE;
}

void wait_for(const Functions& cl, cl_event event) {
  kResultsOfWaits.check(cl.clWaitForEvents(1, &event), "clWaitForEvents");
}

}  // namespace primset_opencl

using namespace primset_opencl;

primset_stream_t::primset_stream_t(primset_device device_)
    : StagedStream(device_),
      queue(PRIMSET_CL_MAKE(device->cl, clCreateCommandQueueWithProperties, device->context.get(),
                            device->physical.handle, nullptr),
            {device->cl.clReleaseCommandQueue}) {}

void primset_stream_t::synchronize() {
  kResultsOfWaits.check(device->cl.clFinish(queue.get()), "clFinish");
  pass_all();
}

void primset_stream_t::wait_for(const primset_event_t& event) {
  const Mark mark = event.mark();
  if (const cl_event end = mark.get())
    PRIMSET_CL(device->cl, clEnqueueBarrierWithWaitList, queue.get(), 1, &end, nullptr);
}

Mark primset_stream_t::end() {
  cl_event event = nullptr;
  PRIMSET_CL(device->cl, clEnqueueMarkerWithWaitList, queue.get(), 0, nullptr, &event);
  Mark mark(device->cl, {event, device->cl.clReleaseEvent});
  PRIMSET_CL(device->cl, clFlush, queue.get());
  return mark;
}

void primset_stream_t::enqueue_copy(void* to, const void* from, uint64_t bytes, bool) {
  PRIMSET_CL(device->cl, clEnqueueMemcpyINTEL, queue.get(), CL_FALSE, to, from, bytes, 0, nullptr,
             nullptr);
}

// The host waits for it in any case, so the driver may read into the target itself.
void primset_stream_t::copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target,
                                uint64_t bytes) {
  kResultsOfWaits.check(
      device->cl.clEnqueueMemcpyINTEL(queue.get(), CL_TRUE, target,
                                      pointer(buffer.address + offset), bytes, 0, nullptr, nullptr),
      "clEnqueueMemcpyINTEL");
}

void primset_stream_t::fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
                            const unsigned char* pattern, uint32_t pattern_bytes) {
  PRIMSET_CL(device->cl, clEnqueueMemFillINTEL, queue.get(), pointer(buffer.address + offset),
             pattern, pattern_bytes, bytes, 0, nullptr, nullptr);
}
