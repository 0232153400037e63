#include "sdk/runtime/plan/plan_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "codegen/schedule/legalize/native_bounds.h"
#include "codegen/schedule/legalize/scalar_regions.h"
#include "codegen/schedule/schedule.h"
#include "decomps/engine/narrow_floats.h"
#include "prims/graph/builder.h"
#include "prims/graph/present_operands.h"
#include "prims/graph/traits.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/executor.h"
#include "sdk/runtime/execute/native_selection.h"
#include "sdk/runtime/execute/scalar_tensors.h"
#include "sdk/runtime/plan/recompilation_log.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/statistics.h"

namespace primset::runtime {
namespace {

using decomps::TracedOutput;
using prims::SymInt;
using prims::SymInts;

const decomps::TensorMeta* meta_of(const decomps::Actual& actual, uint32_t element) {
  if (auto* t = std::get_if<decomps::TensorMeta>(&actual.value)) return t;
  if (auto* l = std::get_if<std::vector<decomps::TensorMeta>>(&actual.value)) return &(*l)[element];
  if (auto* l = std::get_if<std::vector<std::optional<decomps::TensorMeta>>>(&actual.value))
    return (*l)[element] ? &*(*l)[element] : nullptr;
  return nullptr;
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request)
      : request_(request),
        device_(request.device),
        traced_(request.traced),
        outs_(request.outs),
        plan_(std::make_unique<Plan>()) {}

  std::unique_ptr<Plan> build() {
    choose_outs();
    const bool computes = traced_.call.graph && plan_->outs != Plan::Outs::resize;
    if (computes) {
      bind_outs();
      if (request_.undefined_contents)
        require_types(*traced_.call.graph);
      else if (!device_.is_meta())
        make_program();
    }
    compile();
    count(Counter::plans);
    return std::move(plan_);
  }

 private:
  prims::SymContext& context() { return *traced_.inputs.context; }
  const decomps::TensorMeta& out_meta(size_t k) const {
    return *meta_of(traced_.inputs.actuals[outs_[k].argument], outs_[k].element);
  }

  // out=: do the given tensors have the sizes of the results?
  void choose_outs() {
    if (outs_.empty()) return;
    // What follows the out tensors are arguments that are written besides.
    if (traced_.call.outputs.size() < outs_.size())
      throw Error(ErrorCode::internal,
                  fmt::format("{}: {} results for {} out tensors", request_.name,
                              traced_.call.outputs.size(), outs_.size()));
    plan_->outs = Plan::Outs::fit;
    for (const TracedOutput& o : traced_.call.outputs) {
      const auto dynamic = [&](const SymInt& s) { return traced_.inputs.depends_on_run(s); };
      if (std::ranges::any_of(o.sizes, dynamic)) plan_->outs = Plan::Outs::after;
    }
    if (plan_->outs == Plan::Outs::after) return;
    for (size_t k = 0; k < outs_.size(); ++k) {
      const auto have = outs_[k].tensor->sizes();
      const SymInts& want = traced_.call.outputs[k].sizes;
      if (have.size() != want.size()) plan_->rank_differs = true;
      const bool same =
          std::ranges::equal(have, want, {}, {}, [](const SymInt& s) { return s.hint(); });
      if (!same) plan_->outs = Plan::Outs::resize;
    }
  }

  // There are no out tensors, or none that the run itself could write.
  bool outs_are_sized_later() const {
    return plan_->outs == Plan::Outs::none || plan_->outs == Plan::Outs::after;
  }

  // Results go straight into the out tensors, and in place where one is an input as well.
  void bind_outs() {
    if (plan_->outs != Plan::Outs::fit) return;
    prims::Graph& graph = *traced_.call.graph;
    const std::map<uint32_t, uint32_t> inputs = inputs_by_identity();
    for (size_t k = 0; k < outs_.size(); ++k) {
      const TracedOutput& output = traced_.call.outputs[k];
      if (output.dtype != outs_[k].tensor->dtype)
        throw Error(ErrorCode::internal,
                    fmt::format("{}: result {} is {}, its out tensor {}", request_.name, k,
                                name(output.dtype), name(outs_[k].tensor->dtype)));
      if (!output.graph_output) continue;
      const auto same = inputs.find(out_meta(k).identity);
      graph.outputs[*output.graph_output].writes_input =
          same == inputs.end() ? std::nullopt : std::optional(same->second);
    }
  }

  // The graph's inputs by which memory they are; the first of each.
  std::map<uint32_t, uint32_t> inputs_by_identity() const {
    std::map<uint32_t, uint32_t> out;
    for (uint32_t i = 0; i < traced_.call.inputs.size(); ++i) {
      const decomps::InputSource& s = traced_.call.inputs[i];
      if (s.kind != decomps::InputSource::Kind::tensor) continue;
      if (const auto* meta = meta_of(traced_.inputs.actuals[s.argument], s.element))
        out.emplace(meta->identity, i);
    }
    return out;
  }

  schedule::Options schedule_options() {
    const prims::Graph& graph = *traced_.call.graph;
    schedule::Options options;
    for (uint32_t i = 0; i < graph.inputs.size(); ++i) {
      const decomps::InputSource& s = traced_.call.inputs[i];
      const auto* meta = s.kind == decomps::InputSource::Kind::tensor
                             ? meta_of(traced_.inputs.actuals[s.argument], s.element)
                             : nullptr;
      options.inputs.push_back({meta ? meta->strides : SymInts{}});
    }
    options.outputs.resize(graph.outputs.size());
    for (size_t k = 0; k < traced_.call.outputs.size(); ++k) {
      const TracedOutput& o = traced_.call.outputs[k];
      if (o.graph_output) options.outputs[*o.graph_output].strides = output_strides(o, k);
    }
    options.index32 = fits_index32();
    options.fuse = runtime::options_fuse();
    options.kernels = device_.has_kernels();
    options.fusion_text = request_.fusion;
    const plugin::PluginDevice& plugin = device_.plugin();
    if (plugin.primitives())
      options.native = [&plugin](const prims::Graph& g, prims::NodeId n) {
        return runs_natively(plugin, g, n);
      };
    return options;
  }

  const SymInts& output_strides(const TracedOutput& o, size_t k) const {
    if (o.kind == TracedOutput::Kind::argument)
      return meta_of(traced_.inputs.actuals[o.argument], o.element)->strides;
    if (plan_->outs == Plan::Outs::fit && k < outs_.size()) return out_meta(k).strides;
    return o.strides;
  }

  // A thread of a SIMT device counts on by the whole grid's width, which may take it as far behind
  // the end as the end is from 0.
  int64_t most_index32() const { return device_.target().simt ? INT32_MAX / 2 : INT32_MAX; }

  // Every count of elements anywhere in the graph, and every extent in memory, results' strides
  // included, fits 31 bits.
  bool fits_index32() {
    for (const TensorImpl* t : request_.tensors) {
      if (extent(t->sizes(), t->strides()) > most_index32()) return false;
    }
    for (const SymInt& n : element_counts()) {
      if (n.hint() > most_index32()) return false;
    }
    for (size_t k = 0; k < traced_.call.outputs.size(); ++k) {
      const TracedOutput& o = traced_.call.outputs[k];
      if (o.graph_output && extent(hints(o.sizes), hints(output_strides(o, k))) > most_index32())
        return false;
    }
    return true;
  }

  static std::vector<int64_t> hints(const SymInts& values) {
    std::vector<int64_t> out;
    for (const SymInt& v : values) out.push_back(v.hint());
    return out;
  }

  // The distinct counts that are symbolic, and the constants that are too large.
  SymInts element_counts() {
    const prims::Graph& graph = *traced_.call.graph;
    SymInts counts;
    std::unordered_set<uint32_t> known;
    for (prims::ValueId v = 0; v < graph.value_count(); ++v) {
      const SymInt n = prims::product(graph.type(v).shape);
      if (n.is_constant() ? n.constant() > most_index32() : known.insert(n.poly()).second)
        counts.push_back(n);
    }
    return counts;
  }

  // A plugin may hold tensors of a dtype that its kernels cannot compute in.
  bool kernels_lack(DType t) const {
    const kir::TargetModel& target = device_.target();
    return (is_wide_float(t) && !target.f64) || (is_wide_integer(t) && !target.i64);
  }
  static bool is_wide_float(DType t) { return t == DType::f64 || t == DType::c128; }
  static bool is_wide_integer(DType t) { return t == DType::i64 || t == DType::u64; }

  void take_scalars(prims::Graph& graph) {
    if (device_.target().f64 && device_.target().i64) return;
    const auto is_known = [&](const SymInt& s) { return !traced_.inputs.depends_on_run(s); };
    if (!device_.target().f64) decomps::narrow_floats(graph, is_known);
    const auto lacks = [&](DType t) { return kernels_lack(t); };
    host_scalars_ = take_host_scalars(graph, traced_.call.inputs, {lacks, is_known});
    if (!host_scalars_) return;
    scalars_.resize(graph.inputs.size());
    for (size_t i = 0; i < host_scalars_->graph.outputs.size(); ++i)
      scalars_[scalars_.size() - 1 - i] = Scalar(0);  // until it is computed
  }

  void require_types(const prims::Graph& graph) const {
    for (const prims::Input& in : graph.inputs)
      if (in.kind == prims::Input::Kind::tensor) require_type(graph, in.value);
    for (const prims::ValueId v : graph.body.results) require_type(graph, v);
    require_types(graph, graph.body);
  }
  // Integers between tensors become narrow where they fit (codegen/schedule/legalize).
  void require_types(const prims::Graph& graph, const prims::Region& region) const {
    for (const prims::NodeId id : region.nodes) {
      const prims::Node& n = graph.node(id);
      for (const prims::ValueId v : n.results)
        if (!is_wide_integer(graph.type(v).dtype)) require_type(graph, v);
      for (const prims::Region& r : n.regions) require_types(graph, r);
    }
  }
  void require_type(const prims::Graph& graph, prims::ValueId v) const {
    if (!kernels_lack(graph.type(v).dtype)) return;
    throw Error(ErrorCode::not_implemented,
                fmt::format("{} computes in {}, which kernels of {} lack", request_.name,
                            name(graph.type(v).dtype), device_.device().to_string()));
  }

  void make_program() {
    prims::Graph& graph = *traced_.call.graph;
    const plugin::PluginDevice& plugin = device_.plugin();
    const auto is_kept = [&](const prims::Graph& g, prims::NodeId n) {
      return runs_natively(plugin, g, n) ||
             (device_.has_kernels() && schedule::is_legal_derived(g, n, device_.machine()));
    };
    decomps::expand_derived(graph, request_.bundle, is_kept, device_.traits());
    const auto native = [&](const prims::Graph& g, prims::NodeId n) {
      return runs_natively(plugin, g, n);
    };
    if (plugin.primitives()) graph = schedule::with_bounds_checks(graph, native);
    if (!device_.has_kernels()) {
      graph = schedule::expand_scalar_regions(graph);
      scalars_ = scalars_to_tensors(graph, traced_.call.inputs, native);
    }
    if (device_.has_kernels()) {
      take_scalars(graph);
      require_types(graph);
    }
    const schedule::Options options = schedule_options();
    index32_ = options.index32;
    plan_->computes = true;
    plan_->graph = traced_.call.graph;
    plan_->program = std::make_shared<const schedule::Program>(
        schedule::schedule(traced_.call.graph, device_.machine(), options));
    if (!device_.has_kernels() && !plan_->program->kernels.empty())
      throw Error(ErrorCode::not_implemented,
                  fmt::format("{} takes no kernels and does not run {} natively",
                              device_.device().to_string(), missing_primitives(graph)));
  }

  // "'mul', 'where'": what a device without kernels would have to run.
  std::string missing_primitives(const prims::Graph& graph) const {
    std::set<std::string> names;
    add_missing(graph, graph.body, names);
    return fmt::format("{}", fmt::join(names, ", "));
  }
  // Loops and branches are the host's; what is inside them is not.
  void add_missing(const prims::Graph& graph, const prims::Region& region,
                   std::set<std::string>& names) const {
    for (prims::NodeId id : region.nodes) {
      const prims::Node& n = graph.node(id);
      for (const prims::Region& r : n.regions) add_missing(graph, r, names);
      const bool hosts = prims::is_control_flow(n.prim) || n.prim == prims::Prim::set_dim;
      if (!hosts && !runs_natively(device_.plugin(), graph, id))
        names.insert(fmt::format("'{}'", prims::info(n.prim).name));
    }
  }

  void compile() {
    CodeBuilder code(context(), static_cast<uint32_t>(request_.symbol_values));
    for (uint32_t s = 0; s < traced_.inputs.value_of_symbol.size(); ++s)
      code.bind(s, traced_.inputs.value_of_symbol[s]);
    guards(code);
    plan_->guard_insts = code.position();
    // Dynamic symbols get their slots here, before any size that depends on one is asked for.
    ProgramCompiler compiler(*plan_, device_, code);
    if (plan_->program) compiler.bind_dynamic_symbols(plan_->program->steps);
    outputs(code);
    if (plan_->program)
      compiler.compile(*plan_->program, traced_.call.inputs, scalars_, request_.name);
    if (host_scalars_) plan_->host_scalars = compiler.host_scalars(*std::move(host_scalars_));
    plan_->fits = traced_.call.fits;
    plan_->draws_random = traced_.call.draws_random;
    plan_->finish_steps();
    plan_->random_counters = code.slot(traced_.call.random_counters);
    plan_->code = std::move(code).finish();
  }

  // `text` says what holds, for people; called when somebody watches.
  template <typename Text>
  void require(Slot slot, prims::Guard::Relation relation, Text text) {
    plan_->guards.push_back({slot, relation});
    if (logged_) plan_->guard_texts.push_back(text());
  }

  void guards(CodeBuilder& code) {
    for (const auto& [index, value] : traced_.inputs.equalities)
      require(code.difference(index, code.slot(value)), prims::Guard::Relation::eq,
              [&] { return fmt::format("n{} - ({}) == 0", index, context().to_string(value)); });
    for (const prims::Guard& g : context().guards()) {
      // A guard on what only the run tells was a choice between correct alternatives.
      if (traced_.inputs.depends_on_run(context().poly(g.poly))) continue;
      require(code.slot_of_poly(context().poly(g.poly)), g.relation,
              [&] { return context().to_string(g); });
    }
    if (plan_->program && index32_) index_guards(code);
    if (!outs_are_sized_later() && !plan_->rank_differs) out_sizes(code);
  }

  void index_guards(CodeBuilder& code) {
    std::unordered_set<uint32_t> known;
    const auto fits = [&](const SymInt& n) {
      if (n.is_constant() || traced_.inputs.depends_on_run(n)) return;
      if (!known.insert(n.poly()).second) return;
      require(code.slot(n - SymInt(most_index32() + 1)), prims::Guard::Relation::lt,
              [] { return std::string("indices of 32 bits reach every element"); });
    };
    for (const SymInt& n : element_counts()) fits(n);
    for (const schedule::Buffer& b : plan_->program->buffers) fits(b.elements);
  }

  void out_sizes(CodeBuilder& code) {
    for (size_t k = 0; k < outs_.size(); ++k) {
      const SymInts& have = out_meta(k).sizes;
      for (size_t d = 0; d < have.size(); ++d)
        plan_->out_sizes.push_back(
            {code.slot(have[d]), code.slot(traced_.call.outputs[k].sizes[d])});
    }
  }

  void outputs(CodeBuilder& code) {
    for (size_t k = 0; k < traced_.call.outputs.size(); ++k) {
      const TracedOutput& from = traced_.call.outputs[k];
      OutputPlan& to = plan_->outputs.emplace_back();
      to.kind = from.kind;
      to.dtype = from.view_dtype.value_or(from.dtype);
      to.rank = static_cast<uint32_t>(from.sizes.size());
      to.argument = from.argument;
      to.element = from.element;
      to.conj = from.conj;
      to.neg = from.neg;
      to.same_dtype = !from.view_dtype;
      to.offset = code.slot(from.offset);
      to.graph_output = from.graph_output ? static_cast<int32_t>(*from.graph_output) : -1;
      if (!outs_are_sized_later() && k < outs_.size()) {
        to.out_argument = static_cast<int32_t>(outs_[k].argument);
        to.out_element = outs_[k].element;
      }
      to.dims = static_cast<uint32_t>(plan_->dim_slots.size());
      for (const SymInts* list : {&from.sizes, &from.strides}) {
        for (const SymInt& v : *list) {
          plan_->dim_slots.push_back(code.slot(v));
          to.dynamic |= code.is_dynamic(plan_->dim_slots.back());
        }
      }
    }
  }

  const PlanRequest& request_;
  DeviceState& device_;
  Traced& traced_;
  const std::vector<PlanRequest::Out>& outs_;
  std::unique_ptr<Plan> plan_;
  std::vector<std::optional<Scalar>> scalars_;  // see scalar_tensors.h
  std::optional<HostScalars> host_scalars_;
  bool index32_ = true;
  const bool logged_ = recompilation_log_enabled();
};

}  // namespace

Traced trace_call(const OperatorInfo& op, std::span<const Arg> args, const DeviceState& device,
                  const CallKey& key) {
  Replacements replacements;
  for (;;) {
    Traced traced;
    traced.inputs = make_trace_inputs(op, args, device, key, replacements);
    const TraceInputs& in = traced.inputs;
    traced.call = decomps::trace(op.bundle, op.overload, in.actuals, in.context, device.traits());
    if (!in.learn(replacements)) return traced;
  }
}

std::unique_ptr<Plan> build_plan(const PlanRequest& request) {
  return Planner(request).build();
}

std::unique_ptr<Plan> build_plan(const OperatorInfo& op, std::span<const Arg> args,
                                 DeviceState& device, const CallKey& key, std::string* fusion) {
  log(LogLevel::debug, "{}: making a plan for {}", device.device().to_string(),
      op.overload.qualified);
  Traced traced = trace_call(op, args, device, key);
  PlanRequest request{op.overload.op,           op.bundle, device, traced, key.tensors.list(),
                      key.symbol_values.size(), {}};
  request.undefined_contents = op.bundle.computed_by(op.overload).undefined_contents;
  request.fusion = fusion;
  for (uint32_t i : op.outs) {
    const Arg& a = args[i];
    const uint32_t count = a.kind == Arg::Kind::tensor_list ? a.count : 1;
    for (uint32_t e = 0; e < count; ++e)
      request.outs.push_back({&tensor_argument(args, i, e), i, e});
  }
  return build_plan(request);
}

}  // namespace primset::runtime
