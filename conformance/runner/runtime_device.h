// A device of a plugin, driven through the SDK as any program drives it.
#ifndef PRIMSET_CONFORMANCE_RUNNER_RUNTIME_DEVICE_H_
#define PRIMSET_CONFORMANCE_RUNNER_RUNTIME_DEVICE_H_

#include <memory>
#include <string>

#include "conformance/runner/device_runner.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

struct RuntimeDeviceOptions {
  // Kernels do what the plugin would run natively, and both ways are timed.
  bool without_native = false;
  bool watch_kernels = false;  // Execution::new_kernels is wanted
};

// `device` is "acme:0". No fallback to the CPU happens, and errors that only the device sees are
// reported by the call. Throws Error when the device cannot be opened.
std::unique_ptr<DeviceRunner> open_runtime_device(const specs::Bundle& bundle,
                                                  const std::string& device,
                                                  const RuntimeDeviceOptions& options = {});

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_RUNTIME_DEVICE_H_
