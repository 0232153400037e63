// Compiled kernels of one device, in memory and on disk. A kernel is known by the hash of its text
// form, the target model and the emitter's version, so an equal kernel of another plan or another
// process is not compiled again.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_KERNEL_CACHE_H_
#define PRIMSET_SDK_RUNTIME_CACHE_KERNEL_CACHE_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"
#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

struct LoadedKernel;
using KernelPtr = std::shared_ptr<const LoadedKernel>;

// A kernel on its device. The cache owns it as well as its users do, and gives its module back when
// it has no others and no launch of it is pending.
struct LoadedKernel {
  plugin::ModuleHandle module;
  uint32_t pointers = 0;      // leading pointers of the parameter block
  uint32_t scalar_bytes = 0;  // what follows them
  kir::Kernel source;         // what it was made from

  // A form of the kernel, made when first asked for and owned by it (KernelCache::derived_of).
  struct Derived {
    std::atomic<const LoadedKernel*> kernel = nullptr;
    KernelPtr owner;
  };
  mutable Derived table, unrolled;
};

// Thread safe. Two threads that want the same new kernel compile it once.
class KernelCache {
 public:
  KernelCache(const plugin::PluginDevice& device, const kir::TargetModel& target);
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  KernelPtr get(const kir::Kernel& kernel) { return get(kernel, usual_); }
  // The same kernel for launches with more rounds of loops than the driver lets go round one by one
  // (TargetModel::loop_limit). Few launches need it, and it takes a driver many times as long to
  // compile.
  const LoadedKernel& unrolled_of(const LoadedKernel& kernel);
  // The kernel's table form (codegen/kernel/transform/pointer_table.h).
  const LoadedKernel& table_of(const LoadedKernel& kernel);

  // Where there are more than Options::max_kernels, drops those that have no user, least recently
  // used first. `wait` returns when no launch of them is pending any more; the caller holds no lock
  // that it takes.
  void trim(const std::function<void()>& wait);

 private:
  struct Form {
    kir::TargetModel target;
    std::string text;  // the part of every key that does not change
  };
  static Form form(const kir::TargetModel& target);

  struct Entry {
    KernelPtr kernel;       // null while it is made
    uint64_t last_use = 0;  // by clock_
  };

  KernelPtr get(const kir::Kernel& kernel, const Form& form);
  KernelPtr find_or_reserve(const Digest& key);
  template <typename Make>
  const LoadedKernel& derived_of(LoadedKernel::Derived& derived, Make make);
  std::vector<KernelPtr> take_unused();
  KernelPtr make(const kir::Kernel& kernel, const Form& form, const Digest& key);
  KernelPtr load(const kir::Kernel& kernel, std::span<const uint8_t> bytes);
  static Digest key_of(const kir::Kernel& kernel, const Form& form);

  const plugin::PluginDevice& device_;
  Form unrolled_, usual_;
  DiskCache disk_;
  std::mutex mutex_;
  std::condition_variable made_;
  std::map<Digest, Entry> kernels_;
  uint64_t clock_ = 0;
  size_t next_trim_ = 0;  // not before there are so many: all others had users
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_KERNEL_CACHE_H_
