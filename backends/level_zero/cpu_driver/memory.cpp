#include "backends/level_zero/cpu_driver/memory.h"

#include <level_zero/ze_ddi.h>

#include "backends/level_zero/cpu_driver/command_queue.h"
#include "backends/level_zero/cpu_driver/device.h"
#include "backends/level_zero/cpu_driver/opencl_device.h"
#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {

Context::~Context() {
  if (!allocations_.empty())
    refuse(ZE_RESULT_SUCCESS, "a context ends with %zu allocations", allocations_.size());
}

void Context::add(const Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  allocations_[allocation.base] = allocation;
}

bool Context::remove(uint64_t base) {
  const std::lock_guard lock(mutex_);
  return allocations_.erase(base) > 0;
}

std::optional<Allocation> Context::find(const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  const std::lock_guard lock(mutex_);
  auto next = allocations_.upper_bound(at);
  if (next == allocations_.begin()) return std::nullopt;
  const Allocation& a = std::prev(next)->second;
  if (at >= a.base + a.bytes) return std::nullopt;
  return a;
}

namespace {

// --- contexts ------------------------------------------------------------------------------------

ze_result_t ZE_APICALL context_create(ze_driver_handle_t, const ze_context_desc_t*,
                                      ze_context_handle_t* out) {
  return give_out(std::make_shared<Context>(), out);
}

ze_result_t ZE_APICALL context_create_ex(ze_driver_handle_t driver, const ze_context_desc_t* desc,
                                         uint32_t, ze_device_handle_t*, ze_context_handle_t* out) {
  return context_create(driver, desc, out);
}

ze_result_t ZE_APICALL context_destroy(ze_context_handle_t context) {
  return destroy(context, "zeContextDestroy");
}

ze_result_t ZE_APICALL context_status(ze_context_handle_t) {
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL make_resident(ze_context_handle_t, ze_device_handle_t, void*, size_t) {
  return ZE_RESULT_SUCCESS;
}

// --- allocations ---------------------------------------------------------------------------------

bool has_relaxed_limits(const void* chain) {
  for (auto* x = static_cast<const ze_base_desc_t*>(chain); x;
       x = static_cast<const ze_base_desc_t*>(x->pNext))
    if (x->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC) return true;
  return false;
}

void* allocate_from_opencl(ze_memory_type_t type, size_t bytes, size_t alignment) {
  const auto aligned = static_cast<cl_uint>(alignment);
  OpenClDevice& d = cl();
  if (type == ZE_MEMORY_TYPE_HOST) return d.host_alloc(d.context, nullptr, bytes, aligned, nullptr);
  if (type == ZE_MEMORY_TYPE_DEVICE)
    return d.device_alloc(d.context, d.device, nullptr, bytes, aligned, nullptr);
  return d.shared_alloc(d.context, d.device, nullptr, bytes, aligned, nullptr);
}

ze_result_t allocate(ze_context_handle_t handle, ze_memory_type_t type,
                     std::optional<uint32_t> device, const void* chain, size_t bytes,
                     size_t alignment, void** out) {
  *out = nullptr;
  PRIMSET_CPU_DRIVER_FIND(Context, context, handle);
  if (bytes == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (alignment & (alignment - 1)) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  if (bytes > cl().info<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE) && !has_relaxed_limits(chain))
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (bytes <= cl().info<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE))
    *out = allocate_from_opencl(type, bytes, alignment);
  if (!*out)
    return type == ZE_MEMORY_TYPE_HOST ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                       : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  context->add({reinterpret_cast<uint64_t>(*out), bytes, type, device});
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL alloc_shared(ze_context_handle_t context,
                                    const ze_device_mem_alloc_desc_t* desc,
                                    const ze_host_mem_alloc_desc_t*, size_t bytes, size_t alignment,
                                    ze_device_handle_t handle, void** out) {
  return allocate(context, ZE_MEMORY_TYPE_SHARED, device_index(handle), desc->pNext, bytes,
                  alignment, out);
}

ze_result_t ZE_APICALL alloc_device(ze_context_handle_t context,
                                    const ze_device_mem_alloc_desc_t* desc, size_t bytes,
                                    size_t alignment, ze_device_handle_t handle, void** out) {
  PRIMSET_CPU_DRIVER_FIND_DEVICE(device, handle);
  return allocate(context, ZE_MEMORY_TYPE_DEVICE, device, desc->pNext, bytes, alignment, out);
}

ze_result_t ZE_APICALL alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t* desc,
                                  size_t bytes, size_t alignment, void** out) {
  return allocate(context, ZE_MEMORY_TYPE_HOST, std::nullopt, desc->pNext, bytes, alignment, out);
}

ze_result_t ZE_APICALL mem_free(ze_context_handle_t handle, void* address) {
  PRIMSET_CPU_DRIVER_FIND(Context, context, handle);
  const std::optional<Allocation> a = context->find(address);
  if (!a || a->base != reinterpret_cast<uint64_t>(address))
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "zeMemFree: no allocation begins there");
  if (settings().strict && queues().touch(a->base, a->base + a->bytes))
    return refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "zeMemFree: commands still use it");
  context->remove(a->base);
  return result_of(cl().blocking_free(cl().context, address));
}

ze_result_t ZE_APICALL alloc_properties(ze_context_handle_t handle, const void* address,
                                        ze_memory_allocation_properties_t* out,
                                        ze_device_handle_t* device) {
  PRIMSET_CPU_DRIVER_FIND(Context, context, handle);
  const std::optional<Allocation> a = context->find(address);
  out->type = a ? a->type : ZE_MEMORY_TYPE_UNKNOWN;
  out->id = a ? a->base : 0;
  out->pageSize = 4096;
  if (device) *device = a && a->device ? device_handle(*a->device) : nullptr;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL address_range(ze_context_handle_t handle, const void* address, void** base,
                                     size_t* bytes) {
  PRIMSET_CPU_DRIVER_FIND(Context, context, handle);
  const std::optional<Allocation> a = context->find(address);
  if (!a) return ZE_RESULT_ERROR_UNKNOWN;
  if (base) *base = reinterpret_cast<void*>(a->base);
  if (bytes) *bytes = a->bytes;
  return ZE_RESULT_SUCCESS;
}

}  // namespace
}  // namespace primset_cpu_driver

using namespace primset_cpu_driver;

PRIMSET_CPU_DRIVER_TABLE(zeGetContextProcAddrTable, ze_context_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnCreate = context_create;
  t->pfnCreateEx = context_create_ex;
  t->pfnDestroy = context_destroy;
  t->pfnGetStatus = context_status;
  t->pfnMakeMemoryResident = t->pfnEvictMemory = make_resident;
  return ZE_RESULT_SUCCESS;
}

PRIMSET_CPU_DRIVER_TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnAllocShared = alloc_shared;
  t->pfnAllocDevice = alloc_device;
  t->pfnAllocHost = alloc_host;
  t->pfnFree = mem_free;
  t->pfnGetAllocProperties = alloc_properties;
  t->pfnGetAddressRange = address_range;
  return ZE_RESULT_SUCCESS;
}
