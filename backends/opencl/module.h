// Modules and launches.
#ifndef PRIMSET_BACKENDS_OPENCL_MODULE_H_
#define PRIMSET_BACKENDS_OPENCL_MODULE_H_

#include <primset/plugin.h>

#include <string_view>
#include <vector>

#include "backends/common/spirv_kernel.h"
#include "backends/opencl/device.h"

namespace primset_opencl {

// What backends/common/spirv_kernel.h asks of an API.
struct Kernels {
  using Program = Owned<cl_program>;
  using Kernel = Owned<cl_kernel>;

  static Program build(const primset_device_t& device, primset_backend::ProgramForm form,
                       std::string_view text);
  static std::vector<char> binary_of(const primset_device_t& device, cl_program program);
  static Kernel kernel_of(const primset_device_t& device, cl_program program,
                          const primset_backend::EntryPoint& entry);
  static void launch(const primset_stream_t& stream, cl_kernel kernel,
                     const primset_backend::EntryPoint& entry, const primset_launch& launch);
};

}  // namespace primset_opencl

struct primset_kernel_t : primset_backend::SpirvKernel<primset_opencl::Kernels, primset_device_t> {
  using SpirvKernel::SpirvKernel;
};

struct primset_module_t : primset_backend::SpirvModule<primset_kernel_t> {
  using SpirvModule::SpirvModule;
};

#endif  // PRIMSET_BACKENDS_OPENCL_MODULE_H_
