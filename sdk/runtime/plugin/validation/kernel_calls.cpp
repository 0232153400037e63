// Validated calls: modules and launches.
#include <fmt/format.h>

#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/scope.h"

namespace primset::plugin::validation {
namespace {

// Each rule of primset_module_desc, against what the device claims of itself.
void check_module(Scope& scope, const Object& device, const primset_module_desc& desc) {
  if (desc.struct_size < sizeof(primset_module_desc))
    scope.fail(fmt::format("desc->struct_size is {}; expected at least {}", desc.struct_size,
                           sizeof(primset_module_desc)));
  const primset_device_properties& p = device.properties;
  if (desc.format != p.kernel_format)
    scope.fail(
        fmt::format("desc->format is {}; the device takes {}", desc.format, p.kernel_format));
  scope.required(desc.entry, "desc->entry");
  scope.required(desc.data, "desc->data");
  if (desc.scalar_count > 0) scope.required(desc.scalar_sizes, "desc->scalar_sizes");
  if (desc.size == 0) scope.fail("desc->size is 0; expected more");
  if (reinterpret_cast<uintptr_t>(desc.data) % 8 != 0)
    scope.fail("desc->data is not aligned to 8 bytes");
  if (desc.param_bytes % 8 != 0 || desc.param_bytes < 8u * desc.pointer_count)
    scope.fail(
        fmt::format("desc->param_bytes is {}; expected a multiple of 8 that holds {} "
                    "pointers",
                    desc.param_bytes, desc.pointer_count));
  if (desc.param_bytes > p.max_param_bytes)
    scope.fail(fmt::format("desc->param_bytes is {}; the device takes at most {}", desc.param_bytes,
                           p.max_param_bytes));
  const uint64_t threads = uint64_t{desc.group_size[0]} * desc.group_size[1] * desc.group_size[2];
  const bool simt = p.kernel_format != PRIMSET_FORMAT_NATIVE_IMAGE;
  if (threads == 0 || threads > (simt ? p.max_group_threads : 1))
    scope.fail(fmt::format("desc->group_size is {} x {} x {}; the device takes 1 to {} threads",
                           desc.group_size[0], desc.group_size[1], desc.group_size[2],
                           simt ? p.max_group_threads : 1));
  const uint32_t memory = std::max(p.group_memory, p.large_group_memory);
  if (simt && desc.group_memory > memory)
    scope.fail(fmt::format("desc->group_memory is {}; the device has {} bytes", desc.group_memory,
                           memory));
}

primset_status* module_load(primset_device handle, const primset_module_desc* desc,
                            primset_module* out) {
  Scope scope("module_load");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  if (scope.required(out, "out_module")) *out = nullptr;
  if (scope.required(desc, "desc") && device &&
      device->properties.kernel_format != PRIMSET_FORMAT_NONE)
    check_module(scope, *device, *desc);
  if (primset_status* stop = scope.stop()) return stop;
  primset_module made = nullptr;
  if (primset_status* status =
          scope.result(inner_table(device).module_load(inner<primset_device>(device), desc, &made),
                       made, "out_module"))
    return status;
  const ObjectPtr module = publish(Kind::module, device, made, out);
  module->pointer_count = desc->pointer_count;
  module->param_bytes = desc->param_bytes;
  return nullptr;
}

void module_unload(primset_device handle, primset_module module_handle) {
  Scope scope("module_unload");
  const ObjectPtr device = scope.get(Kind::device, handle, "device");
  const ObjectPtr module = scope.get(Kind::module, module_handle, "module");
  if (!device || !module) return;
  if (const uintptr_t stream = timeline::pending(*module))
    scope.fail(fmt::format("a launch of {}'s kernel on {} was not waited for", describe(*module),
                           describe(reinterpret_cast<const void*>(stream))));
  if (module->kernel) Objects::instance().remove(module->kernel);
  Objects::instance().remove(module->handle);
  inner_table(device).module_unload(inner<primset_device>(device), inner<primset_module>(module));
}

primset_status* module_kernel(primset_module handle, primset_kernel* out) {
  Scope scope("module_kernel");
  const ObjectPtr module = scope.get(Kind::module, handle, "module");
  if (scope.required(out, "out_kernel")) *out = nullptr;
  if (primset_status* stop = scope.stop()) return stop;
  const std::lock_guard lock(module->mutex);
  if (module->kernel) {  // asked for before: the same kernel again
    *out = reinterpret_cast<primset_kernel>(module->kernel);
    return nullptr;
  }
  primset_kernel made = nullptr;
  if (primset_status* status =
          scope.result(inner_table(module).module_kernel(inner<primset_module>(module), &made),
                       made, "out_kernel"))
    return status;
  const ObjectPtr kernel = publish(Kind::kernel, module->device, made, out);
  kernel->pointer_count = module->pointer_count;
  kernel->param_bytes = module->param_bytes;
  kernel->module = module;
  module->kernel = kernel->handle;
  return nullptr;
}

// --- launch --------------------------------------------------------------------------------------

void check_params(Scope& scope, const Object& kernel, const primset_launch& launch) {
  if (launch.binding_count < kernel.pointer_count)
    scope.fail(fmt::format("binding_count is {}; the kernel has {} pointers", launch.binding_count,
                           kernel.pointer_count));
  const uint32_t expected = kernel.param_bytes - 8 * kernel.pointer_count;
  if (launch.scalar_bytes != expected)
    scope.fail(
        fmt::format("scalar_bytes is {}; the module's parameter block of {} bytes with {} "
                    "pointers leaves {}",
                    launch.scalar_bytes, kernel.param_bytes, kernel.pointer_count, expected));
  if (launch.scalar_bytes > 0 && scope.required(launch.scalars, "scalars") &&
      reinterpret_cast<uintptr_t>(launch.scalars) % 8 != 0)
    scope.fail("scalars is not aligned to 8 bytes");
}

void check_grid(Scope& scope, const Object& device, const primset_launch& launch) {
  const uint32_t known_flags = PRIMSET_LAUNCH_INDEPENDENT;
  if (launch.flags & ~known_flags)
    scope.fail(fmt::format("flags is {:#x}; unknown bits are set", launch.flags));
  for (int d = 0; d < 3; ++d)
    if (launch.groups[d] > device.properties.max_groups[d])
      scope.fail(fmt::format("groups[{}] is {}; the device takes at most {}", d, launch.groups[d],
                             device.properties.max_groups[d]));
}

// Checks each binding; `translated` gets the plugin's handles, `things` what the launch uses.
void check_bindings(Scope& scope, const primset_launch& launch,
                    std::vector<primset_binding>& translated, std::vector<ObjectPtr>& things) {
  if (launch.binding_count > 0 && !scope.required(launch.bindings, "bindings")) return;
  for (uint32_t i = 0; i < launch.binding_count; ++i) {
    primset_binding binding = launch.bindings[i];
    const std::string argument = fmt::format("bindings[{}]", i);
    if (binding.access & ~(PRIMSET_ACCESS_READ | PRIMSET_ACCESS_WRITE))
      scope.fail(fmt::format("{}.access is {:#x}; unknown bits are set", argument, binding.access));
    else if (binding.size > 0 && binding.access == 0)
      scope.fail(fmt::format("{}.access is 0; expected READ, WRITE or both", argument));
    const ObjectPtr buffer = scope.place(binding.buffer, binding.offset, binding.size, argument);
    binding.buffer = inner<primset_buffer>(buffer);
    translated.push_back(binding);
    things.push_back(buffer);
  }
}

// The host's promise of independence against what is known to be in flight.
void check_hazards(Scope& scope, const ObjectPtr& stream, const primset_launch& launch) {
  const std::span bindings(launch.bindings, launch.binding_count);
  if (!(launch.flags & PRIMSET_LAUNCH_INDEPENDENT)) return stream->hazards.restart(bindings);
  if (const auto conflict = stream->hazards.conflict(bindings)) {
    const primset_binding& b = bindings[conflict->binding];
    scope.fail(fmt::format(
        "PRIMSET_LAUNCH_INDEPENDENT is set, but bindings[{}] ({}, bytes {} to {}) is a {} of bytes "
        "{} to {}, which earlier work may still be using",
        conflict->binding, describe(b.buffer), b.offset, b.offset + b.size, name(conflict->kind),
        conflict->begin, conflict->end));
  }
  stream->hazards.add(bindings);
}

// Checks the launch and its hazards, records what it uses until it is complete, and hands it on
// with the handles that the plugin knows.
primset_status* launch(primset_stream handle, const primset_launch* launch) {
  Scope scope("launch");
  const ObjectPtr stream = scope.enter(Kind::stream, handle, "stream");
  if (!scope.required(launch, "launch")) return scope.refuse();
  if (launch->struct_size < sizeof(primset_launch)) {
    scope.fail(fmt::format("launch->struct_size is {}; expected at least {}", launch->struct_size,
                           sizeof(primset_launch)));
    return scope.refuse();
  }
  const ObjectPtr kernel = scope.get(Kind::kernel, launch->kernel, "kernel");
  std::vector<primset_binding> translated;
  std::vector<ObjectPtr> things;
  if (kernel) check_params(scope, *kernel, *launch);
  if (stream) check_grid(scope, *stream->device, *launch);
  check_bindings(scope, *launch, translated, things);
  if (scope.ok()) check_hazards(scope, stream, *launch);
  if (primset_status* stop = scope.stop()) return stop;

  std::vector<Object*> used{kernel->module.get()};
  for (const ObjectPtr& thing : things) used.push_back(thing.get());
  timeline::submit(*stream, used);
  primset_launch inner_launch = *launch;
  inner_launch.kernel = inner<primset_kernel>(kernel);
  inner_launch.bindings = translated.data();
  return scope.result(inner_table(stream).launch(inner<primset_stream>(stream), &inner_launch));
}

}  // namespace

void fill_kernel_calls(primset_plugin& table) {
  table.module_load = module_load;
  table.module_unload = module_unload;
  table.module_kernel = module_kernel;
  table.launch = launch;
}

}  // namespace primset::plugin::validation
