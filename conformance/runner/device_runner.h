// The one interface between conformance and a device. Everything above it works on bytes and
// numbers; runtime_device.cpp is the real device, reference_device.cpp the reference interpreter in
// its place.
#ifndef PRIMSET_CONFORMANCE_RUNNER_DEVICE_RUNNER_H_
#define PRIMSET_CONFORMANCE_RUNNER_DEVICE_RUNNER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/inputs/case.h"
#include "decomps/engine/device_traits.h"

namespace primset::conformance {

// What the device says of itself; held against what it does.
struct DeviceClaims {
  std::string name;   // "acme:0"
  std::string title;  // for people
  DTypeSet dtypes;
  bool flush_f32 = false;
  decomps::DeviceTraits traits;
  // Without kernels a device claims primitives one by one, and of operators nothing.
  bool takes_kernels = true;
  uint64_t memory_bytes = 0;  // 0: unknown
  // A call made again is another call: it meets a plan, kernels and memory that have been used.
  bool keeps_state = true;
};

struct CaughtError {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

enum class Origin : uint8_t {
  fresh,     // memory of its own
  argument,  // argument `argument` itself
  view,      // shares memory with argument `argument`
};

struct ActualTensor {
  Origin origin = Origin::fresh;
  uint32_t argument = 0;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;  // in elements from the start of its storage
  bool conj = false, neg = false;
  std::vector<std::byte> values;  // packed row-major, conjugation and negation applied
  // Of a sparse layout: indices and values, or compressed indices, plain ones and values.
  Layout layout = Layout::strided;
  std::vector<ActualTensor> parts = {};
  bool coalesced = false;
  bool is_tensor = true;  // false: a number that the operator returned, as rank 0
};

// The same call by way of the plugin's native primitives, and by kernels alone.
struct RouteTimes {
  double native = 0, kernels = 0;  // seconds, the least of several runs

  double ratio() const { return native > 0 ? kernels / native : 0; }
};

// Kernels that a call made, and why the plans there were did not do.
struct NewKernels {
  std::string subject;  // the operator that the plan is of
  uint64_t count = 0;
  std::vector<std::string> guards;  // of each other plan, what did not hold; none: a new key
};

// What a run came to. `storages` are the case's after the run; an empty one was not read back.
struct Execution {
  std::optional<CaughtError> error;
  std::vector<ActualTensor> results;  // lists flattened
  std::vector<HostStorage> storages;
  // The plugin said of this very call that it runs it.
  bool claimed = false;
  // A write beside a result, where the runner itself gave the result its memory.
  std::optional<std::string> out_of_bounds_write;
  // Rules of the plugin interface that were broken meanwhile, as the validation layer saw them.
  std::vector<std::string> findings;
  // Without native routes: where the call would have taken one.
  std::optional<RouteTimes> route_times;
  // While kernels are watched: those that the call made.
  std::vector<NewKernels> new_kernels;
};

class DeviceRunner {
 public:
  virtual ~DeviceRunner() = default;
  virtual const DeviceClaims& claims() const = 0;
  // Calls the operator with the case's arguments. Errors of the device or the SDK end in
  // Execution::error; nothing is thrown.
  virtual Execution run_operator(const TestCase& test) = 0;
  // Runs test.graph on test.inputs.
  virtual Execution run_graph(const TestCase& test) = 0;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_DEVICE_RUNNER_H_
