// Runs cases in batches, each in a worker process: a crash, a hang or garbage costs one case, and
// the rest of its batch goes on in a new process.
#ifndef PRIMSET_CONFORMANCE_RUNNER_PROCESS_BATCHES_H_
#define PRIMSET_CONFORMANCE_RUNNER_PROCESS_BATCHES_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "conformance/runner/results/result.h"

namespace primset::conformance {

struct BatchOptions {
  std::vector<std::string> worker;  // its command line
  unsigned jobs = 1;                // processes at once
  size_t batch_size = 200;
  std::chrono::milliseconds timeout{30000};  // of one case
  // What starting a process may take: loading the plugin, opening the device.
  std::chrono::milliseconds start_timeout{60000};
  bool rerun_failures = true;  // once, alone; what passes then is a flake
};

// Calls `on_result` exactly once for each id, in the order in which cases finish. Failures are
// reported when their rerun is over.
void run_batches(const BatchOptions& options, const std::vector<std::string>& ids,
                 const std::function<void(const CaseResult&)>& on_result);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_PROCESS_BATCHES_H_
