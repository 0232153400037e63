#include "primset/graph.h"

#include <fmt/format.h>

#include "codegen/schedule/program/program.h"
#include "prims/graph/text.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/executor.h"
#include "sdk/runtime/graph/capture.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan_builder.h"
#include "sdk/runtime/plan/plan_cache.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/statistics.h"

namespace primset {

using runtime::Arg;
using runtime::DeviceState;
using runtime::Plan;
using runtime::PlanEntry;

struct Graph::State {
  Function function;
  mutable runtime::PlanCache plans;
  std::atomic<const Plan*> newest{nullptr};

  using Slots = runtime::SmallVector<int64_t, 256>;
  const Plan* admitted(const PlanEntry& entry, const runtime::CallKey& key, Slots& slots) const;
  const Plan& plan(std::span<const Tensor> inputs, DeviceState& device, const runtime::CallKey& key,
                   Slots& slots);
  std::unique_ptr<const Plan> capture(std::span<const Tensor> inputs, DeviceState& device,
                                      const runtime::CallKey& key) const;
  // Runs the plan that serves the inputs; which one.
  const Plan& run(std::span<const Tensor> inputs, DeviceState& device, runtime::Results& results);
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

// What the graph writes may not be part of another input.
void check_written(const Plan& plan, std::span<const Arg> args) {
  for (const runtime::OutputPlan& o : plan.outputs) {
    if (o.kind != decomps::TracedOutput::Kind::argument || o.graph_output < 0) continue;
    const runtime::TensorImpl& written = runtime::tensor_argument(args, o.argument, 0);
    for (uint32_t i = 0; i < args.size(); ++i) {
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

const Plan* Graph::State::admitted(const PlanEntry& entry, const runtime::CallKey& key,
                                   Slots& slots) const {
  for (auto* n = entry.first.load(std::memory_order_acquire); n; n = n->next) {
    slots.resize_uninitialized(n->plan->code.slots);
    std::copy(key.raw.begin(), key.raw.end(), slots.begin());
    if (n->plan->admits(slots.data())) return n->plan.get();
  }
  return nullptr;
}

std::unique_ptr<const Plan> Graph::State::capture(std::span<const Tensor> inputs,
                                                  DeviceState& device,
                                                  const runtime::CallKey& key) const {
  runtime::Replacements replacements;
  for (;;) {
    runtime::Capture capture(device, inputs,
                             runtime::make_graph_inputs(inputs, device, key, replacements));
    const std::vector<Tensor> results = function(capture.arguments());
    runtime::Traced traced = capture.finish(results);
    if (traced.inputs.learn(replacements)) continue;
    const runtime::PlanRequest request{"graph",     runtime::OperatorRegistry::instance().bundle(),
                                       device,      traced,
                                       key.tensors, key.raw.size(),
                                       {}};
    std::unique_ptr<Plan> plan = runtime::build_plan(request);
    plan->constants = capture.constants();
    plan->returned = results.size();
    return plan;
  }
}

const Plan& Graph::State::plan(std::span<const Tensor> inputs, DeviceState& device,
                               const runtime::CallKey& key, Slots& slots) {
  if (const PlanEntry* entry = plans.find(key)) {
    if (const Plan* known = admitted(*entry, key, slots)) return *known;
  }
  PlanEntry& entry = plans.find_or_add(key);
  std::lock_guard lock(entry.making);
  if (const Plan* other = admitted(entry, key, slots)) return *other;
  std::unique_ptr<const Plan> made = capture(inputs, device, key);
  newest = made.get();
  entry.add(std::move(made));
  if (const Plan* known = admitted(entry, key, slots)) return *known;
  throw Error(ErrorCode::internal, "a new graph does not admit the inputs it was captured with");
}

Graph Graph::capture(std::span<const Tensor> examples, Function function) {
  Graph graph;
  graph.state_ = std::make_shared<State>();
  graph.state_->function = std::move(function);
  DeviceState& device = device_of(examples);
  check_inputs(examples, device);
  runtime::CallKey key;
  runtime::make_graph_key(examples, device, key);
  State::Slots slots;
  graph.state_->plan(examples, device, key, slots);
  return graph;
}

const Plan& Graph::State::run(std::span<const Tensor> inputs, DeviceState& device,
                              runtime::Results& results) {
  runtime::CallKey key;
  runtime::make_graph_key(inputs, device, key);
  Slots slots;
  const Plan& plan = this->plan(inputs, device, key, slots);
  std::vector<Arg> args;
  for (const Tensor& t : inputs) args.emplace_back(t);
  for (const Tensor& t : plan.constants) args.emplace_back(t);
  check_written(plan, args);
  runtime::execute(plan, {args, &device, slots.data()}, results);
  return plan;
}

std::vector<Tensor> Graph::run(std::span<const Tensor> inputs) const {
  DeviceState& device = device_of(inputs);
  check_inputs(inputs, device);
  runtime::Results results;
  const Plan* plan = nullptr;
  try {
    plan = &state_->run(inputs, device, results);
  } catch (const runtime::NativeRefused&) {
    results.clear();
    const runtime::WithoutNatives scope;
    plan = &state_->run(inputs, device, results);
  }
  runtime::count(runtime::Counter::calls);
  std::vector<Tensor> out;
  for (size_t i = 0; i < plan->returned; ++i) out.push_back(results.take(i));
  return out;
}

std::string Graph::to_string() const {
  const Plan* plan = state_->newest;
  if (!plan->program) return "(computes nothing)";
  return prims::print(*plan->graph) + "\n" + schedule::print(*plan->program);
}

}  // namespace primset
