// Modules of SPIR-V, as every back end takes them whose driver compiles it.
#ifndef PRIMSET_BACKENDS_COMMON_SPIRV_MODULE_H_
#define PRIMSET_BACKENDS_COMMON_SPIRV_MODULE_H_

#include <primset/plugin.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/common/abi_boundary.h"

namespace primset_backend {

// A module is its kernel, made from the device and a primset_module_desc.
template <typename Kernel>
struct SpirvModule {
  template <typename Device>
  SpirvModule(Device* device, const primset_module_desc& desc) : kernel(*device, desc) {}

  Kernel kernel;
};

// The SPIR-V of a module. Drivers trust it: what is no SPIR-V at all must not reach them. Throws
// BackendError.
std::string_view spirv_of(const primset_module_desc& desc);

// What a compiler said of a module, for an error's text: its first kilobytes, without the zeros and
// blanks at its end. The first error is what matters, the rest follows from it.
std::string build_log_text(std::string log);

// PRIMSET_FORMAT_SPIRV_KERNEL: the arguments of a kernel, which are set one by one. The pointers
// come first, then each scalar with its place in the parameter block.
class KernelArguments {
 public:
  // Throws BackendError where the scalars do not fill the block that the module has.
  explicit KernelArguments(const primset_module_desc& desc);

  // Calls set_address(index, uint64_t) for each pointer and set_scalar(index, bytes, const char*)
  // for each scalar.
  // Launch is as in build_params(). pre: check_launch() passed.
  template <typename Launch, typename SetAddress, typename SetScalar>
  void set(const Launch& launch, SetAddress&& set_address, SetScalar&& set_scalar) const {
    for (uint32_t i = 0; i < pointer_count_; ++i) {
      set_address(i, address_of(launch.bindings[i]));
    }
    const auto* block = static_cast<const char*>(launch.scalars);
    for (uint32_t i = 0; i < scalars_.size(); ++i)
      set_scalar(pointer_count_ + i, scalars_[i].bytes, block + scalars_[i].offset);
  }

 private:
  struct Scalar {
    uint32_t offset, bytes;
  };

  uint32_t pointer_count_;
  std::vector<Scalar> scalars_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_SPIRV_MODULE_H_
