// The driver, its devices, and what it says of them.
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>

#include "backends/level_zero/cpu_driver/device.h"
#include "backends/level_zero/cpu_driver/objects.h"
#include "backends/level_zero/cpu_driver/opencl_device.h"
#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {
namespace {

// Handles need only addresses of their own.
constexpr uint32_t kMostDevices = 16;
char driver_place, device_places[kMostDevices];
uint32_t device_count() {
  return std::clamp(settings().devices, 1u, kMostDevices);
}
ze_driver_handle_t driver_handle() {
  return reinterpret_cast<ze_driver_handle_t>(&driver_place);
}

ze_result_t ZE_APICALL init(ze_init_flags_t flags) {
  static std::once_flag once;
  static bool there = false;
  std::call_once(once, [] { there = cl().open(); });
  if (flags && !(flags & ZE_INIT_FLAG_GPU_ONLY)) return ZE_RESULT_ERROR_UNINITIALIZED;
  return there ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

// --- the driver ----------------------------------------------------------------------------------

ze_result_t ZE_APICALL driver_get(uint32_t* count, ze_driver_handle_t* out) {
  if (out && *count > 0) out[0] = driver_handle();
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL driver_api_version(ze_driver_handle_t, ze_api_version_t* out) {
  *out = ZE_API_VERSION_1_4;
  return ZE_RESULT_SUCCESS;
}

// Native binaries are OpenCL's, so another OpenCL driver is another driver.
ze_result_t ZE_APICALL driver_properties(ze_driver_handle_t, ze_driver_properties_t* p) {
  std::memset(&p->uuid, 0x7e, sizeof(p->uuid));
  p->driverVersion = static_cast<uint32_t>(std::hash<std::string>()(cl().text(CL_DRIVER_VERSION)));
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL driver_ipc(ze_driver_handle_t, ze_driver_ipc_properties_t* p) {
  p->flags = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL driver_extensions(ze_driver_handle_t, uint32_t* count,
                                         ze_driver_extension_properties_t* p) {
  if (p && *count > 0) {
    std::snprintf(p[0].name, sizeof(p[0].name), "%s", ZE_FLOAT_ATOMICS_EXT_NAME);
    p[0].version = ZE_FLOAT_ATOMICS_EXT_VERSION_1_0;
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL driver_extension_function(ze_driver_handle_t, const char*, void** out) {
  *out = nullptr;
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

// --- the devices ---------------------------------------------------------------------------------

ze_result_t ZE_APICALL device_get(ze_driver_handle_t, uint32_t* count, ze_device_handle_t* out) {
  const bool all = !out || *count == 0 || *count > device_count();
  if (all) *count = device_count();
  for (uint32_t i = 0; out && i < *count; ++i) out[i] = device_handle(i);
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL device_get_sub_devices(ze_device_handle_t, uint32_t* count,
                                              ze_device_handle_t*) {
  *count = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL device_properties(ze_device_handle_t handle, ze_device_properties_t* p) {
  PRIMSET_CPU_DRIVER_FIND_DEVICE(device, handle);
  const ze_device_properties_t asked = *p;
  *p = {};
  p->stype = asked.stype;
  p->pNext = asked.pNext;
  p->type = ZE_DEVICE_TYPE_GPU;
  p->vendorId = 0x8086;
  p->flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
  p->coreClockRate = 1000;
  p->maxMemAllocSize = cl().info<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  p->maxHardwareContexts = 64;
  p->numThreadsPerEU = 1;
  p->physicalEUSimdWidth = 8;
  p->numEUsPerSubslice = 1;
  p->numSubslicesPerSlice = cl().info<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
  p->numSlices = 1;
  p->timerResolution = 1;
  p->timestampValidBits = p->kernelTimestampValidBits = 64;
  std::memset(&p->uuid, 0x7d, sizeof(p->uuid));
  p->uuid.id[0] = static_cast<uint8_t>(0x7d + device);
  std::snprintf(p->name, sizeof(p->name), "%.200s (Level Zero over OpenCL)",
                cl().text(CL_DEVICE_NAME).c_str());
  return ZE_RESULT_SUCCESS;
}

// The least that Intel's GPUs have, whatever the CPU could.
ze_result_t ZE_APICALL compute_properties(ze_device_handle_t, ze_device_compute_properties_t* p) {
  p->maxTotalGroupSize = kMaxGroupThreads;
  p->maxGroupSizeX = p->maxGroupSizeY = p->maxGroupSizeZ = kMaxGroupThreads;
  p->maxGroupCountX = p->maxGroupCountY = p->maxGroupCountZ = 0x7fffffff;
  p->maxSharedLocalMemory = 65536;
  p->numSubGroupSizes = 3;
  for (uint32_t i = 0; i < 3; ++i) p->subGroupSizes[i] = 8u << i;
  return ZE_RESULT_SUCCESS;
}

ze_device_fp_flags_t float_flags(cl_device_fp_config config) {
  static constexpr struct {
    cl_device_fp_config from;
    ze_device_fp_flags_t to;
  } kFlags[] = {
      {CL_FP_DENORM, ZE_DEVICE_FP_FLAG_DENORM},
      {CL_FP_INF_NAN, ZE_DEVICE_FP_FLAG_INF_NAN},
      {CL_FP_ROUND_TO_NEAREST, ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST},
      {CL_FP_ROUND_TO_ZERO, ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO},
      {CL_FP_ROUND_TO_INF, ZE_DEVICE_FP_FLAG_ROUND_TO_INF},
      {CL_FP_FMA, ZE_DEVICE_FP_FLAG_FMA},
      {CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT},
  };
  ze_device_fp_flags_t flags = 0;
  for (const auto& f : kFlags)
    if (config & f.from) flags |= f.to;
  return flags;
}

void fill_float_atomics(void* chain) {
  constexpr ze_device_fp_atomic_ext_flags_t kGlobal =
      ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD |
      ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX;
  for (auto* x = static_cast<ze_base_properties_t*>(chain); x;
       x = static_cast<ze_base_properties_t*>(x->pNext)) {
    if (x->stype != ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES) continue;
    auto* atomics = reinterpret_cast<ze_float_atomic_ext_properties_t*>(x);
    atomics->fp16Flags = 0;
    atomics->fp32Flags = kGlobal;
    atomics->fp64Flags = settings().fp64 ? kGlobal : 0;
  }
}

ze_result_t ZE_APICALL module_properties(ze_device_handle_t, ze_device_module_properties_t* p) {
  p->spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
  p->flags = ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
  if (cl().has_extension("cl_khr_fp16")) p->flags |= ZE_DEVICE_MODULE_FLAG_FP16;
  if (settings().fp64) p->flags |= ZE_DEVICE_MODULE_FLAG_FP64;
  const auto flags = [](cl_device_info what) {
    return float_flags(cl().info<cl_device_fp_config>(what));
  };
  p->fp16flags = flags(CL_DEVICE_HALF_FP_CONFIG);
  // The CPU's runtime does not say so of f32, and fuses.
  p->fp32flags = flags(CL_DEVICE_SINGLE_FP_CONFIG) | ZE_DEVICE_FP_FLAG_FMA;
  p->fp64flags = settings().fp64 ? flags(CL_DEVICE_DOUBLE_FP_CONFIG) : 0;
  p->maxArgumentsSize = 2048;
  p->printfBufferSize = 1 << 20;
  p->nativeKernelSupported = {};
  fill_float_atomics(p->pNext);
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL queue_groups(ze_device_handle_t, uint32_t* count,
                                    ze_command_queue_group_properties_t* p) {
  if (p && *count > 0) {
    p[0].flags =
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
    p[0].maxMemoryFillPatternSize = kMaxPatternBytes;
    p[0].numQueues = kQueues;
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL memory_properties(ze_device_handle_t, uint32_t* count,
                                         ze_device_memory_properties_t* p) {
  if (p && *count > 0) {
    p[0].flags = 0;
    p[0].maxClockRate = 1000;
    p[0].maxBusWidth = 64;
    p[0].totalSize = cl().info<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
    std::snprintf(p[0].name, sizeof(p[0].name), "host");
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL memory_access(ze_device_handle_t, ze_device_memory_access_properties_t* p) {
  constexpr ze_memory_access_cap_flags_t kAll =
      ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
  p->hostAllocCapabilities = p->deviceAllocCapabilities = kAll;
  p->sharedSingleDeviceAllocCapabilities = kAll;
  p->sharedCrossDeviceAllocCapabilities = p->sharedSystemAllocCapabilities = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cache_properties(ze_device_handle_t, uint32_t* count,
                                        ze_device_cache_properties_t*) {
  *count = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL can_access_peer(ze_device_handle_t handle, ze_device_handle_t peer_handle,
                                       ze_bool_t* out) {
  PRIMSET_CPU_DRIVER_FIND_DEVICE(device, handle);
  PRIMSET_CPU_DRIVER_FIND_DEVICE(peer, peer_handle);
  *out = reaches(device, peer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL device_status(ze_device_handle_t) {
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_device_handle_t device_handle(uint32_t index) {
  return reinterpret_cast<ze_device_handle_t>(&device_places[index]);
}

std::optional<uint32_t> device_index(ze_device_handle_t handle) {
  for (uint32_t i = 0; i < device_count(); ++i)
    if (handle == device_handle(i)) return i;
  return std::nullopt;
}

bool reaches(uint32_t device, uint32_t peer) {
  const Peers peers = settings().peers;
  return device == peer || peers == Peers::all || (peers == Peers::up && peer > device);
}

}  // namespace primset_cpu_driver

using namespace primset_cpu_driver;

PRIMSET_CPU_DRIVER_TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnInit = init;
  return ZE_RESULT_SUCCESS;
}

PRIMSET_CPU_DRIVER_TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnGet = driver_get;
  t->pfnGetApiVersion = driver_api_version;
  t->pfnGetProperties = driver_properties;
  t->pfnGetIpcProperties = driver_ipc;
  t->pfnGetExtensionProperties = driver_extensions;
  t->pfnGetExtensionFunctionAddress = driver_extension_function;
  return ZE_RESULT_SUCCESS;
}

PRIMSET_CPU_DRIVER_TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnGet = device_get;
  t->pfnGetSubDevices = device_get_sub_devices;
  t->pfnGetProperties = device_properties;
  t->pfnGetComputeProperties = compute_properties;
  t->pfnGetModuleProperties = module_properties;
  t->pfnGetCommandQueueGroupProperties = queue_groups;
  t->pfnGetMemoryProperties = memory_properties;
  t->pfnGetMemoryAccessProperties = memory_access;
  t->pfnGetCacheProperties = cache_properties;
  t->pfnCanAccessPeer = can_access_peer;
  t->pfnGetStatus = device_status;
  return ZE_RESULT_SUCCESS;
}
