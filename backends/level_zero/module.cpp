#include "backends/level_zero/module.h"

#include <string_view>

#include "backends/level_zero/stream.h"

namespace primset_level_zero {
namespace {

std::string text_of(const Functions& ze, ze_module_build_log_handle_t log) {
  size_t bytes = 0;
  std::string text;
  if (ze.zeModuleBuildLogGetString(log, &bytes, nullptr) == ZE_RESULT_SUCCESS) text.resize(bytes);
  if (ze.zeModuleBuildLogGetString(log, &bytes, text.data()) != ZE_RESULT_SUCCESS) text.clear();
  return primset_backend::build_log_text(std::move(text));
}

// Null where the driver refuses, with the reason in `why`.
ze_module_handle_t build(const primset_device_t& device, ze_module_format_t format,
                         std::string_view text, ze_result_t& result, std::string& why) {
  ze_module_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  desc.format = format;
  desc.inputSize = text.size();
  desc.pInputModule = reinterpret_cast<const uint8_t*>(text.data());
  desc.pBuildFlags = device.physical.build_options.c_str();
  ze_module_handle_t module = nullptr;
  ze_module_build_log_handle_t log = nullptr;
  result = device.ze.zeModuleCreate(device.context, device.physical.handle, &desc, &module, &log);
  if (result != ZE_RESULT_SUCCESS) module = nullptr;
  if (log) {
    why = text_of(device.ze, log);
    device.ze.zeModuleBuildLogDestroy(log);
  }
  return module;
}

ze_module_handle_t compile(const primset_device_t& device, std::string_view spirv) {
  ze_result_t result = ZE_RESULT_SUCCESS;
  std::string why;
  ze_module_handle_t module = build(device, ZE_MODULE_FORMAT_IL_SPIRV, spirv, result, why);
  if (!module) kResults.refuse_module(result, "zeModuleCreate", why);
  return module;
}

// Empty where the driver hands none out.
std::vector<char> binary_of(const Functions& ze, ze_module_handle_t module) {
  size_t bytes = 0;
  if (ze.zeModuleGetNativeBinary(module, &bytes, nullptr) != ZE_RESULT_SUCCESS) return {};
  std::vector<char> binary(bytes);
  if (ze.zeModuleGetNativeBinary(module, &bytes, reinterpret_cast<uint8_t*>(binary.data())) !=
      ZE_RESULT_SUCCESS)
    return {};
  return binary;
}

ze_module_handle_t load(const primset_device_t& device, std::string_view spirv) {
  return primset_backend::compiled(
      device.binaries, spirv,
      [&](const std::vector<char>& binary) {
        ze_result_t result = ZE_RESULT_SUCCESS;
        std::string why;
        return build(device, ZE_MODULE_FORMAT_NATIVE, {binary.data(), binary.size()}, result, why);
      },
      [&] { return compile(device, spirv); },
      [&](ze_module_handle_t module) { return binary_of(device.ze, module); });
}

ze_kernel_handle_t create_kernel(const Functions& ze, ze_module_handle_t module, const char* name) {
  ze_kernel_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
  desc.pKernelName = name;
  ze_kernel_handle_t kernel = nullptr;
  if (const ze_result_t result = ze.zeKernelCreate(module, &desc, &kernel))
    kResults.refuse_module(result, "zeKernelCreate");
  return kernel;
}

}  // namespace
}  // namespace primset_level_zero

using namespace primset_level_zero;

primset_module_t::primset_module_t(primset_device device, const primset_module_desc& desc)
    : module_(load(*device, primset_backend::spirv_of(desc)), {&device->ze}),
      kernel(device->ze, module_.get(), desc) {}

primset_kernel_t::primset_kernel_t(const Functions& ze, ze_module_handle_t module,
                                   const primset_module_desc& desc)
    : shape(desc), ze_(ze), arguments_(desc), handle_(create_kernel(ze, module, desc.entry)) {
  try {
    const uint32_t* group = desc.group_size;
    if (const ze_result_t result = ze.zeKernelSetGroupSize(handle_, group[0], group[1], group[2]))
      kResults.refuse_module(result, "zeKernelSetGroupSize");
    // Kernels follow addresses that they find in memory.
    PRIMSET_ZE(ze, zeKernelSetIndirectAccess, handle_, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE);
  } catch (...) {
    ze.zeKernelDestroy(handle_);
    throw;
  }
}

primset_kernel_t::~primset_kernel_t() {
  ze_.zeKernelDestroy(handle_);
}

void primset_kernel_t::set_arguments(const primset_launch& launch) {
  const auto set = [&](uint32_t index, uint32_t bytes, const void* value) {
    PRIMSET_ZE(ze_, zeKernelSetArgumentValue, handle_, index, bytes, value);
  };
  arguments_.set(
      launch, [&](uint32_t index, uint64_t address) { set(index, sizeof(address), &address); },
      set);
}

// The list keeps the arguments as they are when the launch is appended.
void primset_kernel_t::launch(primset_stream_t& stream, const primset_launch& launch) {
  CommandList& commands = stream.commands();
  if (!(launch.flags & PRIMSET_LAUNCH_INDEPENDENT)) commands.order();
  const std::lock_guard lock(mutex_);
  set_arguments(launch);
  commands.launch(handle_, launch.groups);
}
