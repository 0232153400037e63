// One line that says how far a run is: drawn again and again on a terminal, now and then in a log.
#ifndef PRIMSET_CONFORMANCE_RUNNER_PROGRESS_H_
#define PRIMSET_CONFORMANCE_RUNNER_PROGRESS_H_

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "conformance/runner/results/result.h"

namespace primset::conformance {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // Where `out` is no terminal a line a minute is written, unless `always`.
  Progress(size_t total, std::FILE* out, bool always = false);
  ~Progress();

  void count(const CaseResult& result);
  // "[ 120/4000] 95 pass, 3 fail, 22 unsupported  ETA 0:41  add.Tensor:…"
  std::string line(Clock::duration elapsed) const;

 private:
  size_t total_, done_ = 0;
  std::array<size_t, kOutcomeCount> counts_{};
  std::string last_;
  std::FILE* out_;
  bool shown_;
  Clock::time_point start_ = Clock::now(), drawn_{};
};

// "1:02:03", "0:41"
std::string duration_text(std::chrono::seconds s);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_PROGRESS_H_
