// Makes the plan of a call: trace, expand derived primitives, schedule, compile.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_PLAN_BUILDER_H_
#define PRIMSET_SDK_RUNTIME_PLAN_PLAN_BUILDER_H_

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "decomps/engine/engine.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan.h"
#include "sdk/runtime/plan/symbols.h"

namespace primset::runtime {

// Compiles a Program into the steps, buffers and scalars of a plan.
class ProgramCompiler {
 public:
  ProgramCompiler(Plan& plan, DeviceState& device, CodeBuilder& code)
      : plan_(plan), device_(device), code_(code) {}

  // Binds the symbols that only a run knows to dynamic slots. Called before these are used.
  void bind_dynamic_symbols(const std::vector<schedule::Step>& list);
  // `sources` says which argument each graph input is, `numbers` which are constants instead
  // (scalar_tensors.h); the plan's outputs are described already.
  void compile(const schedule::Program& program, std::span<const decomps::InputSource> sources,
               std::span<const std::optional<Scalar>> numbers, const std::string& op);
  // Where the compiled program's scalars that the host computes come from.
  HostScalarsPlan host_scalars(HostScalars expressions);

 private:
  std::vector<StepPlan> steps(const std::vector<schedule::Step>& list);
  StepPlan step(const schedule::LaunchStep& s);
  StepPlan step(const schedule::CopyStep& s);
  StepPlan step(const schedule::StridedCopyStep& s);
  StepPlan step(const schedule::NativeStep& s);
  StepPlan step(const schedule::ReadCountStep& s);
  StepPlan step(const schedule::LoopStep& s);
  StepPlan step(const schedule::WhileStep& s);
  StepPlan step(const schedule::BranchStep& s);
  void scalar_sources(std::span<const decomps::InputSource> sources,
                      std::span<const std::optional<Scalar>> numbers);
  void buffers(std::span<const decomps::InputSource> sources);
  Tensor table(const schedule::Buffer& from) const;
  void share_temporaries();
  uint32_t dynamic_of(uint32_t symbol) const;
  StridedPlan operand(const schedule::StridedTensor& t);

  Plan& plan_;
  DeviceState& device_;
  CodeBuilder& code_;
  const schedule::Program* program_ = nullptr;
  std::vector<uint32_t> scalar_of_input_;  // graph input -> Plan::scalars
  std::vector<KernelPtr> kernels_;         // of the program
  std::unordered_map<uint32_t, uint32_t> dynamic_of_symbol_;
};

// A traced call. Symbols that its guards say are equal have been unified, by tracing it again.
struct Traced {
  TraceInputs inputs;
  decomps::TracedCall call;
};
Traced trace_call(const OperatorInfo& op, std::span<const Arg> args, const DeviceState& device,
                  const CallKey& key);

// The inputs of build_plan().
struct PlanRequest {
  std::string name;  // for error texts
  const specs::Bundle& bundle;
  DeviceState& device;
  Traced& traced;
  std::span<const TensorImpl* const>
      tensors;               // of the device: their extents choose the index width
  size_t symbol_values = 0;  // the key's count of them
  // out=: the tensors given, in the order of the results; empty for other calls.
  struct Out {
    const TensorImpl* tensor;
    uint32_t argument, element;
  };
  std::vector<Out> outs;
  bool undefined_contents = false;  // nothing is computed into the results
  std::string* fusion = nullptr;    // set to the text of the fusion plan
};
std::unique_ptr<Plan> build_plan(const PlanRequest& request);

// Throws Error: the call is wrong, or this device cannot run it (not_implemented).
std::unique_ptr<Plan> build_plan(const OperatorInfo& op, std::span<const Arg> args,
                                 DeviceState& device, const CallKey& key,
                                 std::string* fusion = nullptr);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_PLAN_BUILDER_H_
