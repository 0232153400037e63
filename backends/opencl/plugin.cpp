// The opencl back end: every OpenCL device that takes SPIR-V and has unified shared memory.
#include <primset/plugin.h>

#include <string_view>

#include "backends/common/abi_boundary.h"
#include "backends/common/shared_driver.h"
#include "backends/opencl/device.h"
#include "backends/opencl/errors.h"
#include "backends/opencl/module.h"
#include "backends/opencl/platforms.h"
#include "backends/opencl/stream.h"
#include "backends/opencl/transfer.h"

namespace primset_opencl {
namespace {

constinit primset_backend::SharedDriver<Platforms> g_driver;

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
  primset_device_properties p{};
  device->properties(p);
  primset_backend::copy_properties(p, out);
  return nullptr;
}

const void* device_extension(primset_device, const char* name) {
  return std::string_view(name) == PRIMSET_EXT_DEVICE_ADDRESS ? &kDeviceAddresses : nullptr;
}

// --- streams and events --------------------------------------------------------------------------

primset_status* stream_create(primset_device device, primset_stream* out_stream) {
  *out_stream = nullptr;
  return guarded("stream_create", [&] { *out_stream = new primset_stream_t(device); });
}

void stream_destroy(primset_stream stream) {
  delete stream;
}

primset_status* stream_synchronize(primset_stream stream) {
  return guarded("stream_synchronize", [&] { stream->synchronize(); });
}

primset_status* event_create(primset_device, primset_event* out_event) {
  *out_event = nullptr;
  return guarded("event_create", [&] { *out_event = new primset_event_t; });
}

void event_destroy(primset_event event) {
  delete event;
}

primset_status* event_record(primset_event event, primset_stream stream) {
  return guarded("event_record", [&] { event->set(stream->end()); });
}

primset_status* event_query(primset_event event, uint32_t* out_reached) {
  *out_reached = 0;
  return guarded("event_query", [&] { *out_reached = event->get().reached() ? 1 : 0; });
}

primset_status* event_synchronize(primset_event event) {
  return guarded("event_synchronize", [&] { event->get().wait(); });
}

primset_status* stream_wait_event(primset_stream stream, primset_event event) {
  return guarded("stream_wait_event", [&] { stream->wait_for(event->get()); });
}

constexpr primset_plugin kPlugin = {
    sizeof(primset_plugin),
    PRIMSET_ABI_VERSION,
    "opencl",
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
}  // namespace primset_opencl

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  primset_status* status = primset_backend::negotiate_version(primset_opencl::kPlugin, min_version,
                                                              max_version, out_plugin);
  if (!status) primset_opencl::g_driver.set_host(host);
  return status;
}
