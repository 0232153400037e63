// The other end of child.h: reads ids, runs each, answers on the protocol's descriptor.
#ifndef PRIMSET_CONFORMANCE_RUNNER_PROCESS_WORKER_H_
#define PRIMSET_CONFORMANCE_RUNNER_PROCESS_WORKER_H_

#include <functional>
#include <istream>
#include <string>

#include "conformance/runner/results/result.h"

namespace primset::conformance {

// Returns the process' exit code. An exception from `run_one` is a test_bug of its case. After a
// lost device the process ends, since nothing on it can be trusted: the parent goes on in a new
// one.
int serve_cases(std::istream& ids, int protocol_fd,
                const std::function<CaseResult(const std::string& id)>& run_one);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_PROCESS_WORKER_H_
