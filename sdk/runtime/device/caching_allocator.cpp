#include "sdk/runtime/device/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/process_end.h"

namespace primset::runtime {
namespace {

constexpr uint64_t kMinimumAlignment = 64;    // a cache line, and the widest vector register
constexpr uint64_t kMaximumAlignment = 4096;  // more than this is about mappings, not about access

uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

CachingAllocator::CachingAllocator(const plugin::PluginDevice& device, std::function<void()> wait,
                                   std::function<void()> forget)
    : device_(device),
      wait_(std::move(wait)),
      forget_(std::move(forget)),
      alignment_(std::clamp<uint64_t>(device.properties().memory_alignment, kMinimumAlignment,
                                      kMaximumAlignment)) {}

// Four classes a power of two for small requests, eight for large ones: at most 25 % or 12.5 %
// unused.
uint64_t CachingAllocator::rounded(uint64_t bytes) const {
  bytes = std::max(bytes, alignment_);
  const uint64_t power = std::bit_floor(bytes);
  const bool small = bytes <= kSmallLimit;
  const uint64_t step = std::max(small ? power / 4 : power / 8, alignment_);
  return round_up(bytes, step);
}

uint32_t CachingAllocator::class_of(uint64_t rounded) {
  const auto power = static_cast<uint32_t>(std::bit_width(rounded) - 1);
  const auto quarter = static_cast<uint32_t>((rounded - (uint64_t{1} << power)) >> (power - 2));
  return (power - 6) * 4 + quarter;  // kMinimumAlignment is 1 << 6
}

CachingAllocator::Pool& CachingAllocator::pool(uint32_t stream) {
  while (pools_.size() <= stream) pools_.push_back(std::make_unique<Pool>());
  return *pools_[stream];
}

Block CachingAllocator::allocate(uint64_t bytes, uint32_t stream) {
  if (bytes == 0) return {};
  const uint64_t size = rounded(bytes);
  std::unique_lock lock(mutex_);
  ++statistics_.allocations;
  auto attempt = [&] {
    return size <= kSmallLimit ? small_block(bytes, size, stream)
                               : large_block(bytes, size, stream);
  };
  try {
    return attempt();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory) throw;
    ++statistics_.retries;
  }
  log(LogLevel::info, "{}: out of memory for {} bytes; freeing the cache", device_.name(), bytes);
  lock.unlock();
  wait_();  // not under the lock: waiting may report errors, and errors free tensors
  lock.lock();
  free_unused();
  return attempt();
}

Block CachingAllocator::small_block(uint64_t bytes, uint64_t slot_bytes, uint32_t stream) {
  const uint32_t size_class = class_of(slot_bytes);
  auto& free = pool(stream).slots[size_class];
  if (free.empty()) {
    // The slab grows with the class, so that a class of few tensors does not hold 2 MiB.
    const uint64_t slab = std::clamp<uint64_t>(slot_bytes * 64, 64 << 10, kSlabBytes);
    Segment* segment = new_segment(slab);
    segment->slot_bytes = slot_bytes;
    segment->slots = static_cast<uint32_t>(segment->buffer.bytes() / slot_bytes);
    segment->size_class = size_class;
    for (uint32_t i = segment->slots; i-- > 0;) free.push_back({segment, i});
  }
  const FreeSlot slot = free.back();
  free.pop_back();
  account(*slot.segment, true);
  return block_of(slot.segment, slot.slot, bytes);
}

Block CachingAllocator::large_block(uint64_t bytes, uint64_t segment_bytes, uint32_t stream) {
  auto& free = pool(stream).large;
  auto it = free.lower_bound(segment_bytes);
  Segment* segment = nullptr;
  if (it != free.end() && it->first <= segment_bytes + segment_bytes / 4) {
    segment = it->second;
    free.erase(it);
  } else {
    segment = new_segment(segment_bytes);
    segment->slot_bytes = segment_bytes;
    segment->size_class = kClasses;
  }
  account(*segment, true);
  return block_of(segment, 0, bytes);
}

Block CachingAllocator::block_of(Segment* segment, uint32_t slot, uint64_t bytes) {
  ++segment->used;
  const uint64_t offset = slot * segment->slot_bytes;
  return {segment->buffer.handle(), offset, bytes, segment->host ? segment->host + offset : nullptr,
          segment};
}

void CachingAllocator::account(const Segment& segment, bool taken) {
  if (taken) {
    statistics_.allocated += segment.slot_bytes;
    statistics_.peak_allocated = std::max(statistics_.peak_allocated, statistics_.allocated);
  } else {
    statistics_.allocated -= segment.slot_bytes;
  }
}

Segment* CachingAllocator::new_segment(uint64_t bytes) {
  auto segment = std::make_unique<Segment>();
  segment->buffer = device_.alloc(bytes);
  segment->host = static_cast<std::byte*>(segment->buffer.host_address());
  ++statistics_.plugin_allocations;
  statistics_.reserved += bytes;
  statistics_.peak_reserved = std::max(statistics_.peak_reserved, statistics_.reserved);
  segments_.push_back(std::move(segment));
  return segments_.back().get();
}

void CachingAllocator::release(const Block& block, uint32_t stream) {
  if (!block.segment) return;
  const CallMark mark;
  if (CallMark::locks_are_lost()) return;  // of a child that is not to compute
  std::lock_guard lock(mutex_);
  Segment* segment = block.segment;
  --segment->used;
  account(*segment, false);
  Pool& to = pool(stream);
  if (segment->size_class == kClasses) {
    to.large.emplace(segment->slot_bytes, segment);
  } else {
    to.slots[segment->size_class].push_back(
        {segment, static_cast<uint32_t>(block.offset / segment->slot_bytes)});
  }
}

void CachingAllocator::empty_cache() {
  wait_();
  std::lock_guard lock(mutex_);
  free_unused();
}

void CachingAllocator::free_unused() {
  forget_();
  for (auto& pool : pools_) {
    for (auto& slots : pool->slots)
      std::erase_if(slots, [](const FreeSlot& s) { return s.segment->used == 0; });
    std::erase_if(pool->large, [](const auto& entry) { return entry.second->used == 0; });
  }
  std::erase_if(segments_, [&](const std::unique_ptr<Segment>& s) {
    if (s->used != 0) return false;
    statistics_.reserved -= s->buffer.bytes();
    return true;
  });
}

MemoryStatistics CachingAllocator::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace primset::runtime
