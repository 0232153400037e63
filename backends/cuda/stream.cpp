#include "backends/cuda/stream.h"

#include "backends/cuda/linalg/handles.h"

using namespace primset_cuda;

namespace {

bool is_reached(const DriverApi& cu, Event event) {
  const Result result = cu.cuEventQuery(event);
  if (result != kErrorNotReady) check(cu, result, "cuEventQuery");
  return result == kSuccess;
}

}  // namespace

// --- events and marks ----------------------------------------------------------------------------

primset_event_t::primset_event_t(primset_device device_) : device(device_) {
  PRIMSET_CUDA(device->cu, cuEventCreate, &handle, kEventDisableTiming);
}

primset_event_t::~primset_event_t() {
  device->cu.cuEventDestroy_v2(handle);
}

void primset_event_t::record(const primset_stream_t& stream) {
  PRIMSET_CUDA(stream.cu, cuEventRecord, handle, stream.handle);
}

bool primset_event_t::reached() const {
  return is_reached(device->cu, handle);
}

void primset_event_t::wait() const {
  PRIMSET_CUDA(device->cu, cuEventSynchronize, handle);
}

bool Mark::reached() const {
  return is_reached(*cu_, event_);
}

void Mark::wait() const {
  PRIMSET_CUDA(*cu_, cuEventSynchronize, event_);
}

// --- the stream ----------------------------------------------------------------------------------

primset_stream_t::primset_stream_t(primset_device device_)
    : StagedStream(device_), cu(device_->cu) {
  PRIMSET_CUDA(cu, cuStreamCreate, &handle, kStreamNonBlocking);
}

primset_stream_t::~primset_stream_t() {
  if (const Result result = cu.cuStreamSynchronize(handle))
    primset_backend::log(device->driver->host(), PRIMSET_LOG_ERROR,
                         "cuda: stream_destroy: " + result_name(cu, result));
  linalg.reset();
  if (workspace_) device->free(workspace_);
  drop_marks();
  for (Event event : spare_) cu.cuEventDestroy_v2(event);
  cu.cuStreamDestroy_v2(handle);
}

void primset_stream_t::synchronize() {
  PRIMSET_CUDA(cu, cuStreamSynchronize, handle);
  pass_all();
}

Mark primset_stream_t::end() {
  Event event = nullptr;
  if (spare_.empty()) {
    spare_.reserve(events_ + 1);
    PRIMSET_CUDA(cu, cuEventCreate, &event, kEventDisableTiming);
    ++events_;
  } else {
    event = spare_.back();
    spare_.pop_back();
  }
  Mark mark(cu, spare_, event);
  PRIMSET_CUDA(cu, cuEventRecord, event, handle);
  return mark;
}

void primset_stream_t::wait_for(const primset_event_t& event) {
  PRIMSET_CUDA(cu, cuStreamWaitEvent, handle, event.handle, 0);
}

DevicePointer primset_stream_t::workspace() {
  if (workspace_) return workspace_;
  const RelaxedCapture relaxed(cu);
  return workspace_ = device->allocate(kWorkspaceBytes);
}

// --- errors --------------------------------------------------------------------------------------

void primset_cuda::throw_if_lost(primset_stream_t& stream, const char* function) {
  const Result result = stream.cu.cuStreamSynchronize(stream.handle);
  if (status_code(result) == PRIMSET_DEVICE_LOST) fail(stream.cu, result, function);
}
