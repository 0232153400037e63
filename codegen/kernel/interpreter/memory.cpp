#include "codegen/kernel/interpreter/memory.h"

#include <algorithm>

namespace primset::kir::interp {
namespace {

// Arrays begin at a multiple of this, as on every device.
constexpr uint64_t kArrayAlign = 1024;  // as tiles of matrices are

uint64_t address_of(const std::byte* p) {
  return reinterpret_cast<uint64_t>(p);
}

std::string bytes_at(uint64_t size, const Region& r, int64_t at) {
  return std::to_string(size) + (size == 1 ? " byte" : " bytes") + " at offset " +
         std::to_string(at) + " of " + r.name + " (" + std::to_string(r.size) + " bytes)";
}

const char* verb(Access kind) {
  if (kind == Access::read) return "reads ";
  return kind == Access::write ? "writes " : "updates ";
}

}  // namespace

// --- History -------------------------------------------------------------------------------------

void History::add(const Accessor& who) {
  const uint32_t group = who.group + 1;
  if (group_ != 0 && group_ != group) many_groups_ = true;
  const bool same_epoch = group_ == group && epoch_ == who.epoch;
  many_threads_ = same_epoch && (many_threads_ || thread_ != who.thread);
  group_ = group;
  thread_ = who.thread;
  epoch_ = who.epoch;
}

bool History::conflicts(const Accessor& who) const {
  if (group_ == 0) return false;
  if (many_groups_ || group_ != who.group + 1) return true;
  return epoch_ == who.epoch && (many_threads_ || thread_ != who.thread);
}

std::string History::last() const {
  std::string s = "thread " + std::to_string(thread_) + " of group " + std::to_string(group_ - 1);
  return many_threads_ || many_groups_ ? s + " and others" : s;
}

// --- Memory --------------------------------------------------------------------------------------

Memory::Memory(std::span<InterpreterBuffer> buffers, std::span<const std::string> names,
               bool check_races)
    : buffers_(buffers), check_races_(check_races) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    Region r;
    r.base = buffers[i].data.data();
    r.size = buffers[i].data.size();
    r.global = true;
    r.name = i < names.size() ? "buffer '" + names[i] + "'" : "buffer " + std::to_string(i);
    regions_.push_back(r);
  }
  make_shadows(check_races);
}

void Memory::make_shadows(bool check_races) {
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const Region& r : regions_) {
    spans.emplace_back(address_of(r.base), address_of(r.base) + r.size);
  }
  std::sort(spans.begin(), spans.end());
  for (auto [begin, end] : spans) {
    if (shadows_.empty() || begin >= shadows_.back().end) {
      shadows_.push_back({begin, end, {}, {}});
    } else {
      shadows_.back().end = std::max(shadows_.back().end, end);
    }
  }
  for (size_t i = 0; i < buffers_.size(); ++i) {
    Shadow& shadow = shadow_of(regions_[i]);
    const uint64_t size = shadow.end - shadow.begin;
    if (check_races) shadow.history.resize(size);
    if (!buffers_[i].initialized.empty()) shadow.initialized.resize(size, 0);
  }
  for (size_t i = 0; i < buffers_.size(); ++i) attach_shadow(i);
}

Memory::Shadow& Memory::shadow_of(const Region& r) {
  const uint64_t begin = address_of(r.base);
  return *std::find_if(shadows_.begin(), shadows_.end(), [&](const Shadow& s) {
    return s.begin <= begin && begin + r.size <= s.end;
  });
}

// Of overlapping buffers, what one calls initialised is so for all.
void Memory::attach_shadow(size_t buffer) {
  Region& r = regions_[buffer];
  Shadow& shadow = shadow_of(r);
  const uint64_t at = address_of(r.base) - shadow.begin;
  if (!shadow.history.empty()) r.history = shadow.history.data() + at;
  if (shadow.initialized.empty()) return;
  r.initialized = shadow.initialized.data() + at;
  const std::vector<bool>& flags = buffers_[buffer].initialized;
  for (size_t k = 0; k < r.size; ++k) r.initialized[k] |= flags.empty() || flags[k];
}

Pointer Memory::buffer(uint32_t index) const {
  return {address_of(regions_[index].base), index};
}

// Where one buffer ends and the next begins, the address is the next one's.
Pointer Memory::find(uint64_t address) const {
  uint64_t ends_here = kNoRegion;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const uint64_t begin = address_of(regions_[i].base), end = begin + regions_[i].size;
    if (address >= begin && address < end) return {address, i};
    if (address == end) ends_here = i;
  }
  return {address, ends_here};
}

Pointer Memory::add_array(uint64_t size, bool shared, std::string name) {
  Array& a = arrays_.emplace_back();
  a.data = std::make_unique<std::byte[]>(size + kArrayAlign);
  a.initialized.resize(size);
  if (shared && check_races_) a.history.resize(size);
  uint64_t begin = (address_of(a.data.get()) + kArrayAlign - 1) / kArrayAlign * kArrayAlign;
  Region r;
  r.base = a.data.get() + (begin - address_of(a.data.get()));
  r.size = size;
  r.initialized = a.initialized.data();
  r.history = a.history.empty() ? nullptr : a.history.data();
  r.name = std::move(name);
  regions_.push_back(std::move(r));
  return {begin, regions_.size() - 1};
}

void Memory::release_arrays() {
  regions_.resize(buffers_.size());
  arrays_.clear();
}

std::byte* Memory::access(Pointer p, uint64_t offset, uint32_t size, uint32_t align, Access kind,
                          const Accessor& who) {
  if (p.region == kNoRegion) {
    throw MemoryFault{"out of bounds: address " + std::to_string(p.address) + " is in no buffer"};
  }
  const Region& r = regions_[p.region];
  const auto at = static_cast<int64_t>(p.address - address_of(r.base) + offset);  // may wrap
  if (at < 0 || static_cast<uint64_t>(at) + size > r.size) {
    throw MemoryFault{std::string("out of bounds: ") + verb(kind) + bytes_at(size, r, at)};
  }
  if ((address_of(r.base) + static_cast<uint64_t>(at)) % align != 0) {
    throw MemoryFault{std::string("misaligned: ") + verb(kind) + bytes_at(size, r, at) +
                      ", not a multiple of " + std::to_string(align) + " as promised"};
  }
  const auto first = static_cast<uint64_t>(at);
  if (r.history) check_race(r, first, size, kind, who);
  if (r.initialized) {
    if (kind != Access::write) check_initialized(r, first, size);
    std::fill_n(r.initialized + first, size, uint8_t{1});
  }
  return r.base + at;
}

void Memory::check_initialized(const Region& r, uint64_t at, uint32_t size) const {
  for (uint64_t i = at; i < at + size; ++i) {
    if (!r.initialized[i]) {
      throw MemoryFault{"uninitialised: reads " + bytes_at(1, r, static_cast<int64_t>(i)) +
                        ", which nothing wrote"};
    }
  }
}

void Memory::check_race(const Region& r, uint64_t at, uint32_t size, Access kind,
                        const Accessor& who) {
  Accessor lasting = who;
  if (r.global) lasting.epoch = 0;
  for (uint64_t i = at; i < at + size; ++i) {
    ByteHistory& h = r.history[i];
    const History* other = nullptr;
    const char* did = "";
    if (h.writes.conflicts(lasting)) other = &h.writes, did = " wrote";
    if (kind != Access::atomic && h.atomics.conflicts(lasting))
      other = &h.atomics, did = " updated";
    if (kind != Access::read && h.reads.conflicts(who)) other = &h.reads, did = " read";
    if (other) {
      throw MemoryFault{std::string("data race: ") + verb(kind) +
                        bytes_at(1, r, static_cast<int64_t>(i)) + ", which " + other->last() + did +
                        (r.global && other != &h.reads ? "; no barrier orders that"
                                                       : " with no barrier in between")};
    }
    if (kind == Access::read)
      h.reads.add(who);
    else
      (kind == Access::write ? h.writes : h.atomics).add(lasting);
  }
}

void Memory::write_back_flags() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    std::vector<bool>& flags = buffers_[i].initialized;
    if (regions_[i].initialized) std::copy_n(regions_[i].initialized, flags.size(), flags.begin());
  }
}

}  // namespace primset::kir::interp
