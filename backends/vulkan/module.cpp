#include "backends/vulkan/module.h"

#include <cstring>

#include "backends/common/spirv_module.h"
#include "backends/vulkan/statistics.h"
#include "backends/vulkan/stream.h"
#include "backends/vulkan/transfer.h"

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
  VkShaderModuleCreateInfo shader_info{};
  shader_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  shader_info.codeSize = desc.size;
  shader_info.pCode = static_cast<const uint32_t*>(desc.data);
  VkShaderModule shader = VK_NULL_HANDLE;
  VkResult result = device.vk.vkCreateShaderModule(device.handle, &shader_info, nullptr, &shader);
  // Whatever the driver's reason, the module is what was refused.
  if (result < 0)
    throw VulkanError(PRIMSET_LOAD_FAILED, "vkCreateShaderModule: " + result_name(result));
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader;
  info.stage.pName = desc.entry;
  info.layout = layout;
  if (device.captures_statistics()) info.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkPipeline pipeline = VK_NULL_HANDLE;
  result = device.pipelines->create(info, primset_backend::spirv_of(desc), &pipeline);
  device.vk.vkDestroyShaderModule(device.handle, shader, nullptr);
  if (result < 0 && status_code(result) == PRIMSET_INTERNAL)
    throw VulkanError(PRIMSET_LOAD_FAILED, "vkCreateComputePipelines: " + result_name(result));
  check(result, "vkCreateComputePipelines");
  return pipeline;
}

void log_statistics(const primset_device_t& device, const primset_module_desc& desc,
                    VkPipeline pipeline) {
  primset_backend::log(device.instance->host(), PRIMSET_LOG_INFO,
                       "vulkan: kernel " + std::string(desc.entry) + ": " +
                           statistics_of(device.vk, device.handle, pipeline));
}

void record_launch(primset_stream_t& stream, const primset_launch& launch) {
  const primset_kernel_t& kernel = *launch.kernel;
  unsigned char params[kMaxParamBytes];
  primset_backend::build_params(
      kernel.shape, launch, [](primset_buffer buffer) { return buffer->memory.address; }, params);
  uint32_t pushed = kernel.shape.param_bytes;
  if (pushed > kMaxPushBytes) {
    // Before record(): taking a piece may have to submit what is recorded so far.
    const primset_stream_t::Piece piece = stream.upload(pushed);
    std::memcpy(piece.mapped, params, pushed);
    std::memcpy(params, &piece.address, 8);
    pushed = 8;
  }
  const DeviceFunctions& vk = stream.device->vk;
  const VkCommandBuffer commands =
      stream.record(primset_stream_t::Work::launch, !(launch.flags & PRIMSET_LAUNCH_INDEPENDENT));
  stream.bind(kernel.pipeline);
  if (pushed > 0)
    vk.vkCmdPushConstants(commands, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushed, params);
  vk.vkCmdDispatch(commands, launch.groups[0], launch.groups[1], launch.groups[2]);
  stream.recorded();
}

}  // namespace

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module) {
  *out_module = nullptr;
  return guarded("module_load", [&] {
    primset_device_properties properties{};
    device->properties(properties);
    const primset_backend::ParamShape shape = primset_backend::check_module(*desc, properties);
    primset_backend::check_spirv(*desc);
    auto module = std::make_unique<primset_module_t>();
    primset_kernel_t& kernel = module->kernel;
    kernel.shape = shape;
    kernel.layout = create_layout(*device, desc->param_bytes);
    try {
      kernel.pipeline = create_pipeline(*device, *desc, kernel.layout);
      if (device->captures_statistics()) log_statistics(*device, *desc, kernel.pipeline);
    } catch (...) {
      device->vk.vkDestroyPipelineLayout(device->handle, kernel.layout, nullptr);
      throw;
    }
    *out_module = module.release();
  });
}

void module_unload(primset_device device, primset_module module) {
  device->vk.vkDestroyPipeline(device->handle, module->kernel.pipeline, nullptr);
  device->vk.vkDestroyPipelineLayout(device->handle, module->kernel.layout, nullptr);
  delete module;
}

primset_status* module_kernel(primset_module module, primset_kernel* out_kernel) {
  *out_kernel = &module->kernel;
  return nullptr;
}

primset_status* launch(primset_stream stream, const primset_launch* launch) {
  return guarded("launch", [&] {
    primset_backend::check_launch(launch->kernel->shape, *launch);
    if (primset_backend::is_empty(*launch)) return;
    record_launch(*stream, *launch);
  });
}

}  // namespace primset_vulkan
