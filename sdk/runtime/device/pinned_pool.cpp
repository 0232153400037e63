#include "sdk/runtime/device/pinned_pool.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/support/log.h"

namespace primset::runtime {
namespace {

// Less is not worth a block of its own: pages are locked whole.
constexpr uint64_t kLeastBytes = 4096;

}  // namespace

// Powers of two, so that a block fits the next request of about its size.
uint64_t PinnedPool::rounded(uint64_t bytes) {
  return std::bit_ceil(std::max(bytes, kLeastBytes));
}

std::byte* PinnedPool::allocate(uint64_t bytes) {
  const uint64_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  if (std::byte* memory = find_free(size)) return memory;
  plugin::PinnedHandle made;
  try {
    made = device_.alloc_pinned(size);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory) throw;
    free_unused();
    made = device_.alloc_pinned(size);
  }
  auto* memory = static_cast<std::byte*>(made.memory());
  blocks_.emplace(memory, Pinned{std::move(made), true, {}});
  return memory;
}

// The first that no copy uses any more.
std::byte* PinnedPool::find_free(uint64_t bytes) {
  std::vector<std::byte*>& candidates = free_[static_cast<size_t>(std::countr_zero(bytes))];
  for (std::byte*& candidate : candidates) {
    Pinned& block = blocks_.at(candidate);
    if (!is_passed(block)) continue;
    block.taken = true;
    std::byte* const memory = candidate;
    candidate = candidates.back();
    candidates.pop_back();
    return memory;
  }
  return nullptr;
}

bool PinnedPool::is_passed(Pinned& block) {
  while (!block.copies.empty() && block.copies.back().reached()) {
    spare_.push_back(std::move(block.copies.back()));
    block.copies.pop_back();
  }
  return block.copies.empty();
}

void PinnedPool::release(std::byte* memory) noexcept {
  const std::lock_guard lock(mutex_);
  Pinned& block = blocks_.at(memory);
  block.taken = false;
  free_[static_cast<size_t>(std::countr_zero(block.memory.bytes()))].push_back(memory);
}

PinnedPool::Blocks::iterator PinnedPool::find(const void* memory, uint64_t bytes) {
  const auto* address = static_cast<const std::byte*>(memory);
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return blocks_.end();
  --block;
  const auto offset = static_cast<uint64_t>(address - block->first);
  const uint64_t size = block->second.memory.bytes();
  return block->second.taken && offset <= size && bytes <= size - offset ? block : blocks_.end();
}

bool PinnedPool::contains(const void* memory, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return const_cast<PinnedPool*>(this)->find(memory, bytes) != blocks_.end();
}

void PinnedPool::used_by(const void* memory, const plugin::StreamHandle& stream) {
  const std::lock_guard lock(mutex_);
  const auto block = find(memory, 0);
  if (block == blocks_.end()) return;
  is_passed(block->second);
  plugin::EventHandle event;
  if (spare_.empty()) {
    event = device_.create_event();
  } else {
    event = std::move(spare_.back());
    spare_.pop_back();
  }
  event.record(stream);
  block->second.copies.push_back(std::move(event));
}

void PinnedPool::empty_cache() {
  const std::lock_guard lock(mutex_);
  free_unused();
}

void PinnedPool::free_unused() {
  for (std::vector<std::byte*>& candidates : free_)
    std::erase_if(candidates, [&](std::byte* memory) {
      const auto block = blocks_.find(memory);
      if (!is_passed(block->second)) return false;
      blocks_.erase(block);
      return true;
    });
}

bool is_pinned_memory(const void* memory, uint64_t bytes) {
  return std::ranges::any_of(open_devices(), [&](DeviceState* device) {
    return !device->is_meta() && device->pinned().contains(memory, bytes);
  });
}

}  // namespace primset::runtime
