// A plugin for tests: a device that takes no kernels and offers every core primitive, computed by
// the reference interpreter. What passes on it needs no more of a device than those.
//
// Everything is complete when a call returns. Its memory is the host's.
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "conformance/interpreter_plugin/host_buffer.h"
#include "conformance/interpreter_plugin/primitive_call.h"
#include "primset/error.h"

struct primset_device_t {};
struct primset_stream_t {};
struct primset_event_t {};

namespace primset::interpreter_plugin {
namespace {

// --- errors -------------------------------------------------------------------------------------

struct Status : primset_status {
  std::string text;
};

primset_status* fail(uint32_t code, std::string text) {
  auto* status = new Status{{}, std::move(text)};
  status->struct_size = sizeof(primset_status);
  status->code = code;
  status->message = status->text.c_str();
  status->release = [](primset_status* self) { delete static_cast<Status*>(self); };
  return status;
}

// What a function of the table throws becomes its status.
template <typename F>
primset_status* guarded(F f) {
  try {
    f();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return fail(PRIMSET_OUT_OF_MEMORY, "no host memory left");
  } catch (const std::exception& error) {
    return fail(PRIMSET_INTERNAL, error.what());
  }
}

template <typename T>
primset_status* make(T** out) {
  return guarded([&] { *out = new T{}; });
}

// --- devices ------------------------------------------------------------------------------------

primset_status* device_open(const primset_plugin*, uint32_t index, primset_device* out) {
  *out = nullptr;
  if (index != 0) return fail(PRIMSET_INVALID_ARGUMENT, "device_open: there is only device 0");
  return make(out);
}

primset_status* device_properties(primset_device, primset_device_properties* out) {
  primset_device_properties p{};
  const uint32_t known = out->struct_size;
  p.struct_size = known;
  p.kernel_format = PRIMSET_FORMAT_NONE;
  std::strcpy(p.name, "Reference interpreter");
  p.dtypes = PRIMSET_DTYPES_ALL;
  p.features = PRIMSET_FEATURE_INLINE;
  p.numerics = PRIMSET_NUMERIC_FUSED_FMA | PRIMSET_NUMERIC_EXACT_DIV_F32 |
               PRIMSET_NUMERIC_EXACT_DIV_F64 | PRIMSET_NUMERIC_KEEP_NAN_INF;
  p.memory_alignment = alignof(std::max_align_t);
  std::memcpy(out, &p, std::min<size_t>(known, sizeof(p)));
  return nullptr;
}

// --- memory -------------------------------------------------------------------------------------

primset_status* memory_alloc(primset_device, uint64_t bytes, primset_buffer* out) {
  *out = nullptr;
  return guarded([&] {
    auto buffer = std::make_unique<primset_buffer_t>();
    buffer->bytes.resize(bytes);
    *out = buffer.release();
  });
}

primset_status* copy_in(primset_stream, primset_buffer to, uint64_t offset, const void* from,
                        uint64_t bytes) {
  if (bytes > 0) std::memcpy(to->bytes.data() + offset, from, bytes);
  return nullptr;
}

primset_status* copy_out(primset_stream, primset_buffer from, uint64_t offset, void* to,
                         uint64_t bytes) {
  if (bytes > 0) std::memcpy(to, from->bytes.data() + offset, bytes);
  return nullptr;
}

primset_status* copy(primset_stream, primset_buffer to, uint64_t to_offset, primset_buffer from,
                     uint64_t from_offset, uint64_t bytes) {
  if (bytes > 0) std::memcpy(to->bytes.data() + to_offset, from->bytes.data() + from_offset, bytes);
  return nullptr;
}

primset_status* fill(primset_stream, primset_buffer to, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes) {
  for (uint64_t i = 0; i < bytes; i += pattern_bytes)
    std::memcpy(to->bytes.data() + offset + i, pattern, pattern_bytes);
  return nullptr;
}

// --- primitives ---------------------------------------------------------------------------------

primset_status* run_primitive(primset_stream, const void* data,
                              const primset_primitive_call* call) {
  const auto prim = static_cast<prims::Prim>(reinterpret_cast<uintptr_t>(data));
  return guarded([&] { run(prim, *call); });
}

primset_status* find(primset_device, const char* name, const primset_primitive_call*,
                     primset_primitive* out) {
  const std::optional<prims::Prim> prim = prims::prim_from_name(name);
  if (!prim || !is_offered(*prim))
    return fail(PRIMSET_UNSUPPORTED, std::string(name) + " is no core primitive");
  out->flags = 0;
  out->run = run_primitive;
  out->data = reinterpret_cast<const void*>(static_cast<uintptr_t>(*prim));
  return nullptr;
}

const void* device_extension(primset_device, const char* name) {
  static constexpr primset_primitives kPrimitives = {sizeof(primset_primitives), 0, find};
  return std::strcmp(name, PRIMSET_EXT_PRIMITIVES) == 0 ? &kPrimitives : nullptr;
}

// --- the table ----------------------------------------------------------------------------------

primset_status* no_kernels() {
  return fail(PRIMSET_UNSUPPORTED, "this device takes no kernels");
}

const primset_plugin kPlugin = {
    .struct_size = sizeof(primset_plugin),
    .abi_version = PRIMSET_ABI_VERSION,
    .name = "interpreter",
    .version = "1.0",
    .vendor = "Primset",
    .release = [](const primset_plugin*) {},
    .device_count = [](const primset_plugin*, uint32_t* out) -> primset_status* {
      *out = 1;
      return nullptr;
    },
    .device_open = device_open,
    .device_close = [](primset_device device) { delete device; },
    .device_properties = device_properties,
    .device_extension = device_extension,
    .memory_alloc = memory_alloc,
    .memory_free = [](primset_device, primset_buffer buffer) { delete buffer; },
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy = copy,
    .fill = fill,
    .stream_create = [](primset_device, primset_stream* out) { return make(out); },
    .stream_destroy = [](primset_stream stream) { delete stream; },
    .stream_synchronize = [](primset_stream) -> primset_status* { return nullptr; },
    .event_create = [](primset_device, primset_event* out) { return make(out); },
    .event_destroy = [](primset_event event) { delete event; },
    .event_record = [](primset_event, primset_stream) -> primset_status* { return nullptr; },
    .event_query = [](primset_event, uint32_t* out) -> primset_status* {
      *out = 1;
      return nullptr;
    },
    .event_synchronize = [](primset_event) -> primset_status* { return nullptr; },
    .stream_wait_event = [](primset_stream, primset_event) -> primset_status* { return nullptr; },
    .module_load =
        [](primset_device, const primset_module_desc*, primset_module* out) {
          *out = nullptr;
          return no_kernels();
        },
    .module_unload = [](primset_device, primset_module) {},
    .module_kernel =
        [](primset_module, primset_kernel* out) {
          *out = nullptr;
          return no_kernels();
        },
    .launch = [](primset_stream, const primset_launch*) { return no_kernels(); },
};

}  // namespace
}  // namespace primset::interpreter_plugin

primset_status* primset_plugin_query(const primset_host*, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out) {
  *out = nullptr;
  if (min_version > PRIMSET_ABI_VERSION || max_version < PRIMSET_ABI_VERSION)
    return primset::interpreter_plugin::fail(PRIMSET_UNSUPPORTED,
                                             "interpreter speaks ABI version 1 only");
  *out = &primset::interpreter_plugin::kPlugin;
  return nullptr;
}
