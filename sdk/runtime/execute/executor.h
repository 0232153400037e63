// Runs a plan: makes the results, binds memory, launches.
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_EXECUTOR_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_EXECUTOR_H_

#include <primset/generator.h>

#include <cstdint>
#include <span>

#include "sdk/base/small_vector.h"
#include "sdk/runtime/call/operator_info.h"
#include "sdk/runtime/plan/plan.h"
#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

// Tensors that a run returns; owns one reference of each.
class Results {
 public:
  Results() = default;
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results() { clear(); }

  void resize(size_t n) { list_.resize(n, nullptr); }
  size_t size() const { return list_.size(); }
  TensorImpl* operator[](size_t i) const { return list_[i]; }
  void set(size_t i, TensorImpl* t) { list_[i] = t; }  // takes over one reference
  Tensor take(size_t i) { return Tensor(std::exchange(list_[i], nullptr)); }
  void clear() {
    for (TensorImpl* t : list_) {
      if (t) t->release();
    }
    list_.clear();
  }

 private:
  SmallVector<TensorImpl*, 4> list_;
};

// What a run is given. `slots` has the raw numbers, and room for plan.code.slots numbers; the plan
// admits them.
struct RunInputs {
  std::span<const Arg> args;
  DeviceState* device = nullptr;
  int64_t* slots = nullptr;
};

// The tensor that argument `argument`, or element `element` of that list argument, is.
const TensorImpl& tensor_argument(std::span<const Arg> args, uint32_t argument, uint32_t element);

// What execute throws, before anything has run, when a native primitive refuses the call's sizes or
// strides on a device that takes kernels: the call then needs a plan without natives.
struct NativeRefused {};

void execute(const Plan& plan, const RunInputs& inputs, Results& results);

// Runs that do not touch one another's results, each launch of the plan done for all of them at
// once (codegen/kernel/transform/pointer_table.h). inputs and results have one element a run, at
// least one.
bool can_execute_in_tables(const Plan& plan, const DeviceState& device);
void execute_in_tables(const Plan& plan, std::span<const RunInputs> inputs,
                       std::span<Results> results);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_EXECUTOR_H_
