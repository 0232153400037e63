// Modules and launches.
#ifndef PRIMSET_BACKENDS_CUDA_MODULE_H_
#define PRIMSET_BACKENDS_CUDA_MODULE_H_

#include <primset/plugin.h>

#include <string_view>

#include "backends/common/abi_boundary.h"
#include "backends/cuda/driver_api.h"

struct primset_kernel_t {
  primset_cuda::Function function = nullptr;
  primset_backend::ParamShape shape;
  size_t param_end = 0;  // bytes of the block that are parameters: without padding at its end
  uint32_t group_size[3] = {};
  uint32_t extern_memory = 0;                  // bytes of workgroup memory that a launch brings
  bool programmatic_dependent_launch = false;  // it waits itself for what was launched before
};

struct primset_module_t {
  primset_cuda::Module handle = nullptr;
  primset_kernel_t kernel;
};

namespace primset_cuda {

// A module of the text, which ends in NUL: from the cache of compiled code, or compiled. Throws
// BackendError.
Module load_ptx(primset_device_t& device, std::string_view ptx, const char* name);

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module);
void module_unload(primset_device device, primset_module module);
primset_status* module_kernel(primset_module module, primset_kernel* out_kernel);
primset_status* launch(primset_stream stream, const primset_launch* launch);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_MODULE_H_
