// Modules and launches.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_

#include <primset/plugin.h>

#include <memory>
#include <mutex>

#include "backends/common/spirv_module.h"
#include "backends/level_zero/functions.h"

struct primset_kernel_t {
  primset_kernel_t(const primset_level_zero::Functions& ze, ze_module_handle_t module,
                   const primset_module_desc& desc);
  ~primset_kernel_t();
  primset_kernel_t(const primset_kernel_t&) = delete;
  primset_kernel_t& operator=(const primset_kernel_t&) = delete;

  // Appends a launch to the list that the stream writes now. Throws BackendError.
  void launch(primset_stream_t& stream, const primset_launch& launch);

  const primset_backend::ParamShape shape;

 private:
  void set_arguments(const primset_launch& launch);

  const primset_level_zero::Functions& ze_;
  const primset_backend::KernelArguments arguments_;
  ze_kernel_handle_t handle_ = nullptr;
  std::mutex mutex_;  // a kernel's arguments are those of whoever launches it
};

struct primset_module_t {
  // Throws BackendError.
  primset_module_t(primset_device device, const primset_module_desc& desc);

 private:
  struct Destroy {
    const primset_level_zero::Functions* ze;
    void operator()(ze_module_handle_t module) const { ze->zeModuleDestroy(module); }
  };
  const std::unique_ptr<_ze_module_handle_t, Destroy> module_;

 public:
  primset_kernel_t kernel;
};

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_
