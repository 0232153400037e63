// Runs one case on a device and says what it came to.
#ifndef PRIMSET_CONFORMANCE_RUNNER_EXECUTE_H_
#define PRIMSET_CONFORMANCE_RUNNER_EXECUTE_H_

#include "conformance/compare/outcome.h"
#include "conformance/reference/expected_results.h"
#include "conformance/runner/device_runner.h"

namespace primset::conformance {

// `test` is complete: its out= tensors are made.
Verdict run_case(const specs::Bundle& bundle, const TestCase& test, DeviceRunner& device);

// The second half alone: what was expected against what happened.
Verdict judge(const specs::Bundle& bundle, const TestCase& test, const Expected& expected,
              const Execution& actual, const DeviceClaims& claims);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_EXECUTE_H_
