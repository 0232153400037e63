#include "backends/cpu/kernel_launch.h"

#include <chrono>
#include <cinttypes>
#include <cstring>
#include <memory>

#include "backends/common/status.h"
#include "backends/cpu/objects.h"

namespace primset_cpu {
namespace {

using Clock = std::chrono::steady_clock;
using primset_backend::guarded;
using primset_backend::make_status;

// A launch expected to take less than this runs on the caller: waking others would cost more.
constexpr float kInlineNanoseconds = 5000;

// Runs all groups where they are likely to be done first. What a group costs is remembered from the
// launch before; when it was cheap or is unknown, one group on the caller tells whether it still
// is.
void run_groups(primset_kernel_t& kernel, ThreadPool& pool, const Work& work) {
  const float known = kernel.group_nanoseconds.load(std::memory_order_relaxed);
  const auto groups = static_cast<float>(work.total);
  if (known * groups > kInlineNanoseconds) {
    kernel.group_nanoseconds.store(pool.run(work), std::memory_order_relaxed);
    return;
  }
  const Clock::time_point start = Clock::now();
  work.entry(work.params, 0, 1, work.total);
  const float nanoseconds = std::chrono::duration<float, std::nano>(Clock::now() - start).count();
  kernel.group_nanoseconds.store(nanoseconds, std::memory_order_relaxed);
  if (nanoseconds * (groups - 1) > kInlineNanoseconds)
    pool.run({work.entry, work.params, 1, work.total, work.total});
  else
    work.entry(work.params, 1, work.total, work.total);
}

primset_status* check(const primset_kernel_t& kernel, const primset_launch& launch) {
  if (launch.binding_count < kernel.pointer_count)
    return make_status(PRIMSET_INVALID_ARGUMENT,
                       "launch: %" PRIu32 " bindings; the kernel has %" PRIu32 " pointers",
                       launch.binding_count, kernel.pointer_count);
  if (8 * kernel.pointer_count + launch.scalar_bytes != kernel.param_bytes)
    return make_status(PRIMSET_INVALID_ARGUMENT,
                       "launch: %" PRIu32 " scalar bytes; the module said %" PRIu32,
                       launch.scalar_bytes, kernel.param_bytes - 8 * kernel.pointer_count);
  if (launch.groups[1] > 1 || launch.groups[2] > 1)
    return make_status(PRIMSET_INVALID_ARGUMENT,
                       "launch: grid %" PRIu32 " x %" PRIu32 " x %" PRIu32
                       "; native images take one dimension",
                       launch.groups[0], launch.groups[1], launch.groups[2]);
  return nullptr;
}

}  // namespace

primset_status* module_load(primset_device, const primset_module_desc* desc,
                            primset_module* out_module) {
  *out_module = nullptr;
  if (desc->format != PRIMSET_FORMAT_NATIVE_IMAGE)
    return make_status(PRIMSET_INVALID_ARGUMENT,
                       "module_load: format %" PRIu32 "; the cpu takes native images (%d)",
                       desc->format, PRIMSET_FORMAT_NATIVE_IMAGE);
  if (desc->param_bytes > kMaxParamBytes || desc->param_bytes < uint64_t{8} * desc->pointer_count)
    return make_status(PRIMSET_INVALID_ARGUMENT,
                       "module_load: param_bytes %" PRIu32 " with %" PRIu32
                       " pointers; expected 8 bytes a pointer and at most %" PRIu32,
                       desc->param_bytes, desc->pointer_count, kMaxParamBytes);
  return guarded("module_load", [&]() -> primset_status* {
    auto module = std::make_unique<primset_module_t>();
    if (primset_status* status =
            Image::load(desc->data, desc->size, module->image, module->kernel.entry))
      return status;
    module->image.announce(desc->entry);
    module->kernel.pointer_count = desc->pointer_count;
    module->kernel.param_bytes = desc->param_bytes;
    *out_module = module.release();
    return nullptr;
  });
}

void module_unload(primset_device, primset_module module) {
  delete module;
}

primset_status* module_kernel(primset_module module, primset_kernel* out_kernel) {
  *out_kernel = &module->kernel;
  return nullptr;
}

primset_status* launch(primset_stream stream, const primset_launch* launch) {
  primset_kernel_t& kernel = *launch->kernel;
  if (primset_status* status = check(kernel, *launch)) [[unlikely]]
    return status;
  const uint64_t groups = uint64_t{launch->groups[0]} * launch->groups[1] * launch->groups[2];
  if (groups == 0) return nullptr;

  unsigned char* params = stream->params;
  for (uint32_t i = 0; i < kernel.pointer_count; ++i) {
    const primset_binding& binding = launch->bindings[i];
    char* address = binding.buffer ? binding.buffer->address + binding.offset : nullptr;
    std::memcpy(params + 8 * i, &address, 8);
  }
  if (launch->scalar_bytes > 0)
    std::memcpy(params + 8 * kernel.pointer_count, launch->scalars, launch->scalar_bytes);

  if (groups == 1 || stream->device->pool->size() == 1)
    kernel.entry(params, 0, groups, groups);
  else
    run_groups(kernel, *stream->device->pool, {kernel.entry, params, 0, groups, groups});
  return nullptr;
}

}  // namespace primset_cpu
