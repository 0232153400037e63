#include "sdk/runtime/plugin/hazards.h"

namespace primset::plugin {

const char* name(HazardTracker::Kind kind) {
  switch (kind) {
    case HazardTracker::Kind::read_after_write:
      return "read after write";
    case HazardTracker::Kind::write_after_read:
      return "write after read";
    case HazardTracker::Kind::write_after_write:
      return "write after write";
  }
  return "?";
}

std::optional<HazardTracker::Conflict> HazardTracker::conflict(
    std::span<const primset_binding> bindings) const {
  for (size_t b = 0; b < bindings.size(); ++b) {
    const primset_binding& binding = bindings[b];
    if (binding.size == 0) continue;
    const uint64_t begin = binding.offset, end = binding.offset + binding.size;
    const bool writes = binding.access & PRIMSET_ACCESS_WRITE;
    for (size_t i = 0; i < count_; ++i) {
      const Range& r = ranges_[i];
      if (r.buffer != binding.buffer || r.end <= begin || end <= r.begin) continue;
      const bool written = r.access & PRIMSET_ACCESS_WRITE;
      if (!writes && !written) continue;
      const Kind kind = !writes   ? Kind::read_after_write
                        : written ? Kind::write_after_write
                                  : Kind::write_after_read;
      return Conflict{kind, b, r.begin, r.end};
    }
  }
  return std::nullopt;
}

bool HazardTracker::add(std::span<const primset_binding> bindings) {
  for (const primset_binding& binding : bindings) {
    if (binding.size == 0) continue;
    // A binding without an access flag is taken to do everything.
    const uint32_t access =
        binding.access ? binding.access : PRIMSET_ACCESS_READ | PRIMSET_ACCESS_WRITE;
    const uint64_t begin = binding.offset, end = binding.offset + binding.size;
    bool merged = false;
    for (size_t i = 0; i < count_ && !merged; ++i) {
      Range& r = ranges_[i];
      merged = r.buffer == binding.buffer && r.access == access && r.begin <= begin && end <= r.end;
    }
    if (merged) continue;
    if (count_ == kCapacity) {
      unknown_ = true;
      return false;
    }
    ranges_[count_++] = {binding.buffer, begin, end, access};
  }
  return true;
}

void HazardTracker::clear() {
  count_ = 0;
  unknown_ = false;
}

void HazardTracker::restart(std::span<const primset_binding> bindings, bool exact) {
  clear();
  add(bindings);
  if (!exact) unknown_ = true;
}

uint32_t HazardTracker::flags_for(std::span<const primset_binding> bindings, bool exact) {
  if (!exact || unknown_ || conflict(bindings) || !add(bindings)) {
    restart(bindings, exact);
    return 0;
  }
  return PRIMSET_LAUNCH_INDEPENDENT;
}

}  // namespace primset::plugin
