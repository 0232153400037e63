// Compiled kernels of one device, in memory, in packs and on disk. The key of a kernel is a hash of
// its text form, the target model and the emitter's version, so an equal kernel of another plan or
// another process is not compiled again (docs/decisions/kernel_cache.md).
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
#include "sdk/runtime/cache/shared_cache.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// What kernels are called among the entries of the cache on disk and of packs.
inline constexpr const char* kKernelKind = "kernels";

struct LoadedKernel;
using KernelPtr = std::shared_ptr<const LoadedKernel>;

// A kernel loaded on its device. Owned by the cache and by the plans that launch it. The cache
// unloads its module when it is the only owner and no launch is pending.
struct LoadedKernel {
  plugin::ModuleHandle module;
  uint32_t pointers = 0;      // leading pointers of the parameter block
  uint32_t scalar_bytes = 0;  // scalars after the pointers
  kir::Kernel source;         // the kernel IR that it was emitted from

  // Another form of the kernel, compiled on first use and owned by it (KernelCache::derived_of).
  struct Derived {
    std::atomic<const LoadedKernel*> kernel = nullptr;
    KernelPtr owner;
  };
  mutable Derived table, unrolled;
};

// Thread safe. Threads that need the same new kernel compile it once; the others wait.
class KernelCache {
 public:
  KernelCache(const plugin::PluginDevice& device, const kir::TargetModel& target);
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  KernelPtr get(const kir::Kernel& kernel) { return get(kernel, usual_); }
  // Each of them, in order. Those that are new are compiled side by side.
  std::vector<KernelPtr> get_all(std::span<const kir::Kernel> kernels);
  // The unrolled form, for launches with more loop iterations than the driver allows
  // (TargetModel::loop_limit). Few launches need it, and drivers take many times as long to compile
  // it.
  const LoadedKernel& unrolled_of(const LoadedKernel& kernel);
  // The kernel's table form (codegen/kernel/transform/pointer_table.h).
  const LoadedKernel& table_of(const LoadedKernel& kernel);

  // Evicts kernels beyond Options::max_kernels that no plan owns, least recently used first. `wait`
  // is called before they are unloaded, and must return when no launch of them is pending. The
  // caller holds no lock that `wait` takes.
  void trim(const std::function<void()>& wait);

 private:
  struct Form {
    kir::TargetModel target;
    std::string text;  // target and emitter: the common part of all keys
  };
  static Form form(const kir::TargetModel& target);

  struct Entry {
    KernelPtr kernel;       // null while it is compiled
    uint64_t last_use = 0;  // by clock_
  };

  KernelPtr get(const kir::Kernel& kernel, const Form& form) {
    return get(kernel, form, key_of(kernel, form));
  }
  KernelPtr get(const kir::Kernel& kernel, const Form& form, const Digest& key);
  KernelPtr find_or_reserve(const Digest& key);
  std::vector<size_t> new_among(std::span<const Digest> keys);
  template <typename Make>
  const LoadedKernel& derived_of(LoadedKernel::Derived& derived, Make make);
  std::vector<KernelPtr> take_unused();
  KernelPtr make(const kir::Kernel& kernel, const Form& form, const Digest& key);
  KernelPtr load(const kir::Kernel& kernel, std::span<const uint8_t> bytes);
  static Digest key_of(const kir::Kernel& kernel, const Form& form);

  const plugin::PluginDevice& device_;
  Form unrolled_, usual_;
  std::shared_ptr<const DiskCache> disk_ = shared_cache();
  std::mutex mutex_;
  std::condition_variable made_;
  std::map<Digest, Entry> kernels_;
  uint64_t clock_ = 0;
  size_t next_trim_ = 0;  // the size from which a search for unused kernels is worth it again
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_KERNEL_CACHE_H_
