#include "backends/cuda/stream.h"

#include "backends/common/staging.h"
#include "backends/cuda/linalg/handles.h"

using namespace primset_cuda;

primset_event_t::primset_event_t(primset_device device_) : device(device_) {
  PRIMSET_CUDA(device->cu, cuEventCreate, &handle, kEventDisableTiming);
}

primset_event_t::~primset_event_t() {
  device->cu.cuEventDestroy_v2(handle);
}

// --- staging memory ------------------------------------------------------------------------------

primset_stream_t::Staging::Staging(const DriverApi& cu_, uint64_t bytes) : cu(cu_), ring(bytes) {
  void* address = nullptr;
  PRIMSET_CUDA(cu, cuMemHostAlloc, &address, bytes, 0);
  memory = static_cast<char*>(address);
}

primset_stream_t::Staging::~Staging() {
  cu.cuMemFreeHost(memory);
}

primset_stream_t::Piece primset_stream_t::take(std::unique_ptr<Staging>& staging, uint64_t bytes) {
  if (!staging) staging = std::make_unique<Staging>(cu, primset_backend::kRingBytes);
  return {staging->memory + primset_backend::take_piece(*this, staging->ring, bytes)};
}

primset_stream_t::Piece primset_stream_t::upload(uint64_t bytes) {
  return take(upload_, bytes);
}
primset_stream_t::Piece primset_stream_t::readback(uint64_t bytes) {
  return take(readback_, bytes);
}

// --- the stream ----------------------------------------------------------------------------------

primset_stream_t::primset_stream_t(primset_device device_) : device(device_), cu(device_->cu) {
  PRIMSET_CUDA(cu, cuStreamCreate, &handle, kStreamNonBlocking);
}

primset_stream_t::~primset_stream_t() {
  if (const Result result = cu.cuStreamSynchronize(handle))
    primset_backend::log(device->driver->host(), PRIMSET_LOG_ERROR,
                         "cuda: stream_destroy: " + result_name(cu, result));
  linalg.reset();
  if (workspace_) device->free(workspace_);
  for (const Mark& mark : marks_) cu.cuEventDestroy_v2(mark.event);
  for (Event event : spare_) cu.cuEventDestroy_v2(event);
  cu.cuStreamDestroy_v2(handle);
}

void primset_stream_t::synchronize() {
  PRIMSET_CUDA(cu, cuStreamSynchronize, handle);
  // Pieces that no event marks are free too.
  ++submitted_;
  if (upload_) upload_->ring.mark(submitted_);
  if (readback_) readback_->ring.mark(submitted_);
  release(submitted_);
}

DevicePointer primset_stream_t::workspace() {
  if (workspace_) return workspace_;
  const RelaxedCapture relaxed(cu);
  return workspace_ = device->allocate(kWorkspaceBytes);
}

Event primset_stream_t::take_event() {
  Event event = nullptr;
  if (spare_.empty()) {
    PRIMSET_CUDA(cu, cuEventCreate, &event, kEventDisableTiming);
  } else {
    event = spare_.back();
    spare_.pop_back();
  }
  return event;
}

void primset_stream_t::flush() {
  const Event event = take_event();
  if (const Result result = cu.cuEventRecord(event, handle)) {
    spare_.push_back(event);
    fail(cu, result, "cuEventRecord");
  }
  marks_.push_back({++submitted_, event});
  if (upload_) upload_->ring.mark(submitted_);
  if (readback_) readback_->ring.mark(submitted_);
}

void primset_stream_t::release(uint64_t value) {
  while (!marks_.empty() && marks_.front().value <= value) {
    spare_.push_back(marks_.front().event);
    marks_.pop_front();
  }
  if (upload_) upload_->ring.release(value);
  if (readback_) readback_->ring.release(value);
}

void primset_stream_t::reclaim() {
  while (!marks_.empty()) {
    const Result result = cu.cuEventQuery(marks_.front().event);
    if (result == kErrorNotReady) return;
    check(cu, result, "cuEventQuery");
    release(marks_.front().value);
  }
}

void primset_stream_t::wait(uint64_t value) {
  for (const Mark& mark : marks_) {
    if (mark.value < value) continue;
    PRIMSET_CUDA(cu, cuEventSynchronize, mark.event);
    break;
  }
  release(value);
}

// A stream runs everything in order, so `ordered` holds anyway.
void primset_stream_t::copy_from(const Piece& piece, DevicePointer to, uint64_t offset,
                                 uint64_t bytes, bool) {
  PRIMSET_CUDA(cu, cuMemcpyHtoDAsync_v2, to + offset, piece.mapped, bytes, handle);
}

void primset_stream_t::copy_to(DevicePointer from, uint64_t offset, const Piece& piece,
                               uint64_t bytes) {
  PRIMSET_CUDA(cu, cuMemcpyDtoHAsync_v2, piece.mapped, from + offset, bytes, handle);
}

void primset_stream_t::copy_inside(DevicePointer memory, uint64_t from, uint64_t to,
                                   uint64_t bytes) {
  PRIMSET_CUDA(cu, cuMemcpyDtoDAsync_v2, memory + to, memory + from, bytes, handle);
}

// --- errors --------------------------------------------------------------------------------------

void primset_cuda::throw_if_lost(primset_stream_t& stream, const char* function) {
  const Result result = stream.cu.cuStreamSynchronize(stream.handle);
  if (status_code(result) == PRIMSET_DEVICE_LOST) fail(stream.cu, result, function);
}
