#include "codegen/schedule/testing/random/shrink.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/testing/random/cut.h"
#include "prims/graph/text.h"
#include "prims/graph/traits.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::NodeId;
using prims::ValueId;
using prims::reference::Array;

class Shrinker {
 public:
  Shrinker(const RandomCase& c, const RandomTarget& target) : case_(c), target_(target) {}

  RandomCase run() {
    bool smaller = true;
    for (int round = 0; smaller && round < 8; ++round) {
      smaller = false;
      smaller |= try_each(case_.graph->outputs.size(),
                          [](Cut& cut, size_t j) { cut.outputs.insert(static_cast<uint32_t>(j)); });
      smaller |= try_each(case_.graph->outputs.size(), [&](Cut& cut, size_t j) {
        if (case_.graph->outputs[j].writes_input) cut.fresh.insert(static_cast<uint32_t>(j));
      });
      smaller |= drop_effects();
      smaller |= cut_values();
      smaller |= straighten();
    }
    return case_;
  }

 private:
  bool fails(const RandomCase& c) const {
    if (c.graph->outputs.empty() || !prims::verify(*c.graph).empty()) return false;
    return check_case(c, target_).has_value();
  }

  bool take(const Cut& cut) {
    try {
      RandomCase smaller = without(case_, cut);
      if (!fails(smaller)) return false;
      case_ = std::move(smaller);
      return true;
    } catch (const std::exception&) {
      return false;  // what is left is no graph
    }
  }

  // From the last one on: what follows keeps its number.
  template <typename F>
  bool try_each(size_t count, F change) {
    bool any = false;
    for (size_t i = count; i-- > 0;) {
      Cut cut;
      change(cut, i);
      if (!(cut.outputs.empty() && cut.fresh.empty())) any |= take(cut);
    }
    return any;
  }

  bool drop_effects() {
    bool any = false;
    for (bool again = true; again;) {
      again = false;
      for (NodeId n : std::vector<NodeId>(case_.graph->body.nodes)) {
        if (!prims::has_side_effect(case_.graph->node(n).prim)) continue;
        Cut cut;
        cut.effects.insert(n);
        if (take(cut)) any = again = true;
        if (again) break;
      }
    }
    return any;
  }

  // Sizes that the run makes have no value in the call.
  bool is_known(const prims::SymContext& context, uint32_t atom) const {
    const auto& a = context.atom(atom);
    const auto all_known = [&](const prims::SymContext::Poly& p) {
      return std::ranges::all_of(p, [&](const prims::SymContext::Term& t) {
        return std::ranges::all_of(t.atoms, [&](uint32_t x) { return is_known(context, x); });
      });
    };
    if (a.kind != prims::SymContext::AtomKind::symbol) return all_known(a.lhs) && all_known(a.rhs);
    return std::ranges::find(case_.dynamic, a.symbol) == case_.dynamic.end();
  }

  // What the value holds in the run, where its size is known before.
  std::optional<Array> contents(ValueId v) const {
    RandomCase probe = case_;
    probe.graph = std::make_shared<Graph>(*case_.graph);
    probe.graph->outputs = {{v, "probe", std::nullopt}};
    probe.graph->body.results = {v};
    const auto result = prims::reference::run(*probe.graph, probe.inputs, probe.symbols);
    const Array& a = result.outputs[0];
    const prims::SymContext& context = case_.graph->context();
    for (const prims::SymInt& s : case_.graph->type(v).shape) {
      for (const auto& term : context.poly_of(s)) {
        for (uint32_t atom : term.atoms) {
          if (!is_known(context, atom)) return std::nullopt;
        }
      }
    }
    return prims::reference::from_bytes(a.dtype, a.shape, prims::reference::to_bytes(a));
  }

  // Late values first: as few nodes as may be are left behind them.
  bool cut_values() {
    bool any = false;
    for (size_t k = 0; k < case_.graph->body.nodes.size(); ++k) {
      const prims::Node& n = case_.graph->node(case_.graph->body.nodes[k]);
      Cut cut;
      for (ValueId v : n.results) {
        if (auto a = contents(v)) cut.inputs.emplace(v, std::move(*a));
      }
      if (cut.inputs.empty() || cut.inputs.size() != n.results.size()) continue;
      if (take(cut)) any = true, k = static_cast<size_t>(-1);
    }
    return any;
  }

  // Row-major layouts.
  bool straighten() {
    bool any = false;
    const auto try_layout = [&](auto change) {
      RandomCase plain = case_;
      change(plain);
      if (!fails(plain)) return;
      any = any || text(plain) != text(case_);
      case_ = std::move(plain);
    };
    for (size_t i = 0; i < case_.options.inputs.size(); ++i) {
      try_layout([&](RandomCase& c) {
        const auto strides = dense_strides(c.graph->type(c.graph->inputs[i].value).shape);
        c.options.inputs[i].strides = strides;
        for (size_t j = 0; j < c.options.outputs.size(); ++j) {
          if (c.graph->outputs[j].writes_input == i) c.options.outputs[j].strides = strides;
        }
      });
    }
    for (size_t j = 0; j < case_.options.outputs.size(); ++j) {
      if (case_.graph->outputs[j].writes_input) continue;
      try_layout([&](RandomCase& c) {
        c.options.outputs[j].strides =
            dense_strides(c.graph->type(c.graph->outputs[j].value).shape);
      });
    }
    return any;
  }

  RandomCase case_;
  const RandomTarget& target_;
};

}  // namespace

RandomCase shrunk(const RandomCase& c, const RandomTarget& target) {
  return Shrinker(c, target).run();
}

std::string text(const RandomCase& c) {
  const prims::SymContext& context = c.graph->context();
  std::string out = prims::print(*c.graph);
  const auto layouts = [&](const char* what, const std::vector<Layout>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      out += std::string(what) + " " + std::to_string(i) + " has strides";
      for (const prims::SymInt& s : list[i].strides) out += " " + context.to_string(s);
      out += "\n";
    }
  };
  layouts("input", c.options.inputs);
  layouts("output", c.options.outputs);
  return out;
}

}  // namespace primset::schedule
