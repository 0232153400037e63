// The cuda back end: every NVIDIA GPU since Volta that libcuda.so.1 shows.
#include <primset/plugin.h>

#include <string_view>

#include "backends/common/abi_boundary.h"
#include "backends/common/shared_driver.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/module.h"
#include "backends/cuda/primitives.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/stream.h"
#include "backends/cuda/transfer.h"

namespace primset_cuda {
namespace {

constinit primset_backend::SharedDriver<Driver> g_driver;

void release(const primset_plugin*) {
  g_driver.release();
}

// --- devices -------------------------------------------------------------------------------------

primset_status* device_count(const primset_plugin*, uint32_t* out_count) {
  return g_driver.device_count(out_count);
}

primset_status* device_open(const primset_plugin*, uint32_t index, primset_device* out_device) {
  return g_driver.device_open(index, out_device);
}

void device_close(primset_device device) {
  delete device;
}

primset_status* device_properties(primset_device device, primset_device_properties* out) {
  primset_backend::copy_properties(device->properties(), out);
  return nullptr;
}

const void* device_extension(primset_device, const char* name) {
  const std::string_view id = name;
  if (id == PRIMSET_EXT_DEVICE_ADDRESS) return &kDeviceAddresses;
  if (id == PRIMSET_EXT_PRIMITIVES) return &kPrimitives;
  if (id == PRIMSET_EXT_RECORDING) return &kRecordings;
  return nullptr;
}

// --- streams and events --------------------------------------------------------------------------

primset_status* stream_create(primset_device device, primset_stream* out_stream) {
  *out_stream = nullptr;
  return guarded("stream_create", [&] {
    const ContextScope scope(*device);
    *out_stream = new primset_stream_t(device);
  });
}

void stream_destroy(primset_stream stream) {
  const ContextScope scope(*stream->device, std::nothrow);
  delete stream;
}

primset_status* stream_synchronize(primset_stream stream) {
  return guarded("stream_synchronize", [&] {
    const ContextScope scope(*stream->device);
    stream->synchronize();
  });
}

primset_status* event_create(primset_device device, primset_event* out_event) {
  *out_event = nullptr;
  return guarded("event_create", [&] {
    const ContextScope scope(*device);
    *out_event = new primset_event_t(device);
  });
}

void event_destroy(primset_event event) {
  const ContextScope scope(*event->device, std::nothrow);
  delete event;
}

primset_status* event_record(primset_event event, primset_stream stream) {
  return guarded("event_record", [&] {
    const ContextScope scope(*stream->device);
    PRIMSET_CUDA(stream->cu, cuEventRecord, event->handle, stream->handle);
  });
}

primset_status* event_query(primset_event event, uint32_t* out_reached) {
  *out_reached = 0;
  return guarded("event_query", [&] {
    const ContextScope scope(*event->device);
    const Result result = event->device->cu.cuEventQuery(event->handle);
    if (result != kErrorNotReady) check(event->device->cu, result, "cuEventQuery");
    *out_reached = result == kSuccess ? 1 : 0;
  });
}

primset_status* event_synchronize(primset_event event) {
  return guarded("event_synchronize", [&] {
    const ContextScope scope(*event->device);
    PRIMSET_CUDA(event->device->cu, cuEventSynchronize, event->handle);
  });
}

primset_status* stream_wait_event(primset_stream stream, primset_event event) {
  return guarded("stream_wait_event", [&] {
    const ContextScope scope(*stream->device);
    PRIMSET_CUDA(stream->cu, cuStreamWaitEvent, stream->handle, event->handle, 0);
  });
}

constexpr primset_plugin kPlugin = {
    sizeof(primset_plugin),
    PRIMSET_ABI_VERSION,
    "cuda",
    "0.1.0",
    "Primset",
    release,
    device_count,
    device_open,
    device_close,
    device_properties,
    device_extension,
    memory_alloc,
    memory_free,
    copy_in,
    copy_out,
    copy,
    fill,
    stream_create,
    stream_destroy,
    stream_synchronize,
    event_create,
    event_destroy,
    event_record,
    event_query,
    event_synchronize,
    stream_wait_event,
    module_load,
    module_unload,
    module_kernel,
    launch,
};

}  // namespace
}  // namespace primset_cuda

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  primset_status* status = primset_backend::negotiate_version(primset_cuda::kPlugin, min_version,
                                                              max_version, out_plugin);
  if (!status) primset_cuda::g_driver.set_host(host);
  return status;
}
