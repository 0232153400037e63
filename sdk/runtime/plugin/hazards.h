// Decides which launches of a stream may overlap earlier ones (PRIMSET_LAUNCH_INDEPENDENT), from
// the ranges they read and write. Conservative: when in doubt a launch waits.
//
// The tracker remembers the ranges in flight: those of every launch, copy and fill since, and
// including, the last one that waited. A launch conflicts when it writes what one in flight reads
// or writes, or reads what one in flight writes.
//
// Threads: one tracker a stream, used as the stream is.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_HAZARDS_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_HAZARDS_H_

#include <primset/plugin.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace primset::plugin {

class HazardTracker {
 public:
  enum class Kind { read_after_write, write_after_read, write_after_write };
  struct Conflict {
    Kind kind;
    size_t binding;               // position among the launch's bindings
    uint64_t begin = 0, end = 0;  // the range in flight that it meets
  };

  // The flags for the next launch of the stream, which is taken to be in flight from here on.
  // `exact` is false when a binding's buffer may share memory with another buffer (imported
  // memory): such a launch waits, and so does the one after it.
  uint32_t flags_for(std::span<const primset_binding> bindings, bool exact = true);
  // A copy, a fill, or a launch given without the flag: waits for all before, then is in flight.
  void restart(std::span<const primset_binding> bindings, bool exact = true);
  // Nothing is in flight: the stream was synchronised.
  void clear();

  // The first conflict of these bindings with what is in flight.
  std::optional<Conflict> conflict(std::span<const primset_binding> bindings) const;
  // Puts the bindings in flight beside what is there already; false when the tracker is full, after
  // which every launch conflicts until the next restart or clear.
  bool add(std::span<const primset_binding> bindings);
  // True when the ranges in flight are not all known.
  bool unknown() const { return unknown_; }

 private:
  // More ranges than this in flight, and the next launch waits: a search of the list must stay much
  // cheaper than the launch.
  static constexpr size_t kCapacity = 64;
  struct Range {
    primset_buffer buffer;
    uint64_t begin, end;
    uint32_t access;
  };
  std::array<Range, kCapacity> ranges_;
  size_t count_ = 0;
  bool unknown_ = false;
};

const char* name(HazardTracker::Kind kind);  // "read after write"

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_HAZARDS_H_
