// Modules and launches.
#ifndef PRIMSET_BACKENDS_OPENCL_MODULE_H_
#define PRIMSET_BACKENDS_OPENCL_MODULE_H_

#include <primset/plugin.h>

#include <mutex>

#include "backends/common/abi_boundary.h"
#include "backends/common/spirv_module.h"
#include "backends/opencl/device.h"

struct primset_kernel_t {
  primset_kernel_t(primset_device device, const primset_module_desc& desc);
  ~primset_kernel_t();
  primset_kernel_t(const primset_kernel_t&) = delete;
  primset_kernel_t& operator=(const primset_kernel_t&) = delete;

  primset_backend::ParamShape shape;
  primset_backend::KernelArguments arguments;
  size_t group_size[3];
  std::mutex mutex;  // arguments are the kernel's in OpenCL, not the launch's
  cl_kernel handle = nullptr;

 private:
  const primset_opencl::Functions& cl_;
};

struct primset_module_t {
  primset_kernel_t kernel;
};

namespace primset_opencl {

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module);
void module_unload(primset_device device, primset_module module);
primset_status* module_kernel(primset_module module, primset_kernel* out_kernel);
primset_status* launch(primset_stream stream, const primset_launch* launch);

}  // namespace primset_opencl

#endif  // PRIMSET_BACKENDS_OPENCL_MODULE_H_
