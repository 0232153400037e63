// Runs a plan: allocates results, binds memory, launches.
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

// The tensors that a run returns; owns one reference to each.
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

// The inputs of a run. `slots` has room for plan.code.slots numbers, of which the first are the
// call's own; Plan::admits() has accepted them.
struct RunInputs {
  std::span<const Arg> args;
  DeviceState* device = nullptr;
  int64_t* slots = nullptr;
};

// The tensor of argument `argument`, or of element `element` of that list argument.
const TensorImpl& tensor_argument(std::span<const Arg> args, uint32_t argument, uint32_t element);

// Thrown by execute(), before anything has run, when a native primitive refuses the call's sizes or
// strides on a device that takes kernels: the call then needs a plan without natives.
struct NativeRefused {};

void execute(const Plan& plan, const RunInputs& inputs, Results& results);

// Executes independent runs of one plan together: each launch of the plan is one launch for all of
// them (codegen/kernel/transform/pointer_table.h). No run uses another's results. inputs and
// results have one element for each run, at least one.
bool can_execute_in_tables(const Plan& plan, const DeviceState& device);
void execute_in_tables(const Plan& plan, std::span<const RunInputs> inputs,
                       std::span<Results> results);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_EXECUTOR_H_
