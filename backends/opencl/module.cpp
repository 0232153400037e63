#include "backends/opencl/module.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/opencl/stream.h"

namespace primset_opencl {
namespace {

struct ReleaseProgram {
  const Functions* cl;
  void operator()(cl_program program) const { cl->clReleaseProgram(program); }
};
using Program = std::unique_ptr<std::remove_pointer_t<cl_program>, ReleaseProgram>;

cl_int build(const primset_device_t& device, cl_program program) {
  return device.cl.clBuildProgram(program, 1, &device.physical.handle,
                                  device.physical.build_options.c_str(), nullptr, nullptr);
}

std::string build_log(const primset_device_t& device, cl_program program) {
  return primset_backend::build_log_text(all_bytes([&](size_t room, void* out, size_t* bytes) {
    return device.cl.clGetProgramBuildInfo(program, device.physical.handle, CL_PROGRAM_BUILD_LOG,
                                           room, out, bytes);
  }));
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
  if (result != CL_SUCCESS) kResults.refuse_module(result, "clCreateProgramWithIL");
  result = build(device, program.get());
  if (result != CL_SUCCESS)
    kResults.refuse_module(result, "clBuildProgram", build_log(device, program.get()));
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

}  // namespace
}  // namespace primset_opencl

using namespace primset_opencl;

primset_kernel_t::primset_kernel_t(const primset_device_t& device, const primset_module_desc& desc)
    : shape(desc),
      device_(device),
      arguments_(desc),
      group_size_{desc.group_size[0], desc.group_size[1], desc.group_size[2]} {
  const Program program = program_of(device, primset_backend::spirv_of(desc));
  cl_int result = CL_SUCCESS;
  handle_ = device.cl.clCreateKernel(program.get(), desc.entry, &result);  // keeps the program
  if (result != CL_SUCCESS) kResults.refuse_module(result, "clCreateKernel");
  // Kernels follow addresses that they find in memory.
  const cl_bool yes = CL_TRUE;
  result = device.cl.clSetKernelExecInfo(handle_, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
                                         sizeof(yes), &yes);
  if (result != CL_SUCCESS) device.cl.clReleaseKernel(handle_);
  check(result, "clSetKernelExecInfo");
}

primset_kernel_t::~primset_kernel_t() {
  device_.cl.clReleaseKernel(handle_);
}

void primset_kernel_t::set_arguments(const primset_launch& launch) {
  arguments_.set(
      launch,
      [&](uint32_t index, uint64_t address) {
        check(device_.memory.clSetKernelArgMemPointerINTEL(handle_, index, pointer(address)),
              "clSetKernelArgMemPointerINTEL");
      },
      [&](uint32_t index, uint32_t bytes, const char* value) {
        check(device_.cl.clSetKernelArg(handle_, index, bytes, value), "clSetKernelArg");
      });
}

void primset_kernel_t::launch(const primset_stream_t& stream, const primset_launch& launch) {
  size_t threads[3];
  for (int d = 0; d < 3; ++d) threads[d] = launch.groups[d] * group_size_[d];
  const std::lock_guard lock(mutex_);
  set_arguments(launch);
  check(device_.cl.clEnqueueNDRangeKernel(stream.queue, handle_, 3, nullptr, threads, group_size_,
                                          0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}
