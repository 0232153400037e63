// The cuda back end: every NVIDIA GPU since Volta that libcuda.so.1 shows.
#include <primset/plugin.h>

#include <memory>
#include <mutex>
#include <string_view>

#include "backends/cuda/driver.h"
#include "backends/cuda/module.h"
#include "backends/cuda/stream.h"
#include "backends/cuda/transfer.h"

namespace primset_cuda {
namespace {

std::mutex g_mutex;
const primset_host* g_host = nullptr;
std::shared_ptr<Driver> g_driver;

// Made on first use: a plugin that is only listed by name starts no driver.
std::shared_ptr<Driver> driver() {
  const std::lock_guard lock(g_mutex);
  if (!g_driver) g_driver = std::make_shared<Driver>(g_host);
  return g_driver;
}

void release(const primset_plugin*) {
  const std::lock_guard lock(g_mutex);
  g_driver.reset();
}

// --- devices -------------------------------------------------------------------------------------

primset_status* device_count(const primset_plugin*, uint32_t* out_count) {
  *out_count = 0;
  return guarded("device_count",
                 [&] { *out_count = static_cast<uint32_t>(driver()->devices().size()); });
}

primset_status* device_open(const primset_plugin*, uint32_t index, primset_device* out_device) {
  *out_device = nullptr;
  return guarded("device_open", [&] {
    std::shared_ptr<Driver> current = driver();
    primset_backend::check_index(index, current->devices().size());
    *out_device = new primset_device_t(std::move(current), index);
  });
}

void device_close(primset_device device) {
  delete device;
}

primset_status* device_properties(primset_device device, primset_device_properties* out) {
  primset_backend::give_properties(device->properties(), out);
  return nullptr;
}

const void* device_extension(primset_device, const char* name) {
  return std::string_view(name) == PRIMSET_EXT_DEVICE_ADDRESS ? &kDeviceAddresses : nullptr;
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
  *out_plugin = nullptr;
  if (primset_status* status = primset_backend::check_versions("cuda", min_version, max_version))
    return status;
  const std::lock_guard lock(primset_cuda::g_mutex);
  primset_cuda::g_host = host;
  *out_plugin = &primset_cuda::kPlugin;
  return nullptr;
}
