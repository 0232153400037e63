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

// Whatever the driver's reason, the module is what was refused, unless the machine has too little.
[[noreturn]] void refuse(ze_result_t result, const char* function, const std::string& more = {}) {
  const uint32_t code = status_code(result);
  const bool of_machine = code == PRIMSET_OUT_OF_MEMORY || code == PRIMSET_DEVICE_LOST;
  throw BackendError(of_machine ? code : static_cast<uint32_t>(PRIMSET_LOAD_FAILED),
                     std::string(function) + ": " + result_name(result) + more);
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
  if (!module) refuse(result, "zeModuleCreate", ": " + why);
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

primset_backend::ParamShape checked(const primset_device_t& device,
                                    const primset_module_desc& desc) {
  primset_backend::check_spirv(desc);
  return primset_backend::check_module(desc, device.physical.properties);
}

void create_kernel(const Functions& ze, ze_module_handle_t module, const primset_module_desc& desc,
                   ze_kernel_handle_t& kernel) {
  ze_kernel_desc_t wanted{};
  wanted.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
  wanted.pKernelName = desc.entry;
  if (const ze_result_t result = ze.zeKernelCreate(module, &wanted, &kernel))
    refuse(result, "zeKernelCreate");
  const uint32_t* group = desc.group_size;
  if (const ze_result_t result = ze.zeKernelSetGroupSize(kernel, group[0], group[1], group[2]))
    refuse(result, "zeKernelSetGroupSize");
  // Kernels follow addresses that they find in memory.
  PRIMSET_ZE(ze, zeKernelSetIndirectAccess, kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE);
}

}  // namespace

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module) {
  *out_module = nullptr;
  return guarded("module_load", [&] { *out_module = new primset_module_t(*device, *desc); });
}

void module_unload(primset_device, primset_module module) {
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
    launch->kernel->launch(*stream, *launch);
  });
}

}  // namespace primset_level_zero

using namespace primset_level_zero;

primset_module_t::primset_module_t(const primset_device_t& device, const primset_module_desc& desc)
    : kernel(device.ze, desc, checked(device, desc)) {
  handle = load(device, primset_backend::spirv_of(desc));
  try {
    create_kernel(device.ze, handle, desc, kernel.handle);
  } catch (...) {
    if (kernel.handle) device.ze.zeKernelDestroy(kernel.handle);
    device.ze.zeModuleDestroy(handle);
    throw;
  }
}

primset_module_t::~primset_module_t() {
  kernel.ze.zeKernelDestroy(kernel.handle);
  kernel.ze.zeModuleDestroy(handle);
}

void primset_kernel_t::set_arguments(const primset_launch& launch) {
  const auto set = [&](uint32_t index, uint32_t bytes, const void* value) {
    PRIMSET_ZE(ze, zeKernelSetArgumentValue, handle, index, bytes, value);
  };
  arguments.set(
      launch, [](primset_buffer buffer) { return buffer->address; },
      [&](uint32_t index, uint64_t address) { set(index, sizeof(address), &address); }, set);
}

// The list keeps the arguments as they are when the launch is appended.
void primset_kernel_t::launch(primset_stream_t& stream, const primset_launch& launch) {
  CommandList& commands = stream.commands();
  if (!(launch.flags & PRIMSET_LAUNCH_INDEPENDENT)) commands.order();
  const std::lock_guard lock(mutex_);
  set_arguments(launch);
  commands.launch(handle, launch.groups);
}
