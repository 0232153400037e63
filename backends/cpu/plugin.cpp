// The cpu back end: one device, the host's own processor. Streams run inline: every call is
// complete when it returns, so that events have nothing to do.
#include <primset/plugin.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "backends/common/abi_boundary.h"
#include "backends/common/status.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/kernel_launch.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/objects.h"
#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

using primset_backend::guarded;

constexpr uint64_t kDTypes = PRIMSET_DTYPES_ALL;

// One pool for all open devices of the process: two would fight for the same cores.
std::shared_ptr<ThreadPool> shared_pool() {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> current;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ThreadPool> pool = current.lock();
  if (!pool) current = pool = std::make_shared<ThreadPool>(wanted_threads());
  return pool;
}

void release(const primset_plugin*) {}

primset_status* device_count(const primset_plugin*, uint32_t* out_count) {
  *out_count = 1;
  return nullptr;
}

primset_status* device_open(const primset_plugin*, uint32_t index, primset_device* out_device) {
  *out_device = nullptr;
  return guarded("device_open", [&] {
    primset_backend::check_index(index, 1);
    auto device = std::make_unique<primset_device_t>();
    device->pool = shared_pool();
    *out_device = device.release();
  });
}

void device_close(primset_device device) {
  delete device;
}

primset_status* device_properties(primset_device device, primset_device_properties* out) {
  const CpuInfo& cpu = cpu_info();
  primset_device_properties p{};
  p.kernel_format = PRIMSET_FORMAT_NATIVE_IMAGE;
  std::memcpy(p.name, cpu.name, sizeof(p.name));
  p.memory_bytes = physical_memory_bytes();
  p.dtypes = kDTypes;
  p.features = PRIMSET_FEATURE_F64 | PRIMSET_FEATURE_I64 | PRIMSET_FEATURE_ATOMIC_I64 |
               PRIMSET_FEATURE_INT8 | PRIMSET_FEATURE_INT16 | PRIMSET_FEATURE_INLINE;
  if (cpu.f16_conversions) p.features |= PRIMSET_FEATURE_F16;
  p.numerics =
      PRIMSET_NUMERIC_EXACT_DIV_F32 | PRIMSET_NUMERIC_EXACT_DIV_F64 | PRIMSET_NUMERIC_KEEP_NAN_INF;
  if (cpu.fused_fma) p.numerics |= PRIMSET_NUMERIC_FUSED_FMA;
  p.memory_alignment = kMemoryAlignment;
  p.max_param_bytes = kMaxParamBytes;
  p.threads = device->pool->size();
  p.vector_bytes = cpu.vector_bytes;
  p.group_threads = p.max_group_threads = 1;
  p.min_subgroup = p.max_subgroup = 1;
  p.max_groups[0] = INT32_MAX;
  p.max_groups[1] = p.max_groups[2] = 1;
  primset_backend::copy_properties(p, out);
  return nullptr;
}

const void* device_extension(primset_device, const char* name) {
  const std::string_view id = name;
  if (id == PRIMSET_EXT_HOST_MEMORY) return &kHostMemory;
  if (id == PRIMSET_EXT_DEVICE_ADDRESS) return &kDeviceAddresses;
  if (id == PRIMSET_EXT_PRIMITIVES) return native_primitives();
  return nullptr;
}

// --- streams and events --------------------------------------------------------------------------

primset_status* stream_create(primset_device device, primset_stream* out_stream) {
  *out_stream = nullptr;
  return guarded("stream_create", [&] {
    auto stream = std::make_unique<primset_stream_t>();
    stream->device = device;
    *out_stream = stream.release();
  });
}

void stream_destroy(primset_stream stream) {
  delete stream;
}
primset_status* stream_synchronize(primset_stream) {
  return nullptr;
}

primset_status* event_create(primset_device, primset_event* out_event) {
  *out_event = nullptr;
  return guarded("event_create", [&] { *out_event = new primset_event_t; });
}

void event_destroy(primset_event event) {
  delete event;
}
primset_status* event_record(primset_event, primset_stream) {
  return nullptr;
}
primset_status* event_query(primset_event, uint32_t* out_reached) {
  *out_reached = 1;
  return nullptr;
}
primset_status* event_synchronize(primset_event) {
  return nullptr;
}
primset_status* stream_wait_event(primset_stream, primset_event) {
  return nullptr;
}

constexpr primset_plugin kPlugin = {
    sizeof(primset_plugin),
    PRIMSET_ABI_VERSION,
    "cpu",
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
}  // namespace primset_cpu

primset_status* primset_plugin_query(const primset_host*, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  return primset_backend::negotiate_version(primset_cpu::kPlugin, min_version, max_version,
                                            out_plugin);
}
