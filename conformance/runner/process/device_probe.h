// Before any case runs: the device is opened once, in a process of its own, and says what it is. A
// device that cannot be opened is one clear error, and no thousand cases that did not run.
#ifndef PRIMSET_CONFORMANCE_RUNNER_PROCESS_DEVICE_PROBE_H_
#define PRIMSET_CONFORMANCE_RUNNER_PROCESS_DEVICE_PROBE_H_

#include <chrono>
#include <string>
#include <vector>

#include "conformance/runner/device_runner.h"

namespace primset::conformance {

// What the process writes, as one line; and what a person reads:
// "minimal:0 (Minimal sample device), kernels, 18 dtypes: bool u8 ...".
std::string claims_line(const DeviceClaims& claims);

// Starts the command and hands on what it says. Throws Error{runtime} with the end of what the
// process printed when it fails, dies or is silent for too long.
std::string probe_device(const std::vector<std::string>& command,
                         std::chrono::milliseconds timeout);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_PROCESS_DEVICE_PROBE_H_
