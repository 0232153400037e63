// The reference interpreter as a device. It proves cases and comparison without a device, and,
// with a hook that changes graphs, how much they notice: mutation testing.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_REFERENCE_DEVICE_H_
#define PRIMSET_CONFORMANCE_REFERENCE_REFERENCE_DEVICE_H_

#include "conformance/reference/expected_results.h"
#include "conformance/runner/device_runner.h"

namespace primset::conformance {

class ReferenceDevice final : public DeviceRunner {
 public:
  explicit ReferenceDevice(const specs::Bundle& bundle, GraphHook hook = {});

  const DeviceClaims& claims() const override { return claims_; }
  Execution run_operator(const TestCase& test) override { return run(test); }
  Execution run_graph(const TestCase& test) override { return run(test); }

 private:
  Execution run(const TestCase& test);

  const specs::Bundle& bundle_;
  GraphHook hook_;
  DeviceClaims claims_;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_REFERENCE_DEVICE_H_
