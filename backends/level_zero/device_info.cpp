#include "backends/level_zero/device_info.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "backends/level_zero/errors.h"

namespace primset_level_zero {
namespace {

constexpr size_t kLargestPattern = 16;
constexpr uint64_t kStatefulLimit = uint64_t{4} << 30;

bool has_extension(const Functions& ze, ze_driver_handle_t driver, std::string_view name) {
  const auto all = PRIMSET_ZE_ALL(ze, zeDriverGetExtensionProperties,
                                  ze_driver_extension_properties_t{}, driver);
  return std::ranges::any_of(all, [&](const auto& e) { return name == e.name; });
}

void ask_module(const Functions& ze, ze_driver_handle_t driver, ze_device_handle_t device,
                DeviceInfo& info) {
  auto atomics =
      structure<ze_float_atomic_ext_properties_t>(ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
  info.module.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
  if (has_extension(ze, driver, ZE_FLOAT_ATOMICS_EXT_NAME)) info.module.pNext = &atomics;
  PRIMSET_ZE(ze, zeDeviceGetModuleProperties, device, &info.module);
  info.module.pNext = nullptr;
  info.f32_atomics = atomics.fp32Flags;
}

bool divides_f32_exactly(const DeviceInfo& info) {
  return info.module.fp32flags & ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
}

}  // namespace

DeviceInfo ask(const Functions& ze, ze_driver_handle_t driver, ze_device_handle_t device) {
  DeviceInfo info;
  auto of_driver = structure<ze_driver_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
  PRIMSET_ZE(ze, zeDriverGetProperties, driver, &of_driver);
  info.driver_version = of_driver.driverVersion;
  info.device.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  PRIMSET_ZE(ze, zeDeviceGetProperties, device, &info.device);
  info.compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
  PRIMSET_ZE(ze, zeDeviceGetComputeProperties, device, &info.compute);
  ask_module(ze, driver, device, info);
  const auto memory =
      structure<ze_device_memory_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
  for (const auto& one : PRIMSET_ZE_ALL(ze, zeDeviceGetMemoryProperties, memory, device))
    info.memory_bytes = std::max(info.memory_bytes, one.totalSize);
  const auto group = structure<ze_command_queue_group_properties_t>(
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES);
  info.queue_groups = PRIMSET_ZE_ALL(ze, zeDeviceGetCommandQueueGroupProperties, group, device);
  return info;
}

std::optional<uint32_t> compute_group(const DeviceInfo& info) {
  for (uint32_t i = 0; i < info.queue_groups.size(); ++i) {
    const auto& group = info.queue_groups[i];
    if (group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE && group.numQueues > 0 &&
        group.maxMemoryFillPatternSize >= kLargestPattern)
      return i;
  }
  return std::nullopt;
}

primset_backend::SpirvKernelDevice describe(const DeviceInfo& info) {
  const auto& m = info.module;
  const auto& c = info.compute;
  primset_backend::SpirvKernelDevice d;
  d.name = info.device.name;
  d.memory_bytes = info.memory_bytes;
  d.f64 = m.flags & ZE_DEVICE_MODULE_FLAG_FP64;
  d.f16 = m.flags & ZE_DEVICE_MODULE_FLAG_FP16 && m.fp16flags & ZE_DEVICE_FP_FLAG_DENORM;
  d.i64_atomics = m.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
  d.f32_atomic_add = info.f32_atomics & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD;
  // Ballots and shuffles are in SPIR-V's core from 1.3 on.
  d.ballot_and_shuffle = m.spirvVersionSupported >= ZE_MAKE_VERSION(1, 3);
  d.subgroup_sizes.assign(c.subGroupSizes, c.subGroupSizes + c.numSubGroupSizes);
  d.keeps_f32_denormals = m.fp32flags & ZE_DEVICE_FP_FLAG_DENORM;
  d.exact_f32_division = divides_f32_exactly(info);
  d.fused_fma =
      m.fp32flags & ZE_DEVICE_FP_FLAG_FMA && (!d.f64 || m.fp64flags & ZE_DEVICE_FP_FLAG_FMA);
  d.compute_units = info.device.numSlices * info.device.numSubslicesPerSlice;
  d.max_group_threads = c.maxTotalGroupSize;
  d.group_memory = c.maxSharedLocalMemory;
  d.max_param_bytes = m.maxArgumentsSize;
  const uint32_t groups[3] = {c.maxGroupCountX, c.maxGroupCountY, c.maxGroupCountZ};
  for (int i = 0; i < 3; ++i) d.max_groups[i] = std::min(groups[i], 0x7fffffffu);
  return d;
}

// By itself the compiler divides as OpenCL C does, to 2.5 ulp, and addresses memory so that no
// buffer may have more than 4 GiB.
std::string build_options(const DeviceInfo& info) {
  std::string options;
  if (divides_f32_exactly(info)) options += "-ze-fp32-correctly-rounded-divide-sqrt ";
  if (info.memory_bytes > kStatefulLimit) options += "-ze-opt-greater-than-4GB-buffer-required";
  return options;
}

std::string cache_target(const DeviceInfo& info) {
  std::string target = build_options(info);
  char number[40];
  std::snprintf(number, sizeof(number), " %x %x %x ", info.driver_version, info.device.vendorId,
                info.device.deviceId);
  target += number;
  for (const uint8_t byte : info.device.uuid.id) {
    std::snprintf(number, sizeof(number), "%02x", byte);
    target += number;
  }
  return target;
}

}  // namespace primset_level_zero
