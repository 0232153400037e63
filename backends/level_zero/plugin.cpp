// The level_zero back end: every GPU that a Level Zero driver of the machine shows.
#include <primset/plugin.h>

#include <string_view>

#include "backends/common/abi_boundary.h"
#include "backends/common/shared_driver.h"
#include "backends/level_zero/driver.h"
#include "backends/level_zero/module.h"
#include "backends/level_zero/recording.h"
#include "backends/level_zero/stream.h"
#include "backends/level_zero/transfer.h"

namespace primset_level_zero {
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
  primset_backend::copy_properties(device->physical.properties, out);
  return nullptr;
}

const void* device_extension(primset_device, const char* name) {
  const std::string_view id = name;
  if (id == PRIMSET_EXT_DEVICE_ADDRESS) return &kDeviceAddresses;
  if (id == PRIMSET_EXT_RECORDING) return &kRecordings;
  return nullptr;
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

primset_status* event_create(primset_device device, primset_event* out_event) {
  *out_event = nullptr;
  return guarded("event_create", [&] { *out_event = new primset_event_t(device); });
}

void event_destroy(primset_event event) {
  delete event;
}

primset_status* event_record(primset_event event, primset_stream stream) {
  return guarded("event_record", [&] { event->mark(stream->mark()); });
}

primset_status* event_query(primset_event event, uint32_t* out_reached) {
  *out_reached = 0;
  return guarded("event_query", [&] {
    const EventRef mark = event->mark();
    const ze_result_t result =
        mark ? event->device->ze.zeEventQueryStatus(mark.get()) : ZE_RESULT_SUCCESS;
    if (result != ZE_RESULT_NOT_READY) check(result, "zeEventQueryStatus");
    *out_reached = result == ZE_RESULT_SUCCESS ? 1 : 0;
  });
}

primset_status* event_synchronize(primset_event event) {
  return guarded("event_synchronize", [&] {
    if (const EventRef mark = event->mark())
      PRIMSET_ZE(event->device->ze, zeEventHostSynchronize, mark.get(), UINT64_MAX);
  });
}

primset_status* stream_wait_event(primset_stream stream, primset_event event) {
  return guarded("stream_wait_event", [&] {
    if (EventRef mark = event->mark()) stream->wait_for(std::move(mark));
  });
}

constexpr primset_plugin kPlugin = {
    sizeof(primset_plugin),
    PRIMSET_ABI_VERSION,
    "level_zero",
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
}  // namespace primset_level_zero

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  primset_status* status = primset_backend::negotiate_version(primset_level_zero::kPlugin,
                                                              min_version, max_version, out_plugin);
  if (!status) primset_level_zero::g_driver.set_host(host);
  return status;
}
