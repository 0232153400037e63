// The key of a call's plan, made in one pass over the arguments. The key has what decides the plan:
// operator, dtypes, ranks, layout classes, which arguments are the same memory, structural
// arguments, the device and the options. The call's numbers (sizes, strides, run-time integers) are
// no part of it: they are its `symbol_values`. When a plan is made, symbols.cpp gives each of them
// a symbol; both read a tensor's numbers by for_each_number (layout_class.h).
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
  SmallVector<int64_t, 40> symbol_values;
  uint64_t hash = 0;
  // The distinct views among the arguments on the device; a view's number is its identity.
  DistinctViews tensors;

  bool equal(std::span<const uint64_t> other) const;
};

// The device is where the call runs. `args` are the schema's, defaults included.
void make_key(const OperatorInfo& op, std::span<const Arg> args, const DeviceState& device,
              CallKey& key);

// The key of a captured graph's inputs.
void make_graph_key(std::span<const Tensor> tensors, const DeviceState& device, CallKey& key);

// Is the argument a Scalar, in whichever form it was passed; its value.
bool is_number(const Arg& arg);
Scalar scalar_of(const Arg& arg);

// Is it a rank-0 CPU tensor among tensors of another device, or a wrapped number? Its value is a
// kernel parameter.
bool is_scalar_tensor(const TensorImpl& tensor, const DeviceState& device);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_KEY_H_
