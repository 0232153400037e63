#include "backends/opencl/stream.h"

using primset_backend::kPiece;
using primset_backend::kRingBytes;
using primset_opencl::check;
using primset_opencl::check_wait;
using primset_opencl::Mark;

primset_stream_t::primset_stream_t(primset_device d) : device(d) {
  cl_int result = CL_SUCCESS;
  queue = device->cl.clCreateCommandQueueWithProperties(device->context, device->physical.handle,
                                                        nullptr, &result);
  check(result, "clCreateCommandQueueWithProperties");
}

primset_stream_t::~primset_stream_t() {
  device->cl.clFinish(queue);
  flushed_.clear();
  device->free(staging_);
  device->cl.clReleaseCommandQueue(queue);
}

void primset_stream_t::synchronize() {
  check_wait(device->cl.clFinish(queue), "clFinish");
  ring_.mark(++submitted_);
  ring_.release(submitted_);
  flushed_.clear();
  unmarked_ = 0;
}

void primset_stream_t::wait_for(const Mark& mark) {
  if (mark.get())
    check(device->cl.clEnqueueBarrierWithWaitList(queue, 1, mark.get(), nullptr),
          "clEnqueueBarrierWithWaitList");
}

// Flushed, since whoever waits for it may be another queue.
Mark primset_stream_t::end() {
  cl_event event = nullptr;
  check(device->cl.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event),
        "clEnqueueMarkerWithWaitList");
  Mark mark(device->cl, event);
  check(device->cl.clFlush(queue), "clFlush");
  return mark;
}

primset_stream_t::Piece primset_stream_t::upload(uint64_t bytes) {
  if (!staging_) staging_ = device->allocate_on_host(kRingBytes);
  if (unmarked_ >= kPiece) flush();
  const uint64_t offset = primset_backend::take_piece(*this, ring_, bytes);
  unmarked_ += bytes;
  return {staging_ + offset};
}

void primset_stream_t::copy_from(const Piece& piece, char* to, uint64_t offset, uint64_t bytes,
                                 bool) {
  check(device->memory.clEnqueueMemcpyINTEL(queue, CL_FALSE, to + offset, piece.mapped, bytes, 0,
                                            nullptr, nullptr),
        "clEnqueueMemcpyINTEL");
}

void primset_stream_t::flush() {
  flushed_.push_back({submitted_ + 1, end()});
  ring_.mark(++submitted_);
  unmarked_ = 0;
}

void primset_stream_t::wait(uint64_t value) {
  while (!flushed_.empty() && flushed_.front().value <= value) {
    flushed_.front().mark.wait();
    flushed_.pop_front();
  }
  ring_.release(value);
}

void primset_stream_t::reclaim() {
  while (!flushed_.empty() && flushed_.front().mark.reached()) {
    ring_.release(flushed_.front().value);
    flushed_.pop_front();
  }
}
