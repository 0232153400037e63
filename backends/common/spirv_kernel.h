// Kernels of SPIR-V in OpenCL and Level Zero, which make a program of a module, and of the program
// kernel objects.
#ifndef PRIMSET_BACKENDS_COMMON_SPIRV_KERNEL_H_
#define PRIMSET_BACKENDS_COMMON_SPIRV_KERNEL_H_

#include <primset/plugin.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/common/abi_boundary.h"
#include "backends/common/compiled_cache.h"
#include "backends/common/results.h"
#include "backends/common/spirv_module.h"
#include "backends/common/status.h"

namespace primset_backend {

// What a program is made of.
enum class ProgramForm { spirv, binary };

// Which of a program's kernels, and how it is launched.
struct EntryPoint {
  explicit EntryPoint(const primset_module_desc& desc) : name(desc.entry), arguments(desc) {
    std::copy_n(desc.group_size, 3, group_size);
  }

  std::string name;
  uint32_t group_size[3];
  KernelArguments arguments;
};

// An Api has
//   Program, Kernel                     owners of what the driver makes; default-constructed, of
//                                       nothing
//   build(device, form, string_view)    a Program
//   binary_of(device, program)          a vector<char>; empty where the driver hands none out
//   kernel_of(device, program, entry)   a Kernel, another for every call
//   launch(stream, kernel, entry, launch)
//                                       sets the kernel's arguments and enqueues it with these
// which throw BackendError, and the Device has `binaries`, a CompiledCache. Any thread.
template <typename Api, typename Device>
class SpirvKernel {
 public:
  using Program = Api::Program;
  using Kernel = Api::Kernel;

  SpirvKernel(const Device& device, const primset_module_desc& desc)
      : shape(desc), device_(device), entry_(desc) {
    const std::string_view spirv = spirv_of(desc);
    try {
      program_ = program_of(spirv);
      idle_.push_back(Api::kernel_of(device_, program_.get(), entry_));
    } catch (const BackendError& e) {
      refuse_module(e.code(), e.what());
    }
  }

  template <typename Stream, typename Launch>
  void launch(Stream& stream, const Launch& launch) {
    Kernel kernel = take();
    Api::launch(stream, kernel.get(), entry_, launch);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(kernel));
  }

  const ParamShape shape;

 private:
  Program program_of(std::string_view spirv) const {
    return compiled(
        device_.binaries, spirv, [&](const std::vector<char>& binary) { return loaded(binary); },
        [&] { return Api::build(device_, ProgramForm::spirv, spirv); },
        [&](const Program& program) { return Api::binary_of(device_, program.get()); });
  }

  Program loaded(const std::vector<char>& binary) const {
    try {
      return Api::build(device_, ProgramForm::binary, {binary.data(), binary.size()});
    } catch (const BackendError&) {
      return {};
    }
  }

  // One that no other thread has: arguments are the kernel object's, not the launch's.
  Kernel take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Kernel kernel = std::move(idle_.back());
        idle_.pop_back();
        return kernel;
      }
    }
    return Api::kernel_of(device_, program_.get(), entry_);
  }

  const Device& device_;
  const EntryPoint entry_;
  Program program_;
  std::mutex mutex_;
  std::vector<Kernel> idle_;  // as many as ever launched at the same time
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_SPIRV_KERNEL_H_
