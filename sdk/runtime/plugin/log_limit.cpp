#include "sdk/runtime/plugin/log_limit.h"

#include <fmt/format.h>

namespace primset::plugin {

std::string LogLimit::notice() const {
  return fmt::format(
      "{} line{} of its log {} dropped; a plugin may log {} lines a second and {} bytes", dropped_,
      dropped_ == 1 ? "" : "s", dropped_ == 1 ? "was" : "were", kLinesPerSecond, kMaxBytes);
}

LogLimit::Verdict LogLimit::admit(size_t bytes, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    lines_ = 0;
  }
  if (bytes_ + bytes > kMaxBytes) {
    bytes_ = kMaxBytes;  // from here on for good: a shorter line is dropped too
    ++dropped_;
    if (dropped_ < next_report_) return {};
    while (next_report_ <= dropped_) next_report_ *= 10;
    reported_ = dropped_;
    return {false, notice()};
  }
  if (lines_ >= kLinesPerSecond) {
    ++dropped_;
    return {};
  }
  ++lines_;
  bytes_ += bytes;
  if (reported_ == dropped_) return {true, {}};
  reported_ = dropped_;
  return {true, notice()};
}

std::string LogLimit::last_notice() {
  const std::lock_guard lock(mutex_);
  if (reported_ == dropped_) return {};
  reported_ = dropped_;
  return notice();
}

}  // namespace primset::plugin
