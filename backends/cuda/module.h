// Modules and launches.
#ifndef PRIMSET_BACKENDS_CUDA_MODULE_H_
#define PRIMSET_BACKENDS_CUDA_MODULE_H_

#include <primset/plugin.h>

#include <string_view>

#include "backends/common/abi_boundary.h"
#include "backends/cuda/driver_api.h"

struct primset_kernel_t {
  explicit primset_kernel_t(const primset_module_desc& desc);

  void launch(const primset_stream_t& stream, const primset_launch& launch);

  primset_cuda::Function function = nullptr;
  const primset_backend::ParamShape shape;
  size_t param_end;  // bytes of the block that are parameters: without padding at its end
  uint32_t group_size[3] = {};
  uint32_t extern_memory = 0;                  // bytes of workgroup memory that a launch brings
  bool programmatic_dependent_launch = false;  // it waits itself for what was launched before
};

struct primset_module_t {
  // Throws BackendError.
  primset_module_t(primset_device device, const primset_module_desc& desc);
  ~primset_module_t();
  primset_module_t(const primset_module_t&) = delete;
  primset_module_t& operator=(const primset_module_t&) = delete;

  primset_kernel_t kernel;

 private:
  void find_kernel(const primset_module_desc& desc);
  void take_extern_memory(uint32_t bytes);

  const primset_device_t& device_;
  primset_cuda::Module handle_;
};

namespace primset_cuda {

// A module of the text, which ends in NUL: from the cache of compiled code, or compiled. Throws
// BackendError.
Module load_ptx(primset_device_t& device, std::string_view ptx, const char* name);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_MODULE_H_
