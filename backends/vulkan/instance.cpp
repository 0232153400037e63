#include "backends/vulkan/instance.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "backends/vulkan/cooperative.h"
#include "backends/vulkan/errors.h"

namespace primset_vulkan {

bool has_extension(const InstanceFunctions& vk, VkPhysicalDevice device, const char* name) {
  uint32_t count = 0;
  vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  for (const VkExtensionProperties& extension : extensions)
    if (std::strcmp(extension.extensionName, name) == 0) return true;
  return false;
}

namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool validation_wanted() {
  const char* value = std::getenv("PRIMSET_VULKAN_VALIDATION");
  return value && *value && std::strcmp(value, "0") != 0;
}

bool has_layer(const GlobalFunctions& vk, const char* name) {
  uint32_t count = 0;
  check(vk.vkEnumerateInstanceLayerProperties(&count, nullptr),
        "vkEnumerateInstanceLayerProperties");
  std::vector<VkLayerProperties> layers(count);
  check(vk.vkEnumerateInstanceLayerProperties(&count, layers.data()),
        "vkEnumerateInstanceLayerProperties");
  for (const VkLayerProperties& layer : layers)
    if (std::strcmp(layer.layerName, name) == 0) return true;
  return false;
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* user) {
  const auto* host = static_cast<const primset_host*>(user);
  const bool error = (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0;
  log(host, error ? PRIMSET_LOG_ERROR : PRIMSET_LOG_WARNING,
      std::string("vulkan validation: ") + (data->pMessage ? data->pMessage : ""));
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(const primset_host* host) {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType =
      VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  info.pUserData = const_cast<primset_host*>(host);
  return info;
}

// The first family with a compute queue: it also copies.
bool find_queue_family(const InstanceFunctions& vk, PhysicalDevice& device) {
  uint32_t count = 0;
  vk.vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
    device.queue_family = i;
    return true;
  }
  return false;
}

void read_features(const InstanceFunctions& vk, PhysicalDevice& device) {
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics{};
  atomics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  const bool has_atomics =
      has_extension(vk, device.handle, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  device.statistics =
      has_extension(vk, device.handle, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  device.features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  device.features12.pNext = has_atomics ? &atomics : nullptr;
  device.features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  device.features11.pNext = &device.features12;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &device.features11;
  vk.vkGetPhysicalDeviceFeatures2(device.handle, &features);
  device.features = features.features;
  device.features11.pNext = device.features12.pNext = nullptr;
  device.atomic_float = atomics.shaderBufferFloat32AtomicAdd;
}

// The widths that have a mode. Where some widths must share one, those are left out unless all of
// them have it: a kernel states modes for the widths that it uses.
uint32_t widths(VkBool32 has16, VkBool32 has32, VkBool32 has64,
                VkShaderFloatControlsIndependence independence) {
  const uint32_t all = (has16 ? 16 : 0) | (has32 ? 32 : 0) | (has64 ? 64 : 0);
  switch (independence) {
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL:
      return all;
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY:
      return has16 == has64 ? all : all & 32;
    default:
      return all == (16 | 32 | 64) ? all : 0;
  }
}

void read_float_controls(const VkPhysicalDeviceVulkan12Properties& p, PhysicalDevice& device) {
  device.keep_nan_widths =
      widths(p.shaderSignedZeroInfNanPreserveFloat16, p.shaderSignedZeroInfNanPreserveFloat32,
             p.shaderSignedZeroInfNanPreserveFloat64, VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL);
  device.round_even_widths = widths(p.shaderRoundingModeRTEFloat16, p.shaderRoundingModeRTEFloat32,
                                    p.shaderRoundingModeRTEFloat64, p.roundingModeIndependence);
  device.keep_denorm_widths = widths(p.shaderDenormPreserveFloat16, p.shaderDenormPreserveFloat32,
                                     p.shaderDenormPreserveFloat64, p.denormBehaviorIndependence);
}

void read_properties(const InstanceFunctions& vk, PhysicalDevice& device) {
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  const bool has_sizes =
      has_extension(vk, device.handle, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  VkPhysicalDeviceVulkan12Properties p12{};
  p12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  p12.pNext = has_sizes ? &sizes : nullptr;
  VkPhysicalDeviceVulkan11Properties p11{};
  p11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  p11.pNext = &p12;
  VkPhysicalDeviceProperties2 p{};
  p.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  p.pNext = &p11;
  vk.vkGetPhysicalDeviceProperties2(device.handle, &p);
  vk.vkGetPhysicalDeviceMemoryProperties(device.handle, &device.memory);

  device.limits = p.properties.limits;
  device.type = p.properties.deviceType;
  device.name = p.properties.deviceName;
  device.vendor_id = p.properties.vendorID;
  device.device_id = p.properties.deviceID;
  std::memcpy(device.cache_uuid, p.properties.pipelineCacheUUID, VK_UUID_SIZE);
  device.driver = p12.driverID;
  read_float_controls(p12, device);
  device.min_subgroup = has_sizes ? sizes.minSubgroupSize : p11.subgroupSize;
  device.max_subgroup = has_sizes ? sizes.maxSubgroupSize : p11.subgroupSize;
  constexpr VkSubgroupFeatureFlags kBallot =
      VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  device.subgroup_ballot = (p11.subgroupSupportedOperations & kBallot) == kBallot &&
                           (p11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
}

VkApplicationInfo application() {
  VkApplicationInfo app{};
  app.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  app.pApplicationName = "primset";
  app.apiVersion = VK_API_VERSION_1_2;
  return app;
}

// The loader unloads drivers with the last instance, and NVIDIA's comes up no more than about
// thirty times in a process. So one instance stays for good (and the plugin's file: -z nodelete).
void keep_drivers_loaded(const GlobalFunctions& vk) {
  static std::once_flag once;
  std::call_once(once, [&] {
    const VkApplicationInfo app = application();
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &app;
    VkInstance kept = VK_NULL_HANDLE;
    vk.vkCreateInstance(&info, nullptr, &kept);  // where it fails, the next one does and says so
  });
}

// Kernels take addresses as 64-bit integers; streams are timeline semaphores. Without these a
// device is not listed.
bool usable(const InstanceFunctions& vk, PhysicalDevice& device) {
  VkPhysicalDeviceProperties2 p{};
  p.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  vk.vkGetPhysicalDeviceProperties2(device.handle, &p);
  if (p.properties.apiVersion < VK_API_VERSION_1_2) return false;
  read_features(vk, device);
  return device.features12.bufferDeviceAddress && device.features12.timelineSemaphore &&
         device.features.shaderInt64 && find_queue_family(vk, device);
}

}  // namespace

Instance::Instance(const primset_host* host) : DeviceList(host, "vulkan") {
  if (!global_.load()) {
    tell("no libvulkan.so.1 (1.1 or newer); no devices");
    return;
  }
  bool validation = validation_wanted();
  if (validation && !has_layer(global_, kValidationLayer)) {
    log(host, PRIMSET_LOG_WARNING,
        std::string("vulkan: PRIMSET_VULKAN_VALIDATION is set but there is no ") +
            kValidationLayer);
    validation = false;
  }
  create(validation);
  if (instance_) find_devices();
}

Instance::~Instance() {
  if (messenger_) vk_.vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  if (instance_) vk_.vkDestroyInstance(instance_, nullptr);
}

// Without a driver there is no instance and so no device, which is no error.
void Instance::create(bool validation) {
  keep_drivers_loaded(global_);
  const VkApplicationInfo app = application();
  VkDebugUtilsMessengerCreateInfoEXT messages = messenger_info(host());
  const VkValidationFeatureEnableEXT enable[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features{};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.pNext = &messages;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = enable;
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &app;
  if (validation) {
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  const VkResult result = global_.vkCreateInstance(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    instance_ = VK_NULL_HANDLE;
    tell("no driver on this machine; no devices");
    return;
  }
  check(result, "vkCreateInstance");
  vk_.load(global_, instance_);
  if (validation && vk_.vkCreateDebugUtilsMessengerEXT)
    check(vk_.vkCreateDebugUtilsMessengerEXT(instance_, &messages, nullptr, &messenger_),
          "vkCreateDebugUtilsMessengerEXT");
}

void Instance::find_devices() {
  uint32_t count = 0;
  const VkResult result = vk_.vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  if (result == VK_ERROR_INITIALIZATION_FAILED)
    count = 0;  // drivers without hardware say so
  else
    check(result, "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> handles(count);
  if (count > 0)
    check(vk_.vkEnumeratePhysicalDevices(instance_, &count, handles.data()),
          "vkEnumeratePhysicalDevices");
  handles.resize(count);
  for (VkPhysicalDevice handle : handles) {
    PhysicalDevice device;
    device.handle = handle;
    if (!usable(vk_, device)) continue;
    read_properties(vk_, device);
    read_cooperative(vk_, global_.vkGetInstanceProcAddr, instance_, device);
    devices_.push_back(std::move(device));
  }
}

}  // namespace primset_vulkan
