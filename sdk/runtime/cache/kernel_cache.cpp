#include "sdk/runtime/cache/kernel_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "codegen/emit/emitter.h"
#include "codegen/kernel/ir/text.h"
#include "codegen/kernel/transform/pointer_table.h"
#include "codegen/kernel/transform/trip_count.h"
#include "sdk/runtime/device/target.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/side_by_side.h"
#include "sdk/runtime/support/statistics.h"

namespace primset::runtime {
namespace {

const std::string kKind(kKernelKind);

}  // namespace

KernelCache::KernelCache(const plugin::PluginDevice& device, const kir::TargetModel& target)
    : device_(device), unrolled_(form(target)), usual_(form(without_loop_limit(target))) {}

KernelCache::~KernelCache() {
  count(Counter::kernels_cached, -kernels_.size());
}

KernelCache::Form KernelCache::form(const kir::TargetModel& target) {
  return {target, describe(target) + " emitter=" + emit::emitter_version()};
}

Digest KernelCache::key_of(const kir::Kernel& kernel, const Form& form) {
  Sha256 hash;
  hash.add(form.text);
  hash.add(std::string_view("\n", 1));
  hash.add(kir::print(kernel, kir::ParamNames::numbered));
  return hash.finish();
}

// The kernel; null: the caller must compile it, and has reserved the key's entry.
KernelPtr KernelCache::find_or_reserve(const Digest& key) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto [it, fresh] = kernels_.try_emplace(key);
    if (fresh) return nullptr;
    if (it->second.kernel) {
      it->second.last_use = ++clock_;
      return it->second.kernel;
    }
    // Another thread compiles it, or fails and removes the entry.
    made_.wait(lock);
  }
}

// Which of the keys have no entry yet; of equal ones the first.
std::vector<size_t> KernelCache::new_among(std::span<const Digest> keys) {
  const std::lock_guard lock(mutex_);
  std::vector<size_t> out;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto before = keys.first(i);
    if (!kernels_.contains(keys[i]) && std::ranges::find(before, keys[i]) == before.end())
      out.push_back(i);
  }
  return out;
}

std::vector<KernelPtr> KernelCache::get_all(std::span<const kir::Kernel> kernels) {
  std::vector<Digest> keys;
  for (const kir::Kernel& kernel : kernels) keys.push_back(key_of(kernel, usual_));
  std::vector<KernelPtr> out(kernels.size());
  const std::vector<size_t> fresh = new_among(keys);
  const auto take = [&](size_t i) { out[i] = get(kernels[i], usual_, keys[i]); };
  side_by_side(fresh.size(), [&](size_t i) { take(fresh[i]); });
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i]) take(i);
  return out;
}

KernelPtr KernelCache::get(const kir::Kernel& kernel, const Form& form, const Digest& key) {
  if (KernelPtr known = find_or_reserve(key)) {
    count(Counter::kernel_memory_hits);
    return known;
  }
  KernelPtr made;
  try {
    made = make(kernel, form, key);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    kernels_.erase(key);  // the next call tries again: a device may have had no memory
    made_.notify_all();
    throw;
  }
  const std::lock_guard lock(mutex_);
  kernels_[key] = {made, ++clock_};
  count(Counter::kernels_cached);
  made_.notify_all();
  return made;
}

template <typename Make>
const LoadedKernel& KernelCache::derived_of(LoadedKernel::Derived& derived, Make make) {
  if (const LoadedKernel* known = derived.kernel.load(std::memory_order_acquire)) return *known;
  KernelPtr made = make();
  const std::lock_guard lock(mutex_);
  if (!derived.owner) derived.owner = std::move(made);
  derived.kernel.store(derived.owner.get(), std::memory_order_release);
  return *derived.owner;
}

const LoadedKernel& KernelCache::unrolled_of(const LoadedKernel& kernel) {
  return derived_of(kernel.unrolled, [&] { return get(kernel.source, unrolled_); });
}

const LoadedKernel& KernelCache::table_of(const LoadedKernel& kernel) {
  return derived_of(kernel.table,
                    [&] { return get(kir::table_form(kernel.source, usual_.target)); });
}

// A kernel that only the cache owns can get another owner through get() alone, which takes the
// lock.
std::vector<KernelPtr> KernelCache::take_unused() {
  const std::lock_guard lock(mutex_);
  const size_t limit = max_kernels();
  if (kernels_.size() <= std::max(limit, next_trim_)) return {};
  using Iterator = std::map<Digest, Entry>::iterator;
  std::vector<Iterator> unused;
  for (auto it = kernels_.begin(); it != kernels_.end(); ++it) {
    if (it->second.kernel && it->second.kernel.use_count() == 1) unused.push_back(it);
  }
  // A sixteenth of the limit more than necessary, so that one search frees many kernels.
  const size_t drop = std::min(unused.size(), kernels_.size() - limit + limit / 16);
  std::ranges::nth_element(unused, unused.begin() + static_cast<std::ptrdiff_t>(drop), {},
                           [](Iterator it) { return it->second.last_use; });
  std::vector<KernelPtr> taken;
  for (size_t i = 0; i < drop; ++i) {
    taken.push_back(std::move(unused[i]->second.kernel));
    kernels_.erase(unused[i]);
  }
  next_trim_ = kernels_.size() + kernels_.size() / 16;
  return taken;
}

void KernelCache::trim(const std::function<void()>& wait) {
  const std::vector<KernelPtr> unused = take_unused();
  if (unused.empty()) return;
  wait();
  count(Counter::kernels_cached, -unused.size());
  count(Counter::kernels_evicted, unused.size());
}

// From a pack or disk, or emitted and stored there. A file that is damaged or that the device no
// longer loads is replaced.
KernelPtr KernelCache::make(const kir::Kernel& kernel, const Form& form, const Digest& key) {
  if (auto found = disk_->load(kKind, key)) {
    if (!found->damaged) {
      try {
        auto loaded = load(kernel, found->bytes);
        count(found->packed ? Counter::kernel_pack_hits : Counter::kernel_disk_hits);
        return loaded;
      } catch (const Error& e) {
        log(LogLevel::info, "kernel cache: {} does not load any more: {}",
            found->packed ? "a pack's kernel " + kernel.name : disk_->path_of(kKind, key).string(),
            e.what());
      }
    }
    count(Counter::kernel_disk_rejects);
  }
  const auto begin = std::chrono::steady_clock::now();
  const emit::Binary binary = emit::emit(kernel, form.target);
  count(Counter::kernels_compiled);
  const auto emitted = std::chrono::steady_clock::now();
  auto loaded = load(kernel, binary.bytes);
  const auto ms = [](auto from, auto to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  };
  log(LogLevel::debug,
      "{}: kernel {}: {} instructions, {} bytes emitted in {:.1f} ms, loaded in {:.1f} ms",
      device_.name(), kernel.name, kernel.insts.size(), binary.bytes.size(), ms(begin, emitted),
      ms(emitted, std::chrono::steady_clock::now()));
  disk_->store(kKind, key, binary.bytes);
  return loaded;
}

KernelPtr KernelCache::load(const kir::Kernel& kernel, std::span<const uint8_t> bytes) {
  const kir::ParamLayout layout = kir::param_layout(kernel.params);
  std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  primset_module_desc desc{};
  desc.struct_size = sizeof(desc);
  desc.format = device_.properties().kernel_format;
  desc.data = aligned.data();
  desc.size = bytes.size();
  desc.entry = kernel.name.c_str();
  std::copy(kernel.group_size.begin(), kernel.group_size.end(), desc.group_size);
  desc.pointer_count = layout.pointers;
  desc.param_bytes = layout.size;
  desc.group_memory = kir::group_memory_bytes(kernel);
  std::vector<uint32_t> scalars;
  for (size_t i = layout.pointers; i < kernel.params.size(); ++i)
    scalars.push_back(static_cast<uint32_t>(kir::bytes(kernel.params[i].type.scalar)));
  desc.scalar_count = static_cast<uint32_t>(scalars.size());
  desc.scalar_sizes = scalars.data();
  auto loaded = std::make_shared<LoadedKernel>();
  loaded->module = device_.load_module(desc);
  loaded->source = kernel;
  loaded->pointers = layout.pointers;
  loaded->scalar_bytes = layout.size - 8 * layout.pointers;
  return loaded;
}

}  // namespace primset::runtime
