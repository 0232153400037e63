// Modules and launches.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_

#include <primset/plugin.h>

#include <string_view>
#include <vector>

#include "backends/common/spirv_kernel.h"
#include "backends/level_zero/device.h"

namespace primset_level_zero {

// What backends/common/spirv_kernel.h asks of an API.
struct Kernels {
  using Program = Owned<ze_module_handle_t>;
  using Kernel = Owned<ze_kernel_handle_t>;

  static Program build(const primset_device_t& device, primset_backend::ProgramForm form,
                       std::string_view text);
  static std::vector<char> binary_of(const primset_device_t& device, ze_module_handle_t module);
  static Kernel kernel_of(const primset_device_t& device, ze_module_handle_t module,
                          const primset_backend::EntryPoint& entry);
  // Appends the launch to the list that the stream writes now.
  static void launch(primset_stream_t& stream, ze_kernel_handle_t kernel,
                     const primset_backend::EntryPoint& entry, const primset_launch& launch);
};

}  // namespace primset_level_zero

struct primset_kernel_t
    : primset_backend::SpirvKernel<primset_level_zero::Kernels, primset_device_t> {
  using SpirvKernel::SpirvKernel;
};

struct primset_module_t : primset_backend::SpirvModule<primset_kernel_t> {
  using SpirvModule::SpirvModule;
};

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_MODULE_H_
