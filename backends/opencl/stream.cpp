#include "backends/opencl/stream.h"

using primset_opencl::check;
using primset_opencl::check_wait;
using primset_opencl::Mark;
using primset_opencl::pointer;

bool Mark::reached() const {
  if (!event_) return true;
  cl_int state = CL_QUEUED;
  check(
      cl_->clGetEventInfo(get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state, nullptr),
      "clGetEventInfo");
  if (state < 0) check_wait(state, "an earlier command");
  return state == CL_COMPLETE;
}

void Mark::wait() const {
  const cl_event event = get();
  if (event) check_wait(cl_->clWaitForEvents(1, &event), "clWaitForEvents");
}

primset_stream_t::primset_stream_t(primset_device d) : StagedStream(d) {
  cl_int result = CL_SUCCESS;
  queue = device->cl.clCreateCommandQueueWithProperties(device->context, device->physical.handle,
                                                        nullptr, &result);
  check(result, "clCreateCommandQueueWithProperties");
}

primset_stream_t::~primset_stream_t() {
  device->cl.clFinish(queue);
  drop_marks();
  device->cl.clReleaseCommandQueue(queue);
}

void primset_stream_t::synchronize() {
  check_wait(device->cl.clFinish(queue), "clFinish");
  pass_all();
}

void primset_stream_t::wait_for(const primset_event_t& event) {
  const Mark mark = event.mark();
  const cl_event end = mark.get();
  if (end)
    check(device->cl.clEnqueueBarrierWithWaitList(queue, 1, &end, nullptr),
          "clEnqueueBarrierWithWaitList");
}

Mark primset_stream_t::end() {
  cl_event event = nullptr;
  check(device->cl.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event),
        "clEnqueueMarkerWithWaitList");
  Mark mark(device->cl, event);
  check(device->cl.clFlush(queue), "clFlush");
  return mark;
}

cl_int primset_stream_t::enqueue_copy(void* to, const void* from, uint64_t bytes, cl_bool wait) {
  return device->memory.clEnqueueMemcpyINTEL(queue, wait, to, from, bytes, 0, nullptr, nullptr);
}

void primset_stream_t::copy_from(const Piece& piece, uint64_t to, uint64_t offset, uint64_t bytes,
                                 bool) {
  check(enqueue_copy(pointer(to + offset), piece.mapped, bytes, CL_FALSE), "clEnqueueMemcpyINTEL");
}

// The host waits for it in any case, so the driver may read into the target itself.
void primset_stream_t::copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target,
                                uint64_t bytes) {
  check_wait(enqueue_copy(target, pointer(buffer.address + offset), bytes, CL_TRUE),
             "clEnqueueMemcpyINTEL");
}

void primset_stream_t::copy(const primset_buffer_t& target, uint64_t target_offset,
                            const primset_buffer_t& source, uint64_t source_offset,
                            uint64_t bytes) {
  check(enqueue_copy(pointer(target.address + target_offset),
                     pointer(source.address + source_offset), bytes, CL_FALSE),
        "clEnqueueMemcpyINTEL");
}

void primset_stream_t::fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
                            const unsigned char* pattern, uint32_t pattern_bytes) {
  check(device->memory.clEnqueueMemFillINTEL(queue, pointer(buffer.address + offset), pattern,
                                             pattern_bytes, bytes, 0, nullptr, nullptr),
        "clEnqueueMemFillINTEL");
}
