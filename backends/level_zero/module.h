// Modules and launches.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_

#include <primset/plugin.h>

#include <mutex>
#include <vector>

#include "backends/common/spirv_module.h"
#include "backends/level_zero/functions.h"

struct primset_kernel_t {
  primset_kernel_t(const primset_level_zero::Functions& ze, const primset_module_desc& desc,
                   primset_backend::ParamShape shape)
      : ze(ze), shape(shape), arguments(desc) {}

  // Appends a launch to the list that the stream writes now. Throws BackendError.
  void launch(primset_stream_t& stream, const primset_launch& launch);

  const primset_level_zero::Functions& ze;
  ze_kernel_handle_t handle = nullptr;
  const primset_backend::ParamShape shape;
  const primset_backend::KernelArguments arguments;

 private:
  void set_arguments(const primset_launch& launch);

  std::mutex mutex_;  // a kernel's arguments are those of whoever launches it
};

struct primset_module_t {
  // Throws BackendError.
  primset_module_t(const primset_device_t& device, const primset_module_desc& desc);
  ~primset_module_t();
  primset_module_t(const primset_module_t&) = delete;
  primset_module_t& operator=(const primset_module_t&) = delete;

  ze_module_handle_t handle = nullptr;
  primset_kernel_t kernel;
};

namespace primset_level_zero {

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module);
void module_unload(primset_device device, primset_module module);
primset_status* module_kernel(primset_module module, primset_kernel* out_kernel);
primset_status* launch(primset_stream stream, const primset_launch* launch);

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_
