#include "sdk/cli/reachable.h"

#include "primset/error.h"
#include "sdk/cli/literals.h"
#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan_builder.h"

namespace primset::cli {
namespace {

class Finder {
 public:
  explicit Finder(const specs::Bundle& bundle) : bundle_(bundle) {}

  void overload(uint32_t index) {
    if (!overloads_.insert(index).second) return;
    const specs::Overload& by = bundle_.computed_by(bundle_.overloads[index]);
    if (by.implementation.kind == specs::ImplKind::formula)
      formula(by.implementation.formula);
    else if (by.implementation.kind == specs::ImplKind::function)
      trace(by);
  }
  // False when every primitive has been found.
  bool add(prims::Graph& graph) {
    nodes(graph);
    decomps::expand_derived(graph, bundle_,
                            [](const prims::Graph&, prims::NodeId) { return false; });
    nodes(graph);
    return primitives_.size() < bundle_.primitives.size();
  }
  std::set<uint32_t> found() && { return std::move(primitives_); }

 private:
  void primitive(uint32_t index) {
    if (!primitives_.insert(index).second) return;
    const specs::Primitive& p = bundle_.primitives[index];
    if (p.decomposition.kind == specs::ImplKind::formula) formula(p.decomposition.formula);
  }

  void formula(const specs::Formula& f) {
    for (const specs::FormulaNode& n : f.nodes) {
      if (n.kind == specs::NodeKind::call) callee(n);
      if (n.kind == specs::NodeKind::unary || n.kind == specs::NodeKind::binary) arithmetic(n);
    }
  }
  void callee(const specs::FormulaNode& n) {
    if (n.callee == specs::Callee::primitive) return primitive(n.target);
    if (n.callee == specs::Callee::builtin) {
      if (n.text == "where") named("select");
      return;
    }
    // `target` is the first overload of the name; which one is meant depends on the arguments.
    const std::string& op = bundle_.overloads[n.target].op;
    for (uint32_t i = 0; i < bundle_.overloads.size(); ++i) {
      if (bundle_.overloads[i].op == op) overload(i);
    }
  }
  void arithmetic(const specs::FormulaNode& n) {
    using enum specs::FormulaOp;
    switch (n.op) {
      case negate:
        return named("neg");
      case add:
        return named("add");
      case sub:
        return named("sub");
      case mul:
        return named("mul");
      case div:
        return named("div");
      case remainder:
        return named("rem");
      case power:
        return named("pow");
      case equal:
        return named("eq");
      case not_equal:
        return named("ne");
      case less:
        return named("lt");
      case less_equal:
        return named("le");
      case greater:
        return named("gt");
      case greater_equal:
        return named("ge");
      case bit_and:
        return named("and");
      case bit_or:
        return named("or");
      case bit_xor:
        return named("xor");
      case bit_not:
        return named("not");
      default:
        return;
    }
  }
  void named(std::string_view name) {
    if (const specs::Primitive* p = bundle_.find_primitive(name)) primitive(bundle_.index_of(*p));
  }

  // Traces with tensors of a few shapes and dtypes; a combination an operator refuses shows
  // nothing.
  void trace(const specs::Overload& o) {
    for (const char* dtype : {"f32", "i64", "bool", "c64", "f16"}) {
      for (const char* shape : {"4x4", "2x3x4x4", "6", "2x4x4", "2x3x4x4x4"}) {
        OperatorOptions options;
        options.op = o.qualified;
        options.dtypes = dtype;
        options.shapes = shape;
        options.device = "meta";
        try {
          trace(options);
        } catch (const Error&) {
        }
      }
    }
  }
  void trace(const OperatorOptions& options) {
    const OperatorOptions::Bound bound = options.bind();
    runtime::Call call(*bound.info);
    runtime::BindScratch scratch;
    if (!runtime::bind(call, bound.args, bound.kwargs, runtime::Strictness::converts, scratch))
      return;
    runtime::DeviceState& meta = runtime::device_state(Device::meta());
    runtime::CallKey key;
    runtime::make_key(*bound.info, call.args, meta, key);
    const runtime::Traced traced = runtime::trace_call(*bound.info, call.args, meta, key);
    if (traced.call.graph) add(*traced.call.graph);
  }
  void nodes(const prims::Graph& graph) {
    for (prims::NodeId n = 0; n < graph.node_count(); ++n)
      named(prims::info(graph.node(n).prim).name);
  }

  const specs::Bundle& bundle_;
  std::set<uint32_t> overloads_, primitives_;
};

std::vector<CallGraphs>& sources() {
  static std::vector<CallGraphs> list;
  return list;
}

}  // namespace

CallGraphSource::CallGraphSource(CallGraphs graphs) {
  sources().push_back(std::move(graphs));
}

std::set<uint32_t> reachable_primitives(const specs::Bundle& bundle) {
  Finder finder(bundle);
  for (uint32_t i = 0; i < bundle.overloads.size(); ++i) {
    if (bundle.overloads[i].status == specs::Status::implemented) finder.overload(i);
  }
  for (const CallGraphs& graphs : sources()) {
    graphs(bundle, [&](prims::Graph& graph) { return finder.add(graph); });
  }
  return std::move(finder).found();
}

}  // namespace primset::cli
