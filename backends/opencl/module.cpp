#include "backends/opencl/module.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/opencl/stream.h"
#include "backends/opencl/transfer.h"

namespace primset_opencl {
namespace {

using primset_backend::BackendError;

struct ReleaseProgram {
  const Functions* cl;
  void operator()(cl_program program) const { cl->clReleaseProgram(program); }
};
using Program = std::unique_ptr<std::remove_pointer_t<cl_program>, ReleaseProgram>;

// Whatever the driver's reason, the module is what was refused, unless the machine has too little.
void check_build(cl_int result, const char* function, const std::string& more = {}) {
  if (result == CL_SUCCESS) return;
  const uint32_t code = status_code(result);
  const bool of_machine = code == PRIMSET_OUT_OF_MEMORY || code == PRIMSET_DEVICE_LOST;
  throw BackendError(of_machine ? code : static_cast<uint32_t>(PRIMSET_LOAD_FAILED),
                     std::string(function) + ": " + result_name(result) + more);
}

cl_int build(const primset_device_t& device, cl_program program) {
  return device.cl.clBuildProgram(program, 1, &device.physical.handle,
                                  device.physical.build_options.c_str(), nullptr, nullptr);
}

std::string build_log(const primset_device_t& device, cl_program program) {
  const auto ask = [&](size_t room, char* out, size_t* bytes) {
    return device.cl.clGetProgramBuildInfo(program, device.physical.handle, CL_PROGRAM_BUILD_LOG,
                                           room, out, bytes);
  };
  size_t bytes = 0;
  std::string log;
  if (ask(0, nullptr, &bytes) == CL_SUCCESS) log.resize(bytes);
  if (ask(bytes, log.data(), nullptr) != CL_SUCCESS) log.clear();
  return primset_backend::build_log_text(std::move(log));
}

Program from_binary(const primset_device_t& device, const std::vector<char>& binary) {
  const size_t bytes = binary.size();
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int result = CL_SUCCESS;
  Program program(device.cl.clCreateProgramWithBinary(device.context, 1, &device.physical.handle,
                                                      &bytes, &data, nullptr, &result),
                  {&device.cl});
  if (result != CL_SUCCESS || build(device, program.get()) != CL_SUCCESS) program.reset();
  return program;
}

Program from_spirv(const primset_device_t& device, std::string_view spirv) {
  cl_int result = CL_SUCCESS;
  Program program(
      device.cl.clCreateProgramWithIL(device.context, spirv.data(), spirv.size(), &result),
      {&device.cl});
  check_build(result, "clCreateProgramWithIL");
  result = build(device, program.get());
  if (result != CL_SUCCESS)
    check_build(result, "clBuildProgram", ": " + build_log(device, program.get()));
  return program;
}

// Empty where the driver hands none out.
std::vector<char> binary_of(const primset_device_t& device, const Program& program) {
  size_t bytes = 0;
  if (device.cl.clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes,
                                 nullptr) != CL_SUCCESS)
    return {};
  std::vector<char> binary(bytes);
  char* data = binary.data();
  if (device.cl.clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof(data), &data,
                                 nullptr) != CL_SUCCESS)
    binary.clear();
  return binary;
}

Program program_of(const primset_device_t& device, std::string_view spirv) {
  return primset_backend::compiled(
      device.binaries, spirv,
      [&](const std::vector<char>& binary) { return from_binary(device, binary); },
      [&] { return from_spirv(device, spirv); },
      [&](const Program& program) { return binary_of(device, program); });
}

void set_arguments(const primset_stream_t& stream, const primset_launch& launch) {
  const primset_kernel_t& kernel = *launch.kernel;
  const primset_device_t& device = *stream.device;
  kernel.arguments.set(
      launch, address_of,
      [&](uint32_t index, uint64_t address) {
        check(device.memory.clSetKernelArgMemPointerINTEL(kernel.handle, index,
                                                          reinterpret_cast<const void*>(address)),
              "clSetKernelArgMemPointerINTEL");
      },
      [&](uint32_t index, uint32_t bytes, const char* value) {
        check(device.cl.clSetKernelArg(kernel.handle, index, bytes, value), "clSetKernelArg");
      });
}

void enqueue(const primset_stream_t& stream, const primset_launch& launch) {
  primset_kernel_t& kernel = *launch.kernel;
  size_t threads[3];
  for (int d = 0; d < 3; ++d) threads[d] = launch.groups[d] * kernel.group_size[d];
  const std::lock_guard lock(kernel.mutex);
  set_arguments(stream, launch);
  check(stream.device->cl.clEnqueueNDRangeKernel(stream.queue, kernel.handle, 3, nullptr, threads,
                                                 kernel.group_size, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}

primset_backend::ParamShape checked(const primset_device_t& device,
                                    const primset_module_desc& desc) {
  primset_device_properties properties{};
  device.properties(properties);
  const primset_backend::ParamShape shape = primset_backend::check_module(desc, properties);
  primset_backend::check_spirv(desc);
  return shape;
}

}  // namespace

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module) {
  *out_module = nullptr;
  return guarded("module_load", [&] { *out_module = new primset_module_t{{device, *desc}}; });
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
    enqueue(*stream, *launch);
  });
}

}  // namespace primset_opencl

primset_kernel_t::primset_kernel_t(primset_device device, const primset_module_desc& desc)
    : shape(primset_opencl::checked(*device, desc)),
      arguments(desc),
      group_size{desc.group_size[0], desc.group_size[1], desc.group_size[2]},
      cl_(device->cl) {
  const primset_opencl::Program program =
      primset_opencl::program_of(*device, primset_backend::spirv_of(desc));
  cl_int result = CL_SUCCESS;
  handle = cl_.clCreateKernel(program.get(), desc.entry, &result);  // keeps the program
  primset_opencl::check_build(result, "clCreateKernel");
  // Kernels follow addresses that they find in memory.
  const cl_bool yes = CL_TRUE;
  result = cl_.clSetKernelExecInfo(handle, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
                                   sizeof(yes), &yes);
  if (result != CL_SUCCESS) cl_.clReleaseKernel(handle);
  primset_opencl::check(result, "clSetKernelExecInfo");
}

primset_kernel_t::~primset_kernel_t() {
  cl_.clReleaseKernel(handle);
}
