#include "backends/vulkan/statistics.h"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace primset_vulkan {
namespace {

std::string text_of(const VkPipelineExecutableStatisticKHR& s) {
  switch (s.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      return s.value.b32 ? "yes" : "no";
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return std::to_string(s.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return std::to_string(s.value.u64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
      return std::to_string(s.value.f64);
    default:
      return "?";
  }
}

std::vector<VkPipelineExecutableStatisticKHR> statistics(const DeviceFunctions& vk, VkDevice device,
                                                         VkPipeline pipeline, uint32_t index) {
  VkPipelineExecutableInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR;
  info.pipeline = pipeline;
  info.executableIndex = index;
  uint32_t count = 0;
  vk.vkGetPipelineExecutableStatisticsKHR(device, &info, &count, nullptr);
  VkPipelineExecutableStatisticKHR empty{};
  empty.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  std::vector<VkPipelineExecutableStatisticKHR> out(count, empty);
  const VkResult result =
      vk.vkGetPipelineExecutableStatisticsKHR(device, &info, &count, out.data());
  out.resize(result < 0 ? 0 : count);
  return out;
}

}  // namespace

bool statistics_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("PRIMSET_VULKAN_STATISTICS");
    return value && *value && std::strcmp(value, "0") != 0;
  }();
  return wanted;
}

std::string statistics_of(const DeviceFunctions& vk, VkDevice device, VkPipeline pipeline) {
  VkPipelineInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR;
  info.pipeline = pipeline;
  uint32_t count = 0;
  if (vk.vkGetPipelineExecutablePropertiesKHR(device, &info, &count, nullptr) < 0) return {};
  std::string text;
  for (uint32_t i = 0; i < count; ++i)
    for (const VkPipelineExecutableStatisticKHR& s : statistics(vk, device, pipeline, i))
      text += (text.empty() ? "" : ", ") + std::string(s.name) + " " + text_of(s);
  return text;
}

}  // namespace primset_vulkan
