#include "conformance/runner/graph_launch.h"

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/executor.h"
#include "sdk/runtime/plan/plan_builder.h"

namespace primset::conformance {
namespace {

using decomps::TensorMeta;
using prims::SymInts;

// A plan for just these tensors: every size and stride is a constant.
TensorMeta describe(const Tensor& t, uint32_t identity) {
  TensorMeta m;
  m.dtype = t.dtype();
  m.sizes = SymInts(t.sizes().begin(), t.sizes().end());
  m.strides = SymInts(t.strides().begin(), t.strides().end());
  m.storage_offset = t.storage_offset();
  m.identity = identity;
  return m;
}

runtime::Traced as_traced_call(const prims::Graph& graph, std::span<const Tensor> tensors) {
  runtime::Traced traced;
  traced.inputs.context = graph.shared_context();
  for (const Tensor& t : tensors) {
    traced.inputs.actuals.push_back(
        {describe(t, static_cast<uint32_t>(traced.inputs.actuals.size()))});
  }
  // The planner rewrites its graph.
  traced.call.graph = std::make_shared<prims::Graph>(graph);
  for (uint32_t i = 0; i < graph.inputs.size(); ++i) {
    // A number travels in the parameters of launches; the runtime reads it from its tensor.
    const bool number = graph.inputs[i].kind == prims::Input::Kind::scalar;
    using Kind = decomps::InputSource::Kind;
    traced.call.inputs.push_back({number ? Kind::scalar : Kind::tensor, i, 0});
  }
  for (uint32_t k = 0; k < graph.outputs.size(); ++k) {
    const prims::ValueType& type = graph.type(graph.outputs[k].value);
    decomps::TracedOutput out;
    out.dtype = type.dtype;
    out.sizes = type.shape;
    out.strides = decomps::contiguous_strides(type.shape);
    out.graph_output = k;
    traced.call.outputs.push_back(std::move(out));
  }
  return traced;
}

}  // namespace

GraphLaunch::GraphLaunch(const specs::Bundle& bundle, const prims::Graph& graph,
                         std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         Device device)
    : device_(device), tensors_(inputs.begin(), inputs.end()) {
  tensors_.insert(tensors_.end(), outputs.begin(), outputs.end());
  runtime::Traced traced = as_traced_call(graph, tensors_);
  std::vector<const runtime::TensorImpl*> impls;
  for (const Tensor& t : tensors_) impls.push_back(t.impl());
  runtime::PlanRequest request{
      "a graph of primitives", bundle, runtime::device_state(device), traced, impls, 0, {}};
  for (size_t k = 0; k < outputs.size(); ++k) {
    auto argument = static_cast<uint32_t>(inputs.size() + k);
    request.outs.push_back({outputs[k].impl(), argument, 0});
  }
  plan_ = runtime::build_plan(request);
}

GraphLaunch::~GraphLaunch() = default;

std::vector<Tensor> GraphLaunch::run() {
  std::vector<int64_t> slots(plan_->code.slots + 1);
  if (!plan_->admits(slots.data())) {
    throw Error(ErrorCode::internal, "a plan does not admit the call that it was made for");
  }
  std::vector<runtime::Arg> args(tensors_.begin(), tensors_.end());
  runtime::Results results;
  runtime::execute(*plan_, {args, &runtime::device_state(device_), slots.data()}, results);
  // The plan's kernels must outlive their work.
  synchronize(device_);
  std::vector<Tensor> out;
  for (size_t i = 0; i < results.size(); ++i) out.push_back(results.take(i));
  return out;
}

}  // namespace primset::conformance
