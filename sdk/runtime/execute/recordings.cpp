#include "sdk/runtime/execute/recordings.h"

#include <algorithm>
#include <utility>

#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/statistics.h"

namespace primset::runtime {
namespace {

uint64_t hash_of(const RunSignature& signature) {
  uint64_t h = signature.size();
  for (const uint64_t word : signature) {
    h = (h ^ word) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  return h;
}

}  // namespace

Recordings::Recordings(const plugin::PluginDevice& device)
    : available_(device.recordings() && environment("PRIMSET_RECORD", "1") != "0") {}

bool Recordings::seen_before(uint64_t hash) {
  auto& seen = seen_[hash % kSeenSets];
  const auto found = std::ranges::find(seen, hash);
  const bool known = found != seen.end();
  std::rotate(seen.begin(), known ? found : seen.end() - 1, known ? found + 1 : seen.end());
  seen.front() = hash;
  return known;
}

Recordings::Next Recordings::play(const plugin::StreamHandle& stream,
                                  const RunSignature& signature) {
  const uint64_t hash = hash_of(signature);
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& e) { return e.hash == hash && e.signature == signature; });
  if (found == entries_.end()) return seen_before(hash) ? Next::record : Next::launch;
  entries_.splice(entries_.begin(), entries_, found);
  stream.play(found->recording);
  count(Counter::replays);
  return Next::replayed;
}

bool Recordings::record(const plugin::StreamHandle& stream, RunSignature signature,
                        const std::function<void()>& enqueue) {
  plugin::RecordingHandle made;
  bool recording = false;
  try {
    stream.begin_recording();
    recording = true;
    enqueue();
    recording = false;
    made = stream.end_recording();
  } catch (const Error& e) {
    if (recording) stream.abandon_recording();
    available_ = false;
    log(LogLevel::warning, "runs are not recorded any more: {}", e.what());
    return false;
  } catch (...) {
    if (recording) stream.abandon_recording();
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (entries_.size() == kCapacity) entries_.pop_back();
  const uint64_t hash = hash_of(signature);
  entries_.push_front({hash, std::move(signature), std::move(made)});
  stream.play(entries_.front().recording);
  return true;
}

void Recordings::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace primset::runtime
