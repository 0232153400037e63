#include "backends/level_zero/cpu_driver/module.h"

#include <level_zero/ze_ddi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {
namespace {

// Before a native binary: which driver's it is, and how much of it is the SPIR-V.
struct NativeHeader {
  char magic[8] = {'Z', 'E', 'C', 'P', 'U', '0', '0', '1'};
  uint64_t spirv_words = 0;
};

struct BuildLog : Object {
  std::string text;
};

// The options as OpenCL knows them: it has those on arithmetic, by other names, and needs none of
// those on how a GPU addresses memory.
std::string opencl_options(const char* options) {
  static constexpr std::string_view kOpt = "-ze-opt-", kZe = "-ze-";
  std::istringstream words(options ? options : "");
  std::string known;
  for (std::string word; words >> word;) {
    if (word.starts_with(kOpt)) continue;
    if (word.starts_with(kZe)) word = "-cl-" + word.substr(kZe.size());
    known += word + ' ';
  }
  return known;
}

// Keeps the module in a file named by what is in it, for other compilers to try.
void keep(const std::vector<uint32_t>& spirv) {
  if (settings().modules.empty()) return;
  const std::string_view text(reinterpret_cast<const char*>(spirv.data()), 4 * spirv.size());
  const std::string name = std::to_string(std::hash<std::string_view>()(text));
  const std::string path = settings().modules + "/" + name, own = path + std::to_string(getpid());
  std::ofstream(own, std::ios::binary) << text;
  std::rename(own.c_str(), (path + ".spv").c_str());
}

std::string build_log(cl_program program) {
  size_t bytes = 0;
  clGetProgramBuildInfo(program, cl().device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string text(bytes, '\0');
  clGetProgramBuildInfo(program, cl().device, CL_PROGRAM_BUILD_LOG, bytes, text.data(), nullptr);
  return text.c_str();
}

}  // namespace

Module::~Module() {
  if (program_) clReleaseProgram(program_);
}

ze_result_t Module::create_from_native(const uint8_t* data, size_t bytes) {
  NativeHeader header, expected;
  if (bytes < sizeof(header)) return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
  std::memcpy(&header, data, sizeof(header));
  const size_t rest = bytes - sizeof(header);
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0 ||
      header.spirv_words > rest / 4)
    return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
  spirv_.resize(header.spirv_words);
  std::memcpy(spirv_.data(), data + sizeof(header), 4 * spirv_.size());
  const unsigned char* binary = data + sizeof(header) + 4 * spirv_.size();
  const size_t size = rest - 4 * spirv_.size();
  cl_int status = CL_SUCCESS;
  program_ =
      clCreateProgramWithBinary(cl().context, 1, &cl().device, &size, &binary, &status, nullptr);
  return program_ ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
}

ze_result_t Module::create(const ze_module_desc_t& desc, std::string& log) {
  if (desc.format == ZE_MODULE_FORMAT_NATIVE)
    return create_from_native(desc.pInputModule, desc.inputSize);
  spirv_.resize(desc.inputSize / 4);
  std::memcpy(spirv_.data(), desc.pInputModule, 4 * spirv_.size());
  if (entry_points(spirv_).empty()) {
    log += "no SPIR-V module with an entry point";
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  }
  program_ = clCreateProgramWithIL(cl().context, spirv_.data(), 4 * spirv_.size(), nullptr);
  return program_ ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

ze_result_t Module::build(const ze_module_desc_t& desc, std::string& log) {
  if (const ze_result_t result = create(desc, log)) return result;
  keep(spirv_);
  const std::string options = opencl_options(desc.pBuildFlags);
  const cl_int error = clBuildProgram(program_, 1, &cl().device, options.c_str(), nullptr, nullptr);
  log += build_log(program_);
  if (error != CL_SUCCESS) return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  kernels_ = entry_points(spirv_);
  return ZE_RESULT_SUCCESS;
}

std::vector<uint8_t> Module::native_binary() const {
  size_t size = 0;
  clGetProgramInfo(program_, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr);
  NativeHeader header;
  header.spirv_words = spirv_.size();
  const size_t start = sizeof(header) + 4 * spirv_.size();
  std::vector<uint8_t> out(start + size);
  std::memcpy(out.data(), &header, sizeof(header));
  std::memcpy(out.data() + sizeof(header), spirv_.data(), 4 * spirv_.size());
  unsigned char* binary = out.data() + start;
  clGetProgramInfo(program_, CL_PROGRAM_BINARIES, sizeof(binary), &binary, nullptr);
  return out;
}

namespace {

ze_result_t ZE_APICALL module_create(ze_context_handle_t, ze_device_handle_t,
                                     const ze_module_desc_t* desc, ze_module_handle_t* out,
                                     ze_module_build_log_handle_t* out_log) {
  *out = nullptr;
  if (desc->pConstants && desc->pConstants->numConstants > 0)
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "specialization constants");
  auto module = std::make_shared<Module>();
  auto log = std::make_shared<BuildLog>();
  const ze_result_t result = module->build(*desc, log->text);
  trace("module of %zu bytes: %#x", desc->inputSize, static_cast<unsigned>(result));
  if (out_log) give_out(std::move(log), out_log);
  return result == ZE_RESULT_SUCCESS ? give_out(std::move(module), out) : result;
}

ze_result_t ZE_APICALL module_destroy(ze_module_handle_t module) {
  return destroy(module, "zeModuleDestroy");
}

ze_result_t ZE_APICALL module_kernel_names(ze_module_handle_t handle, uint32_t* count,
                                           const char** names) {
  PRIMSET_CPU_DRIVER_FIND(Module, module, handle);
  uint32_t i = 0;
  if (names)
    for (auto k = module->kernels().begin(); k != module->kernels().end() && i < *count; ++k)
      names[i++] = k->first.c_str();
  *count = static_cast<uint32_t>(module->kernels().size());
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL module_native_binary(ze_module_handle_t handle, size_t* bytes,
                                            uint8_t* out) {
  PRIMSET_CPU_DRIVER_FIND(Module, module, handle);
  const std::vector<uint8_t> binary = module->native_binary();
  if (out) std::copy_n(binary.begin(), std::min(*bytes, binary.size()), out);
  *bytes = binary.size();
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL module_get_properties(ze_module_handle_t, ze_module_properties_t* p) {
  p->flags = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL log_destroy(ze_module_build_log_handle_t log) {
  return destroy(log, "zeModuleBuildLogDestroy");
}

ze_result_t ZE_APICALL log_text(ze_module_build_log_handle_t handle, size_t* bytes, char* out) {
  PRIMSET_CPU_DRIVER_FIND(BuildLog, log, handle);
  const size_t all = log->text.size() + 1;
  if (out) std::memcpy(out, log->text.c_str(), std::min(*bytes, all));
  *bytes = all;
  return ZE_RESULT_SUCCESS;
}

}  // namespace
}  // namespace primset_cpu_driver

using namespace primset_cpu_driver;

PRIMSET_CPU_DRIVER_TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnCreate = module_create;
  t->pfnDestroy = module_destroy;
  t->pfnGetKernelNames = module_kernel_names;
  t->pfnGetNativeBinary = module_native_binary;
  t->pfnGetProperties = module_get_properties;
  return ZE_RESULT_SUCCESS;
}

PRIMSET_CPU_DRIVER_TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnDestroy = log_destroy;
  t->pfnGetString = log_text;
  return ZE_RESULT_SUCCESS;
}
