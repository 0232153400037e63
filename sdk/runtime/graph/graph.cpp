#include "primset/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "codegen/schedule/program/program.h"
#include "prims/graph/text.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/executor.h"
#include "sdk/runtime/graph/capture.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan_builder.h"
#include "sdk/runtime/plan/plan_cache.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/process_end.h"
#include "sdk/runtime/support/statistics.h"

namespace primset {

using runtime::Arg;
using runtime::DeviceState;
using runtime::Plan;
using runtime::PlanPtr;
using runtime::PlanRef;
using runtime::Slots;

struct Graph::State {
  Function function;
  runtime::PlanCache plans;

  PlanPtr newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }
  // The plan that serves the inputs, captured where there is none; `slots` then has its numbers.
  PlanRef plan_of(std::span<const Tensor> inputs, DeviceState& device, Slots& slots);
  // Runs it; which one.
  PlanRef run(std::span<const Tensor> inputs, DeviceState& device, runtime::Results& results);

 private:
  std::unique_ptr<const Plan> capture(std::span<const Tensor> inputs, DeviceState& device,
                                      const runtime::CallKey& key) const;

  mutable std::mutex mutex_;
  PlanPtr newest_;
};

namespace {

DeviceState& device_of(std::span<const Tensor> inputs) {
  for (const Tensor& t : inputs) {
    if (t.impl()->rank != 0 || !t.device().is_cpu()) return t.impl()->device();
  }
  return inputs.empty() ? runtime::device_state(current_device()) : inputs[0].impl()->device();
}

void check_inputs(std::span<const Tensor> inputs, const DeviceState& device) {
  for (const Tensor& t : inputs) {
    if (!t.defined()) throw Error(ErrorCode::value, "Graph: an input is undefined");
    if (&t.impl()->device() != &device && !runtime::is_scalar_tensor(*t.impl(), device))
      throw Error(ErrorCode::runtime,
                  fmt::format("Expected all tensors to be on the same device, but found at least "
                              "two devices, {} and {}!",
                              device.device().to_string(), t.device().to_string()));
  }
}

// The arguments by storage: tensors of two storages never meet.
std::unordered_map<const void*, std::vector<uint32_t>> arguments_by_storage(
    std::span<const Arg> args) {
  std::unordered_map<const void*, std::vector<uint32_t>> out;
  for (uint32_t i = 0; i < args.size(); ++i)
    out[runtime::tensor_argument(args, i, 0).storage].push_back(i);
  return out;
}

bool writes(const runtime::OutputPlan& o) {
  return o.kind == decomps::TracedOutput::Kind::argument && o.graph_output >= 0;
}

// What the graph writes may not be part of another input.
void check_written(const Plan& plan, std::span<const Arg> args) {
  if (std::ranges::none_of(plan.outputs, writes)) return;
  const auto by_storage = arguments_by_storage(args);
  for (const runtime::OutputPlan& o : plan.outputs) {
    if (!writes(o)) continue;
    const runtime::TensorImpl& written = runtime::tensor_argument(args, o.argument, 0);
    for (const uint32_t i : by_storage.at(written.storage)) {
      const runtime::TensorImpl& other = runtime::tensor_argument(args, i, 0);
      const Overlap overlap = runtime::overlap(written, other);
      if (overlap != Overlap::none && overlap != Overlap::full)
        throw Error(ErrorCode::runtime,
                    fmt::format("Graph: argument {} is written and shares memory with argument {}",
                                o.argument, i));
    }
  }
}

}  // namespace

std::unique_ptr<const Plan> Graph::State::capture(std::span<const Tensor> inputs,
                                                  DeviceState& device,
                                                  const runtime::CallKey& key) const {
  runtime::Replacements replacements;
  for (;;) {
    runtime::Capture capture(device, inputs,
                             runtime::make_graph_inputs(inputs, device, key, replacements));
    const std::vector<Tensor> results = function(capture.arguments());
    const runtime::DefaultFloatingPoint scope;
    runtime::Traced traced = capture.finish(results);
    if (traced.inputs.learn(replacements)) continue;
    const runtime::PlanRequest request{"graph",
                                       runtime::OperatorRegistry::instance().bundle(),
                                       device,
                                       traced,
                                       key.tensors.list(),
                                       key.symbol_values.size(),
                                       {}};
    std::unique_ptr<Plan> plan = runtime::build_plan(request);
    plan->constants = capture.constants();
    plan->returned = results.size();
    return plan;
  }
}

PlanRef Graph::State::plan_of(std::span<const Tensor> inputs, DeviceState& device, Slots& slots) {
  runtime::CallKey key;
  runtime::make_graph_key(inputs, device, key);
  if (PlanRef known = plans.find(key, slots)) return known;
  PlanRef plan =
      plans.make(key, slots, {device, "graph", [&] { return capture(inputs, device, key); }});
  const std::lock_guard lock(mutex_);
  newest_ = plan->shared_from_this();
  return plan;
}

Graph Graph::capture(std::span<const Tensor> examples, Function function) {
  Graph graph;
  graph.state_ = std::make_shared<State>();
  graph.state_->function = std::move(function);
  DeviceState& device = device_of(examples);
  check_inputs(examples, device);
  Slots slots;
  graph.state_->plan_of(examples, device, slots);
  return graph;
}

PlanRef Graph::State::run(std::span<const Tensor> inputs, DeviceState& device,
                          runtime::Results& results) {
  Slots slots;
  PlanRef plan = plan_of(inputs, device, slots);
  std::vector<Arg> args;
  args.reserve(inputs.size() + plan->constants.size());
  for (const Tensor& t : inputs) args.emplace_back(t);
  for (const Tensor& t : plan->constants) args.emplace_back(t);
  check_written(*plan, args);
  const runtime::CallScope scope;
  runtime::execute(*plan, {args, &device, slots.data()}, results);
  return plan;
}

std::vector<Tensor> Graph::run(std::span<const Tensor> inputs) const {
  DeviceState& device = device_of(inputs);
  check_inputs(inputs, device);
  runtime::Results results;
  PlanRef plan;
  try {
    plan = state_->run(inputs, device, results);
  } catch (const runtime::NativeRefused&) {
    results.clear();
    const runtime::WithoutNatives scope;
    plan = state_->run(inputs, device, results);
  }
  runtime::count(runtime::Counter::calls);
  std::vector<Tensor> out;
  for (size_t i = 0; i < plan->returned; ++i) out.push_back(results.take(i));
  return out;
}

std::string Graph::to_string() const {
  const PlanPtr plan = state_->newest();
  if (!plan->program) return "(computes nothing)";
  return prims::print(*plan->graph) + "\n" + schedule::print(*plan->program);
}

}  // namespace primset
