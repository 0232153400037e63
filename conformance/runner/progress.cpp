#include "conformance/runner/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace primset::conformance {

Progress::Progress(size_t total, std::FILE* out, bool always)
    : total_(total), out_(out), shown_(always || isatty(fileno(out)) != 0) {}

Progress::~Progress() {
  // Erased: the summary follows.
  if (shown_ && drawn_ != Clock::time_point{}) fmt::print(out_, "\r\x1b[K");
}

void Progress::count(const CaseResult& result) {
  ++done_;
  ++counts_[static_cast<size_t>(result.verdict.outcome)];
  last_ = result.id;
  Clock::time_point now = Clock::now();
  if (!shown_) {
    // A log gets a line now and then.
    if (now - std::max(start_, drawn_) < std::chrono::minutes(1)) return;
    drawn_ = now;
    fmt::print(out_, "{}\n", line(now - start_));
    std::fflush(out_);
    return;
  }
  if (now - drawn_ < std::chrono::milliseconds(100) && done_ < total_) return;
  drawn_ = now;
  fmt::print(out_, "\r\x1b[K{}", line(now - start_));
  std::fflush(out_);
}

std::string Progress::line(Clock::duration elapsed) const {
  std::string out = fmt::format("[{:>{}}/{}]", done_, std::to_string(total_).size(), total_);
  const char* separator = " ";
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    if (counts_[o] == 0) continue;
    out += fmt::format("{}{} {}", separator, counts_[o], name(static_cast<Outcome>(o)));
    separator = ", ";
  }
  if (done_ > 0 && done_ < total_) {
    auto left = elapsed * (total_ - done_) / done_;
    out += "  ETA " + duration_text(std::chrono::duration_cast<std::chrono::seconds>(left));
  }
  return out + "  " + last_.substr(0, 60);
}

std::string duration_text(std::chrono::seconds s) {
  auto n = s.count();
  if (n >= 3600) return fmt::format("{}:{:02}:{:02}", n / 3600, n / 60 % 60, n % 60);
  return fmt::format("{}:{:02}", n / 60, n % 60);
}

}  // namespace primset::conformance
