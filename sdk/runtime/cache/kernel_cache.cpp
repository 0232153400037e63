#include "sdk/runtime/cache/kernel_cache.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "codegen/emit/emitter.h"
#include "codegen/kernel/ir/text.h"
#include "codegen/kernel/transform/pointer_table.h"
#include "codegen/kernel/transform/trip_count.h"
#include "sdk/runtime/device/target.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/statistics.h"

namespace primset::runtime {
namespace {}  // namespace

KernelCache::KernelCache(const plugin::PluginDevice& device, const kir::TargetModel& target)
    : device_(device),
      unrolled_(form(target)),
      usual_(form(without_loop_limit(target))),
      disk_(cache_folder()) {}

KernelCache::Form KernelCache::form(const kir::TargetModel& target) {
  return {target, describe(target) + " emitter=" + emit::emitter_version()};
}

// What a kernel calls its parameters is for people: which buffers of a program it is about.
Digest KernelCache::key_of(kir::Kernel kernel, const Form& form) {
  for (size_t i = 0; i < kernel.params.size(); ++i) kernel.params[i].name = fmt::format("p{}", i);
  Sha256 hash;
  hash.add(form.text);
  hash.add(std::string_view("\n", 1));
  hash.add(kir::print(kernel));
  return hash.finish();
}

const LoadedKernel& KernelCache::get(const kir::Kernel& kernel, const Form& form) {
  const Digest key = key_of(kernel, form);
  std::promise<std::shared_ptr<LoadedKernel>> promise;
  std::shared_future<std::shared_ptr<LoadedKernel>> known;
  {
    std::lock_guard lock(mutex_);
    auto [it, fresh] = kernels_.try_emplace(key);
    if (fresh)
      it->second = promise.get_future().share();
    else
      known = it->second;
  }
  if (known.valid()) {
    count(Counter::kernel_memory_hits);
    return *known.get();
  }
  try {
    auto made = make(kernel, form, key);
    promise.set_value(made);
    return *made;
  } catch (...) {
    promise.set_exception(std::current_exception());
    std::lock_guard lock(mutex_);
    kernels_.erase(key);  // the next call tries again: a device may have had no memory
    throw;
  }
}

const LoadedKernel& KernelCache::unrolled_of(const LoadedKernel& kernel,
                                             const kir::Kernel& source) {
  const LoadedKernel* unrolled = kernel.unrolled.load(std::memory_order_acquire);
  if (!unrolled) {
    unrolled = &get(source, unrolled_);
    kernel.unrolled.store(unrolled, std::memory_order_release);
  }
  return *unrolled;
}

const LoadedKernel& KernelCache::table_of(const LoadedKernel& kernel, const kir::Kernel& source) {
  const LoadedKernel* table = kernel.table.load(std::memory_order_acquire);
  if (!table) {
    table = &get(kir::table_form(source, usual_.target));
    kernel.table.store(table, std::memory_order_release);
  }
  return *table;
}

std::shared_ptr<LoadedKernel> KernelCache::make(const kir::Kernel& kernel, const Form& form,
                                                const Digest& key) {
  if (auto found = disk_.load(key)) {
    if (!found->damaged) {
      try {
        auto loaded = load(kernel, found->bytes);
        count(Counter::kernel_disk_hits);
        return loaded;
      } catch (const Error& e) {
        log(LogLevel::info, "kernel cache: {} does not load any more: {}",
            disk_.path_of(key).string(), e.what());
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
  disk_.store(key, binary.bytes);
  return loaded;
}

std::shared_ptr<LoadedKernel> KernelCache::load(const kir::Kernel& kernel,
                                                std::span<const uint8_t> bytes) {
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
  loaded->pointers = layout.pointers;
  loaded->scalar_bytes = layout.size - 8 * layout.pointers;
  return loaded;
}

}  // namespace primset::runtime
