#include "codegen/emit/spirv/testing/vulkan_harness.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <vulkan/vulkan.h>
#include <spirv-tools/libspirv.hpp>

#include "codegen/emit/spirv/spirv.h"
#include "codegen/kernel/verifier/verifier.h"

namespace primset::emit::testing {

namespace {

constexpr VkBufferUsageFlags kUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
constexpr uint32_t kMaxPush = kMaxPushConstantBytes;

void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) {
    throw std::runtime_error(std::string(what) + ": VkResult " + std::to_string(result));
  }
}

// What a driver leaks is known by the driver's name (sdk/cmake/leaks.txt), which a library that was
// unloaded has no more.
void keep_drivers_loaded() {
  std::vector<std::string> drivers;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* found) {
        if (std::string_view(library->dlpi_name).find("libvulkan_") != std::string_view::npos)
          static_cast<std::vector<std::string>*>(found)->emplace_back(library->dlpi_name);
        return 0;
      },
      &drivers);
  for (const std::string& driver : drivers)
    dlopen(driver.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

constexpr const char* kAtomicFloat = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME;

bool has_device_extension(VkPhysicalDevice device, std::string_view name) {
  uint32_t n = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &n, nullptr);
  std::vector<VkExtensionProperties> all(n);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &n, all.data());
  return std::ranges::any_of(all, [&](const auto& e) { return name == e.extensionName; });
}

class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Tests run on the software driver where no other is asked for: what they check then is the same on
// every machine.
void prefer_lavapipe() {
  constexpr const char* kIcd = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
  if (std::filesystem::exists(kIcd)) {
    setenv("VK_DRIVER_FILES", kIcd, 0);
    setenv("VK_ICD_FILENAMES", kIcd, 0);
  }
}

}  // namespace

struct VulkanHarness::Handles {
  struct Allocation {
    VkBuffer buffer;
    VkDeviceMemory memory;
  };
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  uint32_t memory_type = 0;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::vector<Allocation> buffers;

  void create_instance();
  bool pick_device();
  // Returns whether atomic addition of f32 was there to be enabled.
  bool create_device();
};

VulkanHarness* VulkanHarness::get() {
  static const std::unique_ptr<VulkanHarness> harness = [] {
    prefer_lavapipe();
    std::unique_ptr<VulkanHarness> h(new VulkanHarness);
    if (!h->open()) h.reset();
    return h;
  }();
  return harness.get();
}

VulkanHarness::VulkanHarness() : h_(std::make_unique<Handles>()) {}

VulkanHarness::~VulkanHarness() {
  if (h_->device != VK_NULL_HANDLE) {
    free_buffers();
    vkDestroyPipelineLayout(h_->device, h_->layout, nullptr);
    vkDestroyCommandPool(h_->device, h_->pool, nullptr);
    vkDestroyDevice(h_->device, nullptr);
  }
  if (h_->instance != VK_NULL_HANDLE) vkDestroyInstance(h_->instance, nullptr);
}

void VulkanHarness::Handles::create_instance() {
  VkApplicationInfo app{};
  app.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  app.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &app;
  const VkResult result = vkCreateInstance(&info, nullptr, &instance);
  if (result != VK_SUCCESS) instance = VK_NULL_HANDLE;
}

bool VulkanHarness::Handles::pick_device() {
  uint32_t n = 0;
  vkEnumeratePhysicalDevices(instance, &n, nullptr);
  std::vector<VkPhysicalDevice> all(n);
  vkEnumeratePhysicalDevices(instance, &n, all.data());
  keep_drivers_loaded();
  const char* wanted = std::getenv("PRIMSET_TEST_VULKAN_DEVICE");
  const size_t first = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 0;
  for (size_t i = first; i < all.size(); ++i) {
    VkPhysicalDeviceVulkan12Features f12{};
    f12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    VkPhysicalDeviceFeatures2 f{};
    f.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f.pNext = &f12;
    vkGetPhysicalDeviceFeatures2(all[i], &f);
    if (f12.bufferDeviceAddress && f.features.shaderInt64) {
      physical = all[i];
      return true;
    }
  }
  return false;
}

bool VulkanHarness::Handles::create_device() {
  // Everything the device has.
  VkPhysicalDeviceVulkan12Features f12{};
  f12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceVulkan11Features f11{};
  f11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  f11.pNext = &f12;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float{};
  atomic_float.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  const bool has_extension = has_device_extension(physical, kAtomicFloat);
  if (has_extension) f12.pNext = &atomic_float;
  VkPhysicalDeviceFeatures2 f{};
  f.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  f.pNext = &f11;
  vkGetPhysicalDeviceFeatures2(physical, &f);
  f12.bufferDeviceAddressCaptureReplay = VK_FALSE;
  f12.bufferDeviceAddressMultiDevice = VK_FALSE;

  uint32_t n = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, nullptr);
  std::vector<VkQueueFamilyProperties> families(n);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, families.data());
  while (family < n && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;

  const float priority = 1;
  VkDeviceQueueCreateInfo queue_info{};
  queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue_info.queueFamilyIndex = family;
  queue_info.queueCount = 1;
  queue_info.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &f;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue_info;
  info.enabledExtensionCount = has_extension ? 1 : 0;
  info.ppEnabledExtensionNames = &kAtomicFloat;
  check(vkCreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  vkGetDeviceQueue(device, family, 0, &queue);

  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.queueFamilyIndex = family;
  check(vkCreateCommandPool(device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, kMaxPush};
  VkPipelineLayoutCreateInfo layout_info{};
  layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout_info.pushConstantRangeCount = 1;
  layout_info.pPushConstantRanges = &range;
  check(vkCreatePipelineLayout(device, &layout_info, nullptr, &layout), "vkCreatePipelineLayout");

  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  constexpr VkMemoryPropertyFlags kWanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  while ((memory.memoryTypes[memory_type].propertyFlags & kWanted) != kWanted) ++memory_type;
  return has_extension && atomic_float.shaderBufferFloat32AtomicAdd;
}

bool VulkanHarness::open() {
  h_->create_instance();
  if (h_->instance == VK_NULL_HANDLE || !h_->pick_device()) return false;
  has_float_atomic_add_ = h_->create_device();
  read_properties();
  return true;
}

void VulkanHarness::read_properties() {
  VkPhysicalDeviceFloatControlsProperties floats{};
  floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  VkPhysicalDeviceSubgroupProperties subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  subgroup.pNext = &floats;
  VkPhysicalDeviceProperties2 p{};
  p.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  p.pNext = &subgroup;
  vkGetPhysicalDeviceProperties2(h_->physical, &p);
  device_name_ = p.properties.deviceName;
  target_.format = kir::Format::spirv_vulkan;
  target_.simt = true;
  target_.f16 = true;
  // What vulkan_numerics_test.cpp found.
  target_.loop_limit = is_lavapipe() ? 65535 : 0;
  target_.fused_fma = !is_lavapipe();
  target_.min_subgroup = target_.max_subgroup = subgroup.subgroupSize;
  target_.subgroup_ballot = (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0 &&
                            (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
  target_.group_memory = p.properties.limits.maxComputeSharedMemorySize;
  const auto widths = [](VkBool32 w16, VkBool32 w32, VkBool32 w64) {
    return static_cast<uint8_t>((w16 ? 16 : 0) | (w32 ? 32 : 0) | (w64 ? 64 : 0));
  };
  target_.float_controls_nan = widths(floats.shaderSignedZeroInfNanPreserveFloat16,
                                      floats.shaderSignedZeroInfNanPreserveFloat32,
                                      floats.shaderSignedZeroInfNanPreserveFloat64);
  target_.float_controls_rte =
      widths(floats.shaderRoundingModeRTEFloat16, floats.shaderRoundingModeRTEFloat32,
             floats.shaderRoundingModeRTEFloat64);
  target_.float_controls_denorm =
      widths(floats.shaderDenormPreserveFloat16, floats.shaderDenormPreserveFloat32,
             floats.shaderDenormPreserveFloat64);
}

VulkanHarness::Buffer VulkanHarness::buffer(size_t size) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = (size + 63) / 64 * 64 + 64;
  info.usage = kUsage;
  Handles::Allocation a{};
  check(vkCreateBuffer(h_->device, &info, nullptr, &a.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(h_->device, a.buffer, &needs);
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = h_->memory_type;
  check(vkAllocateMemory(h_->device, &allocate, nullptr, &a.memory), "vkAllocateMemory");
  check(vkBindBufferMemory(h_->device, a.buffer, a.memory, 0), "vkBindBufferMemory");
  h_->buffers.push_back(a);

  void* mapped = nullptr;
  check(vkMapMemory(h_->device, a.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  std::memset(mapped, 0, size);
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = a.buffer;
  return {vkGetBufferDeviceAddress(h_->device, &address), {static_cast<std::byte*>(mapped), size}};
}

void VulkanHarness::free_buffers() {
  for (const Handles::Allocation& a : h_->buffers) {
    vkDestroyBuffer(h_->device, a.buffer, nullptr);
    vkFreeMemory(h_->device, a.memory, nullptr);
  }
  h_->buffers.clear();
}

void VulkanHarness::launch(const kir::Kernel& kernel, std::span<const uint64_t> args,
                           std::array<uint32_t, 3> groups) {
  launch(kernel, target_, args, groups);
}

void VulkanHarness::launch(const kir::Kernel& kernel, const kir::TargetModel& target,
                           std::span<const uint64_t> args, std::array<uint32_t, 3> groups) {
  if (!skip_verifier_) kir::verify_or_throw(kernel, target);
  const Stopwatch emitting;
  const std::vector<uint32_t> words = emit_spirv(kernel, target);
  timing_.emit_ms = emitting.ms();
  if (const std::string problems = validate_spirv(words, target.format); !problems.empty()) {
    throw std::runtime_error("spirv-val: " + problems + disassemble_spirv(words));
  }
  const kir::ParamLayout layout = kir::param_layout(kernel.params);
  if (args.size() != layout.offsets.size()) throw std::runtime_error("launch: wrong arguments");
  std::vector<std::byte> block(layout.size);
  for (size_t i = 0; i < args.size(); ++i) {
    std::memcpy(block.data() + layout.offsets[i], &args[i],
                static_cast<size_t>(kir::bytes(kernel.params[i].type)));
  }
  if (!params_in_push_constants(layout)) {
    const Buffer b = buffer_of(std::span<const std::byte>(block));
    block.resize(sizeof(uint64_t));
    std::memcpy(block.data(), &b.address, sizeof(uint64_t));
  }
  dispatch(words, kernel.name, block, groups);
}

void VulkanHarness::dispatch(const std::vector<uint32_t>& words, const std::string& entry,
                             std::span<const std::byte> push, std::array<uint32_t, 3> groups) {
  VkShaderModuleCreateInfo module_info{};
  module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_info.codeSize = words.size() * sizeof(uint32_t);
  module_info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(h_->device, &module_info, nullptr, &module), "vkCreateShaderModule");
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = entry.c_str();
  info.layout = h_->layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const Stopwatch creating;
  check(vkCreateComputePipelines(h_->device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        "vkCreateComputePipelines");
  timing_.pipeline_ms = creating.ms();

  VkCommandBufferAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocate.commandPool = h_->pool;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(h_->device, &allocate, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  if (!push.empty()) {
    vkCmdPushConstants(commands, h_->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       static_cast<uint32_t>(push.size()), push.data());
  }
  vkCmdDispatch(commands, groups[0], groups[1], groups[2]);
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  const Stopwatch running;
  check(vkQueueSubmit(h_->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(h_->queue), "vkQueueWaitIdle");
  timing_.run_ms = running.ms();
  vkFreeCommandBuffers(h_->device, h_->pool, 1, &commands);
  vkDestroyPipeline(h_->device, pipeline, nullptr);
  vkDestroyShaderModule(h_->device, module, nullptr);
}

std::string validate_spirv(std::span<const uint32_t> words, kir::Format format) {
  // SPIRV-Tools' environments for OpenCL end at SPIR-V 1.2 and know no extensions of OpenCL;
  // subgroup shuffles are 1.3, and f16 is an extension.
  const spv_target_env env =
      format == kir::Format::spirv_vulkan ? SPV_ENV_VULKAN_1_2 : SPV_ENV_UNIVERSAL_1_3;
  spvtools::SpirvTools tools(env);
  std::string problems;
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
        problems += "word " + std::to_string(at.index) + ": " + message + "\n";
      });
  if (!tools.Validate(words.data(), words.size()) && problems.empty()) problems = "not valid";
  return problems;
}

}  // namespace primset::emit::testing
