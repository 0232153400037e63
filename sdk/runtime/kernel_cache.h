// Compiled kernels of one device, in memory and on disk. A kernel is known by the hash of its text
// form, the target model and the emitter's version, so an equal kernel of another plan or another
// process is not compiled again.
#ifndef PRIMSET_SDK_RUNTIME_KERNEL_CACHE_H_
#define PRIMSET_SDK_RUNTIME_KERNEL_CACHE_H_

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "codegen/kernel/ir.h"
#include "codegen/kernel/target_model.h"
#include "sdk/runtime/disk_cache.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// A kernel on its device. Lives as long as the device.
struct LoadedKernel {
  plugin::ModuleHandle module;
  uint32_t pointers = 0;      // leading pointers of the parameter block
  uint32_t scalar_bytes = 0;  // what follows them
  mutable std::atomic<const LoadedKernel*> table = nullptr;  // KernelCache::table_of
};

// Thread safe. Two threads that want the same new kernel compile it once.
class KernelCache {
 public:
  KernelCache(const plugin::PluginDevice& device, const kir::TargetModel& target);

  const LoadedKernel& get(const kir::Kernel& kernel);
  // The kernel's table form (codegen/kernel/table_form.h); `source` is what `kernel` was made from.
  const LoadedKernel& table_of(const LoadedKernel& kernel, const kir::Kernel& source);

 private:
  std::shared_ptr<LoadedKernel> make(const kir::Kernel& kernel, const Digest& key);
  std::shared_ptr<LoadedKernel> load(const kir::Kernel& kernel, std::span<const uint8_t> bytes);
  Digest key_of(const kir::Kernel& kernel) const;

  const plugin::PluginDevice& device_;
  const kir::TargetModel& target_;
  std::string target_text_;  // the part of every key that does not change
  DiskCache disk_;
  std::mutex mutex_;
  std::map<Digest, std::shared_future<std::shared_ptr<LoadedKernel>>> kernels_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_KERNEL_CACHE_H_
