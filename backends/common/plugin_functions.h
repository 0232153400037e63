// The functions of the plugin ABI, written once for all of our back ends: which output is null when
// something fails, what becomes of an exception, and that a copy of no bytes does nothing. What a
// function does then is a method of the struct behind its handle, which each back end defines and
// which throws BackendError:
//
//   primset_device_t(std::shared_ptr<Driver> driver, uint32_t index)
//     properties()                          a primset_device_properties
//   primset_buffer_t(primset_device device, uint64_t bytes)
//     device_address()
//   primset_event_t(primset_device device)  device
//     record(stream), reached(), wait()
//   primset_stream_t(primset_device device) device
//     synchronize(), wait_for(event)
//     copy_in(buffer, offset, source, bytes), copy_out(buffer, offset, target, bytes)
//     copy(target, target_offset, source, source_offset, bytes)
//     fill(buffer, offset, bytes, pattern, pattern_bytes)
//   primset_module_t(primset_device device, const primset_module_desc& desc)
//     kernel                                a primset_kernel_t
//   primset_kernel_t                        shape, a ParamShape
//     launch(stream, launch)
//
// Destructors release, and throw nothing.
#ifndef PRIMSET_BACKENDS_COMMON_PLUGIN_FUNCTIONS_H_
#define PRIMSET_BACKENDS_COMMON_PLUGIN_FUNCTIONS_H_

#include <primset/plugin.h>

#include <new>
#include <string_view>

#include "backends/common/abi_boundary.h"
#include "backends/common/scoped_call.h"
#include "backends/common/shared_driver.h"
#include "backends/common/status.h"

namespace primset_backend {

// An optional table of the device, by its name.
struct Extension {
  std::string_view id;
  const void* table;
};

// A Backend states
//   kName        what users type: "cuda" in "cuda:0"
//   Driver       what SharedDriver holds
//   Scope        what the driver wants of a thread that calls it: backends/common/scoped_call.h
//   kExtensions  an array of Extension, beside the device addresses that all have
//
// The handles' structs are parameters of the templates below, so that this header needs none of
// them; the table of functions binds them.
template <typename Backend>
struct PluginFunctions {
  using Scope = Backend::Scope;

  static inline constinit SharedDriver<typename Backend::Driver> driver;

  static void release(const primset_plugin*) { driver.release(); }

  // --- devices -----------------------------------------------------------------------------------

  static primset_status* device_count(const primset_plugin*, uint32_t* out_count) {
    return driver.device_count(out_count);
  }

  template <typename Device>
  static primset_status* device_open(const primset_plugin*, uint32_t index, Device** out_device) {
    return driver.device_open(index, out_device);
  }

  template <typename Device>
  static void device_close(Device* device) {
    delete device;
  }

  template <typename Device>
  static primset_status* device_properties(Device* device, primset_device_properties* out) {
    return guarded("device_properties", [&] { copy_properties(device->properties(), out); });
  }

  static const void* device_extension(primset_device, const char* name) {
    const std::string_view id = name;
    if (id == PRIMSET_EXT_DEVICE_ADDRESS) return &kDeviceAddresses;
    for (const Extension& extension : Backend::kExtensions)
      if (extension.id == id) return extension.table;
    return nullptr;
  }

  template <typename Buffer>
  static uint64_t device_address(primset_device, Buffer* buffer) {
    return buffer->device_address();
  }
  static constexpr primset_device_addresses kDeviceAddresses = {sizeof(primset_device_addresses), 0,
                                                                device_address};

  // --- memory ------------------------------------------------------------------------------------

  template <typename Device, typename Buffer>
  static primset_status* memory_alloc(Device* device, uint64_t bytes, Buffer** out_buffer) {
    return make<Scope>("memory_alloc", device, out_buffer, bytes);
  }

  template <typename Device, typename Buffer>
  static void memory_free(Device* device, Buffer* buffer) {
    destroy<Scope>(device, buffer);
  }

  template <typename Stream, typename Buffer>
  static primset_status* copy_in(Stream* stream, Buffer* buffer, uint64_t offset,
                                 const void* source, uint64_t bytes) {
    if (bytes == 0) return nullptr;
    return scoped<Scope>("copy_in", *stream->device,
                         [&] { stream->copy_in(*buffer, offset, source, bytes); });
  }

  template <typename Stream, typename Buffer>
  static primset_status* copy_out(Stream* stream, Buffer* buffer, uint64_t offset, void* target,
                                  uint64_t bytes) {
    if (bytes == 0) return nullptr;
    return scoped<Scope>("copy_out", *stream->device,
                         [&] { stream->copy_out(*buffer, offset, target, bytes); });
  }

  template <typename Stream, typename Buffer>
  static primset_status* copy(Stream* stream, Buffer* target, uint64_t target_offset,
                              Buffer* source, uint64_t source_offset, uint64_t bytes) {
    if (bytes == 0) return nullptr;
    return scoped<Scope>("copy", *stream->device, [&] {
      stream->copy(*target, target_offset, *source, source_offset, bytes);
    });
  }

  template <typename Stream, typename Buffer>
  static primset_status* fill(Stream* stream, Buffer* buffer, uint64_t offset, uint64_t bytes,
                              const void* pattern, uint32_t pattern_bytes) {
    if (bytes == 0) return nullptr;
    return scoped<Scope>("fill", *stream->device, [&] {
      stream->fill(*buffer, offset, bytes, static_cast<const unsigned char*>(pattern),
                   pattern_bytes);
    });
  }

  // --- streams and events ------------------------------------------------------------------------

  template <typename Device, typename Stream>
  static primset_status* stream_create(Device* device, Stream** out_stream) {
    return make<Scope>("stream_create", device, out_stream);
  }

  template <typename Stream>
  static void stream_destroy(Stream* stream) {
    destroy<Scope>(stream->device, stream);
  }

  template <typename Stream>
  static primset_status* stream_synchronize(Stream* stream) {
    return scoped<Scope>("stream_synchronize", *stream->device, [&] { stream->synchronize(); });
  }

  template <typename Device, typename Event>
  static primset_status* event_create(Device* device, Event** out_event) {
    return make<Scope>("event_create", device, out_event);
  }

  template <typename Event>
  static void event_destroy(Event* event) {
    destroy<Scope>(event->device, event);
  }

  template <typename Event, typename Stream>
  static primset_status* event_record(Event* event, Stream* stream) {
    return scoped<Scope>("event_record", *stream->device, [&] { event->record(*stream); });
  }

  template <typename Event>
  static primset_status* event_query(Event* event, uint32_t* out_reached) {
    *out_reached = 0;
    return scoped<Scope>("event_query", *event->device,
                         [&] { *out_reached = event->reached() ? 1 : 0; });
  }

  template <typename Event>
  static primset_status* event_synchronize(Event* event) {
    return scoped<Scope>("event_synchronize", *event->device, [&] { event->wait(); });
  }

  template <typename Stream, typename Event>
  static primset_status* stream_wait_event(Stream* stream, Event* event) {
    return scoped<Scope>("stream_wait_event", *stream->device, [&] { stream->wait_for(*event); });
  }

  // --- kernels -----------------------------------------------------------------------------------

  template <typename Device, typename Module>
  static primset_status* module_load(Device* device, const primset_module_desc* desc,
                                     Module** out_module) {
    *out_module = nullptr;
    return scoped<Scope>("module_load", *device, [&] {
      check_module(*desc, device->properties());
      *out_module = new Module(device, *desc);
    });
  }

  template <typename Device, typename Module>
  static void module_unload(Device* device, Module* module) {
    destroy<Scope>(device, module);
  }

  template <typename Module, typename Kernel>
  static primset_status* module_kernel(Module* module, Kernel** out_kernel) {
    *out_kernel = &module->kernel;
    return nullptr;
  }

  template <typename Stream>
  static primset_status* launch(Stream* stream, const primset_launch* launch) {
    return launch_kernel(*stream, *launch->kernel, *launch);
  }

 private:
  template <typename Stream, typename Kernel>
  static primset_status* launch_kernel(Stream& stream, Kernel& kernel,
                                       const primset_launch& launch) noexcept {
    return guarded("launch", [&] {
      check_launch(kernel.shape, launch);
      if (is_empty(launch)) return;
      const Scope scope(*stream.device);
      kernel.launch(stream, launch);
    });
  }
};

template <typename Backend>
constexpr primset_plugin make_plugin() {
  using F = PluginFunctions<Backend>;
  return {
      sizeof(primset_plugin),
      PRIMSET_ABI_VERSION,
      Backend::kName,
      "0.1.0",
      "Primset",
      F::release,
      F::device_count,
      F::device_open,
      F::device_close,
      F::device_properties,
      F::device_extension,
      F::memory_alloc,
      F::memory_free,
      F::copy_in,
      F::copy_out,
      F::copy,
      F::fill,
      F::stream_create,
      F::stream_destroy,
      F::stream_synchronize,
      F::event_create,
      F::event_destroy,
      F::event_record,
      F::event_query,
      F::event_synchronize,
      F::stream_wait_event,
      F::module_load,
      F::module_unload,
      F::module_kernel,
      F::launch,
  };
}

// What primset_plugin_query does.
template <typename Backend>
primset_status* query_plugin(const primset_host* host, uint32_t min_version, uint32_t max_version,
                             const primset_plugin** out_plugin) {
  static constexpr primset_plugin kPlugin = make_plugin<Backend>();
  primset_status* status = negotiate_version(kPlugin, min_version, max_version, out_plugin);
  if (!status) PluginFunctions<Backend>::driver.set_host(host);
  return status;
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_PLUGIN_FUNCTIONS_H_
