// From a bound call to the key of its plan, in one pass over the arguments. What goes into the key
// decides the plan: the operator, dtypes, ranks, layout classes, which arguments are the same
// memory, structural arguments, the device and the options. What does not are the call's numbers:
// sizes, strides and run-time integers, listed in `raw`. When a plan is made, symbols.cpp gives
// each of them a symbol; both take a tensor's numbers from for_each_number (layout_class.h).
#ifndef PRIMSET_SDK_RUNTIME_PLAN_KEY_H_
#define PRIMSET_SDK_RUNTIME_PLAN_KEY_H_

#include <cstdint>
#include <span>

#include "sdk/base/small_vector.h"
#include "sdk/runtime/call/operator_info.h"
#include "sdk/runtime/tensor/distinct_views.h"
#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

class DeviceState;

struct CallKey {
  SmallVector<uint64_t, 40> words;
  SmallVector<int64_t, 40> raw;
  uint64_t hash = 0;
  // The tensors of the device; a tensor's number is its identity.
  DistinctViews tensors;

  bool equal(std::span<const uint64_t> other) const;
};

// The device is where the call runs. `args` are the schema's, defaults included.
void make_key(const OperatorInfo& op, std::span<const Arg> args, const DeviceState& device,
              CallKey& key);

// The key of a captured graph's inputs.
void make_graph_key(std::span<const Tensor> tensors, const DeviceState& device, CallKey& key);

// A Scalar, in whichever form it was passed; and its value.
bool is_number(const Arg& arg);
Scalar scalar_of(const Arg& arg);

// A rank-0 CPU tensor among tensors of another device, or a wrapped number: its value is a
// parameter of the launch.
bool is_scalar_tensor(const TensorImpl& tensor, const DeviceState& device);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_KEY_H_
