#include "backends/level_zero/module.h"

#include <string>

#include "backends/level_zero/stream.h"

namespace primset_level_zero {

using primset_backend::EntryPoint;
using primset_backend::ProgramForm;

namespace {

std::string text_of(const Functions& ze, ze_module_build_log_handle_t log) {
  size_t bytes = 0;
  std::string text;
  if (ze.zeModuleBuildLogGetString(log, &bytes, nullptr) == ZE_RESULT_SUCCESS) text.resize(bytes);
  if (ze.zeModuleBuildLogGetString(log, &bytes, text.data()) != ZE_RESULT_SUCCESS) text.clear();
  return primset_backend::build_log_text(std::move(text));
}

}  // namespace

Kernels::Program Kernels::build(const primset_device_t& device, ProgramForm form,
                                std::string_view text) {
  auto desc = structure<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = form == ProgramForm::spirv ? ZE_MODULE_FORMAT_IL_SPIRV : ZE_MODULE_FORMAT_NATIVE;
  desc.inputSize = text.size();
  desc.pInputModule = reinterpret_cast<const uint8_t*>(text.data());
  desc.pBuildFlags = device.physical.build_options.c_str();
  ze_module_handle_t module = nullptr;
  ze_module_build_log_handle_t said = nullptr;
  const ze_result_t result = device.ze.zeModuleCreate(
      device.context->handle.get(), device.physical.handle, &desc, &module, &said);
  const Owned<ze_module_build_log_handle_t> log(said, {device.ze.zeModuleBuildLogDestroy});
  if (result != ZE_RESULT_SUCCESS)
    kResults.fail(result, "zeModuleCreate", log ? text_of(device.ze, log.get()) : "");
  return Program(module, {device.ze.zeModuleDestroy});
}

std::vector<char> Kernels::binary_of(const primset_device_t& device, ze_module_handle_t module) {
  size_t bytes = 0;
  if (device.ze.zeModuleGetNativeBinary(module, &bytes, nullptr)) return {};
  std::vector<char> binary(bytes);
  auto* data = reinterpret_cast<uint8_t*>(binary.data());
  if (device.ze.zeModuleGetNativeBinary(module, &bytes, data)) return {};
  return binary;
}

Kernels::Kernel Kernels::kernel_of(const primset_device_t& device, ze_module_handle_t module,
                                   const EntryPoint& entry) {
  const Functions& ze = device.ze;
  auto desc = structure<ze_kernel_desc_t>(ZE_STRUCTURE_TYPE_KERNEL_DESC);
  desc.pKernelName = entry.name.c_str();
  Kernel kernel(PRIMSET_ZE_MAKE(ze_kernel_handle_t, ze, zeKernelCreate, module, &desc),
                {ze.zeKernelDestroy});
  const uint32_t* group = entry.group_size;
  PRIMSET_ZE(ze, zeKernelSetGroupSize, kernel.get(), group[0], group[1], group[2]);
  // Kernels follow addresses that they find in memory.
  PRIMSET_ZE(ze, zeKernelSetIndirectAccess, kernel.get(), ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE);
  return kernel;
}

// The list keeps the arguments as they are when the launch is appended.
void Kernels::launch(primset_stream_t& stream, ze_kernel_handle_t kernel, const EntryPoint& entry,
                     const primset_launch& launch) {
  CommandList& commands = stream.commands();
  if (!(launch.flags & PRIMSET_LAUNCH_INDEPENDENT)) commands.order();
  const auto set = [&](uint32_t index, uint32_t bytes, const void* value) {
    PRIMSET_ZE(stream.device->ze, zeKernelSetArgumentValue, kernel, index, bytes, value);
  };
  entry.arguments.set(
      launch, [&](uint32_t index, uint64_t address) { set(index, sizeof(address), &address); },
      set);
  commands.launch(kernel, launch.groups);
}

}  // namespace primset_level_zero
