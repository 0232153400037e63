// How much a plugin may log: 1,000 lines a second and 10 MB in a process, each level by itself, so
// that chatter does not push out errors. Lines beyond that are counted and reported by number.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_LOG_LIMIT_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_LOG_LIMIT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace primset::plugin {

// For the lines of one level. Thread safe.
class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kLinesPerSecond = 1000, kMaxBytes = 10'000'000;

  struct Verdict {
    bool admitted = false;
    std::string notice;  // to be logged first: how many lines were dropped; mostly empty
  };
  // Whether a line of so many bytes is logged. What was dropped for its rate is reported with the
  // next line that is admitted; what is dropped for the bytes, when its number reaches 1, 10, 100,
  // 1000 and so on.
  Verdict admit(size_t bytes, Clock::time_point now);
  // What was dropped and not yet reported; empty when nothing was.
  std::string last_notice();

 private:
  std::string notice() const;

  std::mutex mutex_;
  Clock::time_point second_{};  // when the present second began
  uint64_t lines_ = 0;          // in it
  uint64_t bytes_ = 0;          // in all
  uint64_t dropped_ = 0, reported_ = 0, next_report_ = 1;
};

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_LOG_LIMIT_H_
