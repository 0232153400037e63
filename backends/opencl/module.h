// Modules and launches.
#ifndef PRIMSET_BACKENDS_OPENCL_MODULE_H_
#define PRIMSET_BACKENDS_OPENCL_MODULE_H_

#include <primset/plugin.h>

#include <mutex>

#include "backends/common/spirv_module.h"
#include "backends/opencl/device.h"

struct primset_kernel_t {
  primset_kernel_t(const primset_device_t& device, const primset_module_desc& desc);
  ~primset_kernel_t();
  primset_kernel_t(const primset_kernel_t&) = delete;
  primset_kernel_t& operator=(const primset_kernel_t&) = delete;

  void launch(const primset_stream_t& stream, const primset_launch& launch);

  const primset_backend::ParamShape shape;

 private:
  void set_arguments(const primset_launch& launch);

  const primset_device_t& device_;
  const primset_backend::KernelArguments arguments_;
  const size_t group_size_[3];
  cl_kernel handle_ = nullptr;
  std::mutex mutex_;  // arguments are the kernel's in OpenCL, not the launch's
};

struct primset_module_t {
  primset_module_t(primset_device device, const primset_module_desc& desc)
      : kernel(*device, desc) {}

  primset_kernel_t kernel;
};

#endif  // PRIMSET_BACKENDS_OPENCL_MODULE_H_
