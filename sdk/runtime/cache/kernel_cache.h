// Compiled kernels of one device, in memory and on disk. A kernel is known by the hash of its text
// form, the target model and the emitter's version, so an equal kernel of another plan or another
// process is not compiled again.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_KERNEL_CACHE_H_
#define PRIMSET_SDK_RUNTIME_CACHE_KERNEL_CACHE_H_

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"
#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// A kernel on its device. Lives as long as the device.
struct LoadedKernel {
  plugin::ModuleHandle module;
  uint32_t pointers = 0;      // leading pointers of the parameter block
  uint32_t scalar_bytes = 0;  // what follows them
  // KernelCache::table_of and unrolled_of
  mutable std::atomic<const LoadedKernel*> table = nullptr, unrolled = nullptr;
};

// Thread safe. Two threads that want the same new kernel compile it once.
class KernelCache {
 public:
  KernelCache(const plugin::PluginDevice& device, const kir::TargetModel& target);

  const LoadedKernel& get(const kir::Kernel& kernel) { return get(kernel, usual_); }
  // The same kernel for launches with more rounds of loops than the driver lets go round one by one
  // (TargetModel::loop_limit). Few launches need it, and it takes a driver many times as long to
  // compile.
  const LoadedKernel& unrolled_of(const LoadedKernel& kernel, const kir::Kernel& source);
  // The kernel's table form (codegen/kernel/transform/pointer_table.h); `source` is what `kernel`
  // was made from.
  const LoadedKernel& table_of(const LoadedKernel& kernel, const kir::Kernel& source);

 private:
  struct Form {
    kir::TargetModel target;
    std::string text;  // the part of every key that does not change
  };
  static Form form(const kir::TargetModel& target);

  const LoadedKernel& get(const kir::Kernel& kernel, const Form& form);
  std::shared_ptr<LoadedKernel> make(const kir::Kernel& kernel, const Form& form,
                                     const Digest& key);
  std::shared_ptr<LoadedKernel> load(const kir::Kernel& kernel, std::span<const uint8_t> bytes);
  static Digest key_of(kir::Kernel kernel, const Form& form);

  const plugin::PluginDevice& device_;
  Form unrolled_, usual_;
  DiskCache disk_;
  std::mutex mutex_;
  std::map<Digest, std::shared_future<std::shared_ptr<LoadedKernel>>> kernels_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_KERNEL_CACHE_H_
