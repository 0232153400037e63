// Decides which launches of a stream may overlap earlier ones (PRIMSET_LAUNCH_INDEPENDENT), from
// the ranges they read and write. Conservative: when in doubt a launch waits.
//
// The ranges in flight are those of every launch, copy and fill since the last one that waited,
// that one included. A launch conflicts when it writes what one in flight reads or writes, or reads
// what one in flight writes.
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
    uint64_t begin = 0, end = 0;  // the range in flight that it overlaps, in bytes
  };

  // The primset_launch.flags of the next launch of the stream, which is in flight afterwards.
  // `exact` is false when a binding's buffer may share memory with another buffer (imported
  // memory): such a launch waits, and so does the one after it.
  uint32_t flags_for(std::span<const primset_binding> bindings, bool exact = true);
  // For a copy, a fill, or a launch without the flag, which waits for everything earlier: its
  // ranges are the only ones in flight afterwards.
  void restart(std::span<const primset_binding> bindings, bool exact = true);
  // Nothing is in flight: the stream was synchronised.
  void clear();

  // The first conflict of these bindings with what is in flight.
  std::optional<Conflict> conflict(std::span<const primset_binding> bindings) const;
  // Adds the bindings to the ranges in flight. False: the tracker is full, and every launch
  // conflicts until the next restart or clear.
  bool add(std::span<const primset_binding> bindings);
  // True when the ranges in flight are not all known.
  bool unknown() const { return unknown_; }

 private:
  // With more ranges in flight the next launch waits: a linear search must stay much cheaper than a
  // launch.
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
