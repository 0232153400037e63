#include "codegen/specgen/resolve/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "codegen/specgen/resolve/formula_resolver.h"
#include "codegen/specgen/write/decomps.h"

namespace primset::specs {
namespace {

Position position_of(const Overload& o) {
  return {o.file, o.line, o.column};
}

void refuse_duplicates(const Bundle& bundle, Diagnostics& diagnostics) {
  std::unordered_map<std::string_view, const Overload*> seen;
  for (const Overload& o : bundle.overloads) {
    const auto [it, is_new] = seen.try_emplace(o.qualified, &o);
    if (is_new) continue;
    diagnostics.error(
        position_of(o),
        fmt::format("overload '{}' is already declared, on line {} of {}", o.qualified,
                    it->second->line, diagnostics.file_name(it->second->file)));
  }
}

// Do two overloads take the same arguments, so that one can stand for the other?
bool same_arguments(const Overload& a, const Overload& b) {
  return std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                    [](const Argument& x, const Argument& y) {
                      return x.kind == y.kind && x.optional == y.optional;
                    });
}

void link(const OverloadReference& reference, Bundle& bundle, Diagnostics& diagnostics) {
  Overload& o = bundle.overloads[reference.overload];
  const Overload* target = bundle.find_overload(reference.name);
  if (target == nullptr) {
    std::vector<std::string_view> names;
    for (const Overload& candidate : bundle.overloads) names.push_back(candidate.qualified);
    diagnostics.error(
        reference.position,
        fmt::format("unknown overload {}", quote_with_suggestion(reference.name, names)),
        "op.overload, or op for the default overload");
    return;
  }
  const uint32_t index = bundle.index_of(*target);
  if (target->kind != OverloadKind::functional || index == reference.overload) {
    diagnostics.error(reference.position, fmt::format("'{}' cannot be used here", reference.name),
                      "another functional overload");
    return;
  }
  if (reference.kind == OverloadReference::Kind::base) {
    o.base = index;
    return;
  }
  if (target->implementation.kind == ImplKind::alias) {
    diagnostics.error(reference.position, fmt::format("'{}' is an alias itself", reference.name),
                      "what it stands for");
  } else if (!same_arguments(o, *target)) {
    diagnostics.error(reference.position,
                      fmt::format("{} takes other arguments than {}", reference.name, o.qualified),
                      target->schema);
  }
  o.implementation.target = index;
}

// An implementation makes its variants implemented, an alias what it stands for.
void settle_status(Bundle& bundle) {
  for (Overload& o : bundle.overloads) {
    if (o.implementation.kind != ImplKind::alias || o.implementation.target == kNoIndex) continue;
    o.status = bundle.overloads[o.implementation.target].status;
  }
  for (Overload& o : bundle.overloads) {
    if (o.base != kNoIndex && o.implementation.kind == ImplKind::none) {
      o.status = bundle.overloads[o.base].status;
    }
  }
}

// ATen wants of an alias's out= tensors what it wants of those of the operator itself, and perhaps
// more.
void settle_outs(Bundle& bundle) {
  for (Overload& o : bundle.overloads) {
    if (o.kind != OverloadKind::out || o.base == kNoIndex) continue;
    const Overload& base = bundle.overloads[o.base];
    if (base.implementation.kind != ImplKind::alias || base.implementation.target == kNoIndex)
      continue;
    const OutRule& rule = bundle.overloads[base.implementation.target].outs;
    if (o.outs.strides == StrideRule()) o.outs.strides = rule.strides;
    if (o.outs.shared == SharedMemory::any) o.outs.shared = rule.shared;
    if (o.outs.dtype == OutDType::any) o.outs.dtype = rule.dtype;
  }
}

FormulaContext context_of(const Primitive& p) {
  FormulaContext context{p.name, p.file, {}, p.results.size(), {}};
  for (const Operand& o : p.operands)
    context.parameters.push_back({o.name, true, o.optional, false});
  for (const Attribute& a : p.attributes) {
    const bool known = a.type != AttributeType::size && a.type != AttributeType::sizes &&
                       a.type != AttributeType::scalar;
    const bool optional = a.default_value.kind == DefaultKind::none;
    context.parameters.push_back({a.name, false, optional, known});
  }
  for (const PrimResult& r : p.results) context.result_names.push_back(r.name);
  return context;
}

FormulaContext context_of(const Overload& o) {
  FormulaContext context{o.qualified, o.file, {}, 0, {}};
  for (const Argument& a : o.args) {
    const bool tensor = is_tensor_kind(a.kind);
    context.parameters.push_back(
        {a.name, tensor, a.optional, !tensor && a.role == Role::structural});
    if (o.kind != OverloadKind::functional && a.alias.writes) {
      context.result_names.push_back(a.name);
    }
  }
  if (o.kind == OverloadKind::functional) {
    for (const Return& r : o.returns) context.result_names.push_back(r.name);
  }
  context.result_count = context.result_names.size();
  return context;
}

// A primitive or an overload, as a node of the graph of calls.
struct Node {
  bool primitive;
  uint32_t index;
};

class CallGraph {
 public:
  CallGraph(const Bundle& bundle, Diagnostics& diagnostics)
      : bundle_(bundle),
        diagnostics_(diagnostics),
        calls_(bundle.primitives.size() + bundle.overloads.size()),
        state_(calls_.size(), State::unseen) {}

  void add(Node from, const FormulaCalls& calls) {
    auto& out = calls_[id(from)];
    for (uint32_t p : calls.primitives) out.push_back({true, p});
    for (uint32_t o : calls.overloads) out.push_back({false, o});
  }

  void check() {
    for (uint32_t i = 0; i < bundle_.primitives.size(); ++i) visit({true, i});
    for (uint32_t i = 0; i < bundle_.overloads.size(); ++i) visit({false, i});
  }

 private:
  enum class State : uint8_t { unseen, open, done };

  size_t id(Node n) const { return n.primitive ? n.index : bundle_.primitives.size() + n.index; }

  void visit(Node n) {
    State& state = state_[id(n)];
    if (state == State::done) return;
    if (state == State::open) {
      report(n);
      return;
    }
    state = State::open;
    for (Node callee : calls_[id(n)]) visit(callee);
    state = State::done;
  }

  void report(Node n) {
    if (n.primitive) {
      const Primitive& p = bundle_.primitives[n.index];
      diagnostics_.error({p.file, p.line, p.column},
                         fmt::format("'{}' decomposes into itself", p.name));
    } else {
      const Overload& o = bundle_.overloads[n.index];
      diagnostics_.error(position_of(o), fmt::format("'{}' decomposes into itself", o.qualified));
    }
  }

  const Bundle& bundle_;
  Diagnostics& diagnostics_;
  std::vector<std::vector<Node>> calls_;
  std::vector<State> state_;
};

bool is_unresolved(const Implementation& implementation) {
  return implementation.kind == ImplKind::formula && !implementation.formula.empty();
}

void resolve_formulas(Bundle& bundle, const OperatorSources& sources, Diagnostics& diagnostics) {
  const CallTargets targets(bundle);
  CallGraph graph(bundle, diagnostics);
  for (uint32_t i = sources.first_primitive; i < bundle.primitives.size(); ++i) {
    Primitive& p = bundle.primitives[i];
    if (!is_unresolved(p.decomposition)) continue;
    graph.add({true, i},
              resolve_formula(p.decomposition.formula, context_of(p), targets, diagnostics));
  }
  for (uint32_t i = sources.first_overload; i < bundle.overloads.size(); ++i) {
    Overload& o = bundle.overloads[i];
    if (!is_unresolved(o.implementation)) continue;
    graph.add({false, i},
              resolve_formula(o.implementation.formula, context_of(o), targets, diagnostics));
  }
  graph.check();
}

// Overloads may share a C++ function when it would be declared alike for each.
void check_functions(const Bundle& bundle, Diagnostics& diagnostics) {
  std::unordered_map<std::string_view, std::pair<std::string, const Overload*>> seen;
  for (const Overload& o : bundle.overloads) {
    if (o.implementation.kind != ImplKind::function) continue;
    const auto [it, is_new] = seen.try_emplace(o.implementation.function, cpp_signature(o), &o);
    if (is_new || it->second.first == cpp_signature(o)) continue;
    diagnostics.error(
        position_of(o),
        fmt::format("{} and {} use the function '{}' with different arguments",
                    it->second.second->qualified, o.qualified, o.implementation.function),
        it->second.first);
  }
}

}  // namespace

void resolve(Bundle& bundle, const OperatorSources& sources, Diagnostics& diagnostics) {
  refuse_duplicates(bundle, diagnostics);
  for (const OverloadReference& reference : sources.references) {
    link(reference, bundle, diagnostics);
  }
  link_siblings(sources.siblings, bundle, diagnostics);
  settle_status(bundle);
  settle_outs(bundle);
  resolve_formulas(bundle, sources, diagnostics);
  check_functions(bundle, diagnostics);
}

}  // namespace primset::specs
