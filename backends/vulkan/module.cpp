#include "backends/vulkan/module.h"

#include <cstring>
#include <string_view>

#include "backends/vulkan/statistics.h"
#include "backends/vulkan/stream.h"

namespace primset_vulkan {
namespace {

VkPipelineLayout create_layout(const primset_device_t& device, uint32_t param_bytes) {
  const uint32_t pushed = param_bytes <= kMaxPushBytes ? param_bytes : 8;
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushed};
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.pushConstantRangeCount = pushed > 0 ? 1 : 0;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  check(device.vk.vkCreatePipelineLayout(device.handle, &info, nullptr, &layout),
        "vkCreatePipelineLayout");
  return layout;
}

VkPipeline create_pipeline(const primset_device_t& device, const primset_module_desc& desc,
                           VkPipelineLayout layout) {
  const std::string_view spirv = primset_backend::spirv_of(desc);
  VkShaderModuleCreateInfo shader_info{};
  shader_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  shader_info.codeSize = spirv.size();
  shader_info.pCode = static_cast<const uint32_t*>(desc.data);
  VkShaderModule shader = VK_NULL_HANDLE;
  VkResult result = device.vk.vkCreateShaderModule(device.handle, &shader_info, nullptr, &shader);
  if (result < 0) kResults.refuse_module(result, "vkCreateShaderModule");
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader;
  info.stage.pName = desc.entry;
  info.layout = layout;
  if (device.captures_statistics()) info.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkPipeline pipeline = VK_NULL_HANDLE;
  result = device.pipelines->create(info, spirv, &pipeline);
  device.vk.vkDestroyShaderModule(device.handle, shader, nullptr);
  if (result < 0) kResults.refuse_module(result, "vkCreateComputePipelines");
  return pipeline;
}

void log_statistics(const primset_device_t& device, const primset_module_desc& desc,
                    VkPipeline pipeline) {
  primset_backend::log(device.instance->host(), PRIMSET_LOG_INFO,
                       "vulkan: kernel " + std::string(desc.entry) + ": " +
                           statistics_of(device.vk, device.handle, pipeline));
}

}  // namespace
}  // namespace primset_vulkan

using namespace primset_vulkan;

primset_kernel_t::primset_kernel_t(primset_device_t& device, const primset_module_desc& desc)
    : shape(desc), device_(device), layout_(create_layout(device_, desc.param_bytes)) {
  try {
    pipeline_ = create_pipeline(device_, desc, layout_);
    if (device_.captures_statistics()) log_statistics(device_, desc, pipeline_);
  } catch (...) {
    device_.vk.vkDestroyPipelineLayout(device_.handle, layout_, nullptr);
    throw;
  }
}

primset_kernel_t::~primset_kernel_t() {
  device_.vk.vkDestroyPipeline(device_.handle, pipeline_, nullptr);
  device_.vk.vkDestroyPipelineLayout(device_.handle, layout_, nullptr);
}

void primset_kernel_t::launch(primset_stream_t& stream, const primset_launch& launch) const {
  unsigned char params[kMaxParamBytes];
  primset_backend::build_params(shape, launch, params);
  uint32_t pushed = shape.param_bytes;
  if (pushed > kMaxPushBytes) {
    // Before record(): taking a piece may have to submit what is recorded so far.
    const primset_stream_t::Piece piece = stream.upload(pushed);
    std::memcpy(piece.mapped, params, pushed);
    std::memcpy(params, &piece.address, 8);
    pushed = 8;
  }
  const DeviceFunctions& vk = device_.vk;
  const VkCommandBuffer commands =
      stream.record(primset_stream_t::Work::launch, !(launch.flags & PRIMSET_LAUNCH_INDEPENDENT));
  stream.bind(pipeline_);
  if (pushed > 0)
    vk.vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushed, params);
  vk.vkCmdDispatch(commands, launch.groups[0], launch.groups[1], launch.groups[2]);
  stream.recorded();
}
