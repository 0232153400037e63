#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "codegen/emit/emitter.h"
#include "codegen/kernel/ir/text.h"
#include "codegen/kernel/transform/trip_count.h"
#include "codegen/schedule/program/program.h"
#include "prims/graph/text.h"
#include "sdk/cli/command.h"
#include "sdk/cli/literals.h"
#include "sdk/cli/output.h"
#include "sdk/cli/terminal.h"
#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/call/call_error.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan_builder.h"

namespace primset::cli {
namespace {

struct ExplainOptions : OperatorOptions {
  bool json = false;
  std::vector<std::string> stages;
};

// Name and text of each stage, in order.
using Stages = std::vector<std::pair<std::string, std::string>>;

// What runs instead of a plan, and no decomposition says.
bool is_host_function(const runtime::OperatorInfo& op) {
  return !op.overload.intrinsic.empty() &&
         op.bundle.computed_by(op.overload).implementation.kind == specs::ImplKind::none;
}

std::string decomposition(const runtime::OperatorInfo& op) {
  if (is_host_function(op)) return "none: host function " + op.overload.intrinsic;
  const specs::Overload& by = op.bundle.computed_by(op.overload);
  std::string text = &by == &op.overload ? "" : fmt::format("as {}\n", by.qualified);
  switch (by.implementation.kind) {
    case specs::ImplKind::formula:
      return text + by.implementation.formula.text;
    case specs::ImplKind::function:
      return text + "C++ function " + by.implementation.function;
    case specs::ImplKind::view:
      return text + "view function " + by.implementation.function;
    default:
      return text + "none: " +
             (by.status_reason.empty() ? std::string("declared only") : by.status_reason);
  }
}

std::string outputs_text(const runtime::Traced& traced) {
  std::string text;
  const prims::SymContext& symbols = *traced.inputs.context;
  auto list = [&](const prims::SymInts& values) {
    std::vector<std::string> parts;
    for (const auto& v : values) parts.push_back(symbols.to_string(v));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  };
  for (const decomps::TracedOutput& o : traced.call.outputs) {
    constexpr const char* kKinds[] = {"fresh", "argument", "view"};
    text += fmt::format("{} {}{} strides {}", kKinds[static_cast<int>(o.kind)], name(o.dtype),
                        list(o.sizes), list(o.strides));
    if (o.kind != decomps::TracedOutput::Kind::fresh)
      text += fmt::format(" of argument {}", o.argument);
    if (o.kind == decomps::TracedOutput::Kind::view)
      text += fmt::format(" offset {}", symbols.to_string(o.offset));
    text += "\n";
  }
  for (const prims::Guard& g : symbols.guards()) text += "guard " + symbols.to_string(g) + "\n";
  return text;
}

// Goes the way of a call, stage by stage, as far as it leads: a view has no graph, and a device
// without kernels no code.
void add_stages(runtime::Call& call, Stages& stages) {
  const runtime::OperatorInfo& op = call.op;
  call.device = &runtime::device_of(call);
  runtime::CallKey key;
  runtime::make_key(op, call.args, *call.device, key);
  const runtime::Traced traced = runtime::trace_call(op, call.args, *call.device, key);
  stages.emplace_back("result", outputs_text(traced));
  if (!traced.call.graph) return;
  stages.emplace_back("graph", prims::print(*traced.call.graph));
  std::string fusion;
  const auto plan = runtime::build_plan(op, call.args, *call.device, key, &fusion);
  if (!plan->program) return;
  const schedule::Program& program = *plan->program;
  stages.emplace_back("core graph", prims::print(*program.graph));
  stages.emplace_back("fusion", fusion);
  stages.emplace_back("program", schedule::print(program));
  for (const kir::Kernel& k : program.kernels)
    stages.emplace_back("kernel " + k.name, kir::print(k));
  if (!call.device->has_kernels()) return;
  for (const kir::Kernel& k : program.kernels)
    stages.emplace_back("code " + k.name,
                        emit::emit_text(k, kir::without_loop_limit(call.device->target())));
}

Stages explain(const ExplainOptions& options) {
  const OperatorOptions::Bound bound = options.bind();
  const runtime::OperatorInfo& op = *bound.info;
  Stages stages{{"schema", op.overload.schema}, {"decomposition", decomposition(op)}};
  runtime::Call call(op);
  runtime::BindScratch scratch;
  runtime::bind_or_throw(call, bound.args, bound.kwargs, scratch);
  if (op.overload.status == specs::Status::implemented && !is_host_function(op))
    runtime::explaining(call, [&] { add_stages(call, stages); });
  return stages;
}

constexpr std::array<std::string_view, 9> kStages = {"schema",  "decomposition", "result",
                                                     "graph",   "core graph",    "fusion",
                                                     "program", "kernel",        "code"};

// "kernel" selects every stage that begins so.
bool wanted(const std::string& stage, const ExplainOptions& options) {
  if (options.stages.empty()) return true;
  return std::ranges::any_of(options.stages,
                             [&](const std::string& s) { return stage.starts_with(s); });
}

int explain_command(const ExplainOptions& options) {
  auto json = nlohmann::json::array();
  for (const auto& [title, text] : explain(options)) {
    if (!wanted(title, options)) continue;
    if (options.json)
      json.push_back({{"stage", title}, {"text", text}});
    else
      fmt::print("{}{}{}\n", heading(title), text, text.ends_with('\n') ? "" : "\n");
  }
  if (options.json) fmt::print("{}\n", json_text(json, 1));
  return kOk;
}

const Command kExplainCommand(
    "explain", "Show what an operator becomes, from schema to machine code",
    "Example:\n"
    "  primset explain add.Tensor --dtypes f16,f32 --shapes 2x3,3\n"
    "  primset explain sum.dim_IntList --shapes 64x128 --arg dim=1 --device vulkan:0 --stage "
    "kernel\n"
    "Stages: schema, decomposition, result (outputs and guards), graph (primitives), core graph,\n"
    "fusion (what shares a kernel, and why the rest does not), program (buffers and launches), "
    "kernel (kernel IR), code (what the device gets).",
    [](CLI::App& app) {
      auto o = std::make_shared<ExplainOptions>();
      o->declare(app);
      app.add_flag("--json", o->json, "An array of {stage, text}");
      app.add_option("--stage", o->stages, "Only this stage; may be repeated")
          ->allow_extra_args(false)
          ->check(CLI::IsMember(std::vector<std::string>(kStages.begin(), kStages.end())));
      return [o] { return explain_command(*o); };
    });

}  // namespace
}  // namespace primset::cli
