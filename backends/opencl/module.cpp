#include "backends/opencl/module.h"

#include <string>

#include "backends/opencl/stream.h"

namespace primset_opencl {

using primset_backend::EntryPoint;
using primset_backend::ProgramForm;

namespace {

cl_program create(const primset_device_t& device, ProgramForm form, std::string_view text) {
  const size_t bytes = text.size();
  if (form == ProgramForm::spirv)
    return PRIMSET_CL_MAKE(device.cl, clCreateProgramWithIL, device.context.get(), text.data(),
                           bytes);
  const auto* binary = reinterpret_cast<const unsigned char*>(text.data());
  return PRIMSET_CL_MAKE(device.cl, clCreateProgramWithBinary, device.context.get(), 1,
                         &device.physical.handle, &bytes, &binary, nullptr);
}

std::string build_log(const primset_device_t& device, cl_program program) {
  return primset_backend::build_log_text(all_bytes([&](size_t room, void* out, size_t* bytes) {
    return device.cl.clGetProgramBuildInfo(program, device.physical.handle, CL_PROGRAM_BUILD_LOG,
                                           room, out, bytes);
  }));
}

}  // namespace

Kernels::Program Kernels::build(const primset_device_t& device, ProgramForm form,
                                std::string_view text) {
  Program program(create(device, form, text), {device.cl.clReleaseProgram});
  if (const cl_int result =
          device.cl.clBuildProgram(program.get(), 1, &device.physical.handle,
                                   device.physical.build_options.c_str(), nullptr, nullptr))
    kResults.fail(result, "clBuildProgram", build_log(device, program.get()));
  return program;
}

std::vector<char> Kernels::binary_of(const primset_device_t& device, cl_program program) {
  size_t bytes = 0;
  if (device.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, nullptr))
    return {};
  std::vector<char> binary(bytes);
  char* data = binary.data();
  if (device.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(data), &data, nullptr))
    return {};
  return binary;
}

Kernels::Kernel Kernels::kernel_of(const primset_device_t& device, cl_program program,
                                   const EntryPoint& entry) {
  Kernel kernel(PRIMSET_CL_MAKE(device.cl, clCreateKernel, program, entry.name.c_str()),
                {device.cl.clReleaseKernel});
  const cl_bool yes = CL_TRUE;  // kernels follow addresses that they find in memory
  PRIMSET_CL(device.cl, clSetKernelExecInfo, kernel.get(),
             CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, sizeof(yes), &yes);
  return kernel;
}

void Kernels::launch(const primset_stream_t& stream, cl_kernel kernel, const EntryPoint& entry,
                     const primset_launch& launch) {
  const Functions& cl = stream.device->cl;
  entry.arguments.set(
      launch,
      [&](uint32_t index, uint64_t address) {
        PRIMSET_CL(cl, clSetKernelArgMemPointerINTEL, kernel, index,
                   primset_backend::pointer(address));
      },
      [&](uint32_t index, uint32_t bytes, const char* value) {
        PRIMSET_CL(cl, clSetKernelArg, kernel, index, bytes, value);
      });
  size_t group[3], threads[3];
  for (int d = 0; d < 3; ++d) {
    group[d] = entry.group_size[d];
    threads[d] = launch.groups[d] * group[d];
  }
  PRIMSET_CL(cl, clEnqueueNDRangeKernel, stream.queue.get(), kernel, 3, nullptr, threads, group, 0,
             nullptr, nullptr);
}

}  // namespace primset_opencl
