#include "backends/vulkan/device.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "backends/common/spirv_claims.h"
#include "backends/vulkan/claims.h"
#include "backends/vulkan/cooperative.h"
#include "backends/vulkan/statistics.h"

using primset_vulkan::check;
using primset_vulkan::PhysicalDevice;

namespace primset_vulkan {
namespace {

// The features that kernels or this back end use, where the device has them. All others stay off.
struct WantedFeatures {
  explicit WantedFeatures(const PhysicalDevice& device);
  WantedFeatures(const WantedFeatures&) = delete;

  VkPhysicalDeviceFeatures2 features{};
  VkPhysicalDeviceVulkan11Features v11{};
  VkPhysicalDeviceVulkan12Features v12{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics{};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics{};
  primset_vulkan::khr::CooperativeMatrixFeatures matrices;
  primset_vulkan::khr::ShaderBfloat16Features bfloat16;
  std::vector<const char*> extensions;

 private:
  // Behind what was wanted so far.
  template <typename Features>
  void extend(const char* extension, Features& of_extension);
};

template <typename Features>
void WantedFeatures::extend(const char* extension, Features& of_extension) {
  of_extension.pNext = v12.pNext;
  v12.pNext = &of_extension;
  extensions.push_back(extension);
}

WantedFeatures::WantedFeatures(const PhysicalDevice& device) {
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &v11;
  features.features.shaderFloat64 = device.features.shaderFloat64;
  features.features.shaderInt64 = device.features.shaderInt64;
  features.features.shaderInt16 = device.features.shaderInt16;

  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  v11.storageBuffer16BitAccess = device.features11.storageBuffer16BitAccess;

  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v12.storageBuffer8BitAccess = device.features12.storageBuffer8BitAccess;
  v12.shaderBufferInt64Atomics = device.features12.shaderBufferInt64Atomics;
  v12.shaderSharedInt64Atomics = device.features12.shaderSharedInt64Atomics;
  v12.shaderFloat16 = device.features12.shaderFloat16;
  v12.shaderInt8 = device.features12.shaderInt8;
  v12.shaderSubgroupExtendedTypes = device.features12.shaderSubgroupExtendedTypes;
  v12.timelineSemaphore = VK_TRUE;
  v12.bufferDeviceAddress = VK_TRUE;
  v12.vulkanMemoryModel = device.features12.vulkanMemoryModel;
  v12.vulkanMemoryModelDeviceScope = device.features12.vulkanMemoryModelDeviceScope;

  atomics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  atomics.shaderBufferFloat32AtomicAdd = VK_TRUE;
  if (device.atomic_float) extend(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, atomics);

  statistics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
  statistics.pipelineExecutableInfo = VK_TRUE;
  if (device.statistics && statistics_wanted())
    extend(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, statistics);

  matrices.cooperativeMatrix = VK_TRUE;
  if (device.cooperative_f16) extend(khr::kCooperativeMatrix, matrices);
  bfloat16.shaderBFloat16Type = bfloat16.shaderBFloat16CooperativeMatrix = VK_TRUE;
  if (device.cooperative_bf16) extend(khr::kShaderBfloat16, bfloat16);
}

uint64_t largest_heap(const VkPhysicalDeviceMemoryProperties& memory, VkMemoryHeapFlags wanted) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if ((memory.memoryHeaps[i].flags & wanted) == wanted)
      bytes = std::max(bytes, memory.memoryHeaps[i].size);
  return bytes;
}

// Memory types worth trying for a use, the best first.
std::vector<VkMemoryPropertyFlags> preferences(MemoryUse use) {
  constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                  kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  switch (use) {
    case MemoryUse::device:  // where CPU and device share memory, the CPU can reach all of it
      return {kLocal | kHost | kCached, kLocal, 0};
    case MemoryUse::upload:
      return {kHost};
    case MemoryUse::readback:
      return {kHost | kCached, kHost};
  }
  return {};
}

VkBuffer create_buffer(const primset_device_t& device, uint64_t bytes) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  check(device.vk.vkCreateBuffer(device.handle, &info, nullptr, &buffer), "vkCreateBuffer");
  return buffer;
}

// Allocates from the first type that fits and has room; gives its flags.
VkMemoryPropertyFlags allocate_memory(const primset_device_t& device, MemoryUse use,
                                      const VkMemoryRequirements& needs, VkDeviceMemory& out) {
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = needs.size;
  const VkPhysicalDeviceMemoryProperties& memory = device.physical.memory;
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (VkMemoryPropertyFlags wanted : preferences(use)) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags has = memory.memoryTypes[i].propertyFlags;
      if ((has & wanted) != wanted || !(needs.memoryTypeBits & (1u << i))) continue;
      if (needs.size > memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size) continue;
      info.memoryTypeIndex = i;
      result = device.vk.vkAllocateMemory(device.handle, &info, nullptr, &out);
      if (result == VK_SUCCESS) return has;
    }
  }
  kResults.fail(result, "vkAllocateMemory");
}

// PRIMSET_VULKAN_STAGING=1: device memory counts as out of the CPU's reach, as on a card of its
// own. For tests of staging on machines without one.
bool staging_only() {
  static const bool wanted = [] {
    const char* value = std::getenv("PRIMSET_VULKAN_STAGING");
    return value && *value && std::strcmp(value, "0") != 0;
  }();
  return wanted;
}

void map(const primset_device_t& device, VkMemoryPropertyFlags has, Memory& memory) {
  const VkMemoryPropertyFlags needed =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  if ((has & needed) != needed) return;
  void* mapped = nullptr;
  check(device.vk.vkMapMemory(device.handle, memory.memory, 0, VK_WHOLE_SIZE, 0, &mapped),
        "vkMapMemory");
  memory.mapped = static_cast<char*>(mapped);
  memory.cached = (has & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
}

}  // namespace
}  // namespace primset_vulkan

using namespace primset_vulkan;

primset_device_t::primset_device_t(std::shared_ptr<Instance> instance_, uint32_t index)
    : instance(std::move(instance_)), physical(instance->devices().at(index)) {
  create();
}

void primset_device_t::create() {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = physical.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const WantedFeatures wanted(physical);
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &wanted.features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(wanted.extensions.size());
  info.ppEnabledExtensionNames = wanted.extensions.data();
  check(instance->vk().vkCreateDevice(physical.handle, &info, nullptr, &handle), "vkCreateDevice");
  vk.load(instance->vk(), handle);
  vk.vkGetDeviceQueue(handle, physical.queue_family, 0, &queue_);
  pipelines = std::make_unique<PipelineCache>(vk, handle, physical, instance->host());
  timelines = std::make_unique<TimelinePool>(this);
}

primset_device_t::~primset_device_t() {
  vk.vkDeviceWaitIdle(handle);
  timelines.reset();
  pipelines.reset();
  vk.vkDestroyDevice(handle, nullptr);
}

bool primset_device_t::captures_statistics() const {
  return physical.statistics && statistics_wanted();
}

primset_device_properties primset_device_t::properties() const {
  primset_device_properties p{};
  p.kernel_format = PRIMSET_FORMAT_SPIRV_VULKAN;
  std::snprintf(p.name, sizeof(p.name), "%s", physical.name.c_str());
  p.memory_bytes = largest_heap(physical.memory, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
  p.features = kernel_features(physical);
  p.dtypes = primset_backend::spirv_dtypes(p.features);
  p.numerics = numerics(physical);
  p.keep_nan_widths = physical.keep_nan_widths;
  p.round_even_widths = physical.round_even_widths;
  p.keep_denorm_widths = physical.keep_denorm_widths;
  p.memory_alignment = kMemoryAlignment;
  p.max_param_bytes = kMaxParamBytes;
  p.threads = 1;
  const VkPhysicalDeviceLimits& limits = physical.limits;
  p.max_group_threads = limits.maxComputeWorkGroupInvocations;
  // On a CPU a smaller group costs less at barriers and spreads better over cores.
  const uint32_t usual = physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 64u : 256u;
  p.group_threads =
      std::bit_floor(std::min({usual, p.max_group_threads, limits.maxComputeWorkGroupSize[0]}));
  p.group_memory = limits.maxComputeSharedMemorySize;
  p.min_subgroup = std::max(1u, physical.min_subgroup);
  p.max_subgroup = std::max(p.min_subgroup, physical.max_subgroup);
  std::copy_n(limits.maxComputeWorkGroupCount, 3, p.max_groups);
  // llvmpipe leaves every loop after so many rounds, whatever the loop says.
  p.loop_limit = physical.driver == VK_DRIVER_ID_MESA_LLVMPIPE ? 65535 : 0;
  return p;
}

// maxMemoryAllocationSize is what always works, not a limit: NVIDIA's driver names 4 GiB and gives
// more.
Memory primset_device_t::allocate(uint64_t bytes, MemoryUse use) {
  const VkMemoryHeapFlags of = use == MemoryUse::device ? VK_MEMORY_HEAP_DEVICE_LOCAL_BIT : 0;
  primset_backend::check_allocation(bytes, largest_heap(physical.memory, of));
  Memory memory;
  try {
    memory.buffer = create_buffer(*this, bytes + kMemoryAlignment);
    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(handle, memory.buffer, &needs);
    const VkMemoryPropertyFlags has = allocate_memory(*this, use, needs, memory.memory);
    check(vk.vkBindBufferMemory(handle, memory.buffer, memory.memory, 0), "vkBindBufferMemory");
    VkBufferDeviceAddressInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    info.buffer = memory.buffer;
    const uint64_t first = vk.vkGetBufferDeviceAddress(handle, &info);
    memory.address = (first + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    memory.base = memory.address - first;
    if (use != MemoryUse::device || !staging_only()) map(*this, has, memory);
    if (memory.mapped) memory.mapped += memory.base;
    return memory;
  } catch (...) {
    free(memory);
    throw;
  }
}

void primset_device_t::free(Memory& memory) noexcept {
  if (memory.buffer) vk.vkDestroyBuffer(handle, memory.buffer, nullptr);
  if (memory.memory) vk.vkFreeMemory(handle, memory.memory, nullptr);
  memory = {};
}

// Of the type that the host reads fast, since copies go both ways.
char* primset_device_t::allocate_on_host(uint64_t bytes) {
  Memory memory = allocate(bytes, MemoryUse::readback);
  const std::lock_guard lock(on_host_mutex_);
  return on_host_.emplace(memory.mapped, memory).first->second.mapped;
}

void primset_device_t::free_on_host(char* address) noexcept {
  const std::lock_guard lock(on_host_mutex_);
  auto found = on_host_.extract(address);
  if (found) free(found.mapped());
}

HostPlace primset_device_t::host_place(const char* within) {
  const std::lock_guard lock(on_host_mutex_);
  auto after = on_host_.upper_bound(within);
  if (after == on_host_.begin())
    throw primset_backend::BackendError(PRIMSET_INVALID_ARGUMENT,
                                        "the host's memory is not of pinned_memory.alloc");
  const Memory& memory = std::prev(after)->second;
  return {memory.buffer, memory.base + static_cast<uint64_t>(within - memory.mapped)};
}

void primset_device_t::submit(const VkSubmitInfo& info) {
  const std::lock_guard lock(queue_mutex_);
  check(vk.vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}
