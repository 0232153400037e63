#include "prims/graph/verifier.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "prims/graph/text.h"
#include "prims/graph/traits.h"
#include "prims/inference/rules.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.value_count(), false) {}

  std::vector<std::string> run() {
    check_symbols();
    check_borders();
    if (!errors_.empty()) return errors_;
    region(graph_.body, false);
    for (const Output& o : graph_.outputs) check_write(o);
    return errors_;
  }

 private:
  void error(std::string text) { errors_.push_back(std::move(text)); }
  std::string name(ValueId v) const { return "%" + std::to_string(v); }

  // The text form names symbols, so names tell them apart.
  void check_symbols() {
    std::set<std::string> names;
    const SymContext& c = graph_.context();
    for (size_t i = 0; i < c.symbol_count(); ++i) {
      if (!names.insert(c.symbol_name(i)).second) {
        error("two symbols are called '" + c.symbol_name(i) + "'");
      }
    }
  }

  void check_borders() {
    size_t n = graph_.inputs.size(), m = graph_.outputs.size();
    if (graph_.body.params.size() != n) error("the body has not one parameter an input");
    if (graph_.body.results.size() != m) error("the body has not one result an output");
    if (!errors_.empty()) return;
    for (size_t i = 0; i < n; ++i) {
      const Input& in = graph_.inputs[i];
      if (in.value != graph_.body.params[i]) error("input '" + in.name + "' is not its parameter");
      if (in.value >= graph_.value_count())
        error("input '" + in.name + "' has no value");
      else if (in.kind == Input::Kind::scalar && graph_.type(in.value).rank() != 0) {
        error("scalar input '" + in.name + "' is not of rank 0");
      }
    }
    for (size_t i = 0; i < m; ++i) {
      const Output& out = graph_.outputs[i];
      if (out.value != graph_.body.results[i]) error("output '" + out.name + "' is not its result");
    }
  }

  void check_write(const Output& out) {
    if (!out.writes_input) return;
    std::string who = "output '" + out.name + "' writes ";
    if (*out.writes_input >= graph_.inputs.size()) return error(who + "an input that is not there");
    const Input& in = graph_.inputs[*out.writes_input];
    if (in.kind != Input::Kind::tensor) return error(who + "scalar input '" + in.name + "'");
    if (!same_type(graph_.type(in.value), graph_.type(out.value))) {
      error(who + "input '" + in.name + "' of type " + type_text(graph_, graph_.type(in.value)) +
            ", but is " + type_text(graph_, graph_.type(out.value)));
    }
    if (!written_.insert(*out.writes_input).second)
      error(who + "an input that another output writes");
  }

  bool same_type(const ValueType& a, const ValueType& b) const {
    return a.dtype == b.dtype &&
           std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
                      [](const SymInt& x, const SymInt& y) { return known_equal(x, y) == true; });
  }

  void use(ValueId v, const std::string& where) {
    if (v >= graph_.value_count())
      error(where + " uses " + name(v) + ", which does not exist");
    else if (!defined_[v])
      error(where + " uses " + name(v) + ", which is not in scope");
  }

  void define(ValueId v, std::vector<ValueId>& scope) {
    if (v >= graph_.value_count()) return error(name(v) + " is defined but does not exist");
    if (!seen_.insert(v).second) return error(name(v) + " is defined twice");
    defined_[v] = true;
    scope.push_back(v);
    for (const SymInt& size : graph_.type(v).shape) {
      if (size.hint() < 0) return error(name(v) + " has a negative size");
    }
  }

  // A scalar region sees none of the values outside.
  void region(const Region& r, bool scalar) {
    std::vector<bool> outer;
    if (scalar) {
      outer = defined_;
      std::fill(defined_.begin(), defined_.end(), false);
    }
    std::vector<ValueId> scope;
    for (ValueId p : r.params) define(p, scope);
    for (NodeId n : r.nodes) node(n, scope, scalar || in_scalar_);
    for (ValueId v : r.results) use(v, "a region's result");
    for (ValueId v : scope) defined_[v] = false;
    if (scalar) defined_ = std::move(outer);
  }

  void node(NodeId id, std::vector<ValueId>& scope, bool scalar) {
    if (id >= graph_.node_count()) return error("node " + std::to_string(id) + " does not exist");
    const Node& n = graph_.node(id);
    std::string where = std::string(info(n.prim).name) + " (node " + std::to_string(id) + ")";
    if (!placed_.insert(id).second) return error(where + " stands in the graph twice");
    size_t before = errors_.size();
    for (ValueId v : n.operands) {
      if (v != kNoValue) use(v, where);  // inference knows which operands are optional
    }
    bool saved = in_scalar_;
    bool scalar_region = has_scalar_regions(n.prim);
    in_scalar_ = scalar || scalar_region;
    for (const Region& r : n.regions) region(r, scalar_region);
    in_scalar_ = saved;
    if (errors_.size() == before) types(n, where, scalar);
    for (ValueId v : n.results) define(v, scope);
  }

  void types(const Node& n, const std::string& where, bool scalar) {
    for (ValueId v : n.results) {
      if (v >= graph_.value_count()) return error(where + " has a result that does not exist");
      if (scalar && graph_.type(v).rank() != 0) error(where + " makes an array in a scalar region");
    }
    size_t guards = graph_.context().guards().size();
    try {
      Types inferred = infer(
          Call{graph_, n.prim, n.operands, n.attrs, n.regions, n.results, /*verifying=*/true});
      compare(n, where, inferred);
    } catch (const Error& e) {
      error(where + ": " + e.what());
    }
    if (graph_.context().guards().size() != guards) {
      graph_.context().truncate_guards(guards);
      error(where + " holds only under a guard that the graph lacks");
    }
  }

  void compare(const Node& n, const std::string& where, const Types& inferred) {
    if (inferred.size() != n.results.size()) {
      return error(where + " has " + std::to_string(n.results.size()) + " results, expected " +
                   std::to_string(inferred.size()));
    }
    for (size_t i = 0; i < inferred.size(); ++i) {
      const ValueType& have = graph_.type(n.results[i]);
      if (!same_type(have, inferred[i])) {
        error(where + ": " + name(n.results[i]) + " is " + type_text(graph_, have) + ", expected " +
              type_text(graph_, inferred[i]));
      }
    }
  }

  const Graph& graph_;
  std::vector<bool> defined_;  // in scope now
  std::unordered_set<ValueId> seen_;
  std::unordered_set<NodeId> placed_;
  std::set<uint32_t> written_;
  bool in_scalar_ = false;
  std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> verify(const Graph& graph) {
  return Verifier(graph).run();
}

void verify_or_throw(const Graph& graph) {
  std::vector<std::string> errors = verify(graph);
  if (errors.empty()) return;
  std::string text = "graph does not verify:";
  for (const std::string& e : errors) text += "\n  " + e;
  throw Error(ErrorCode::internal, text);
}

}  // namespace primset::prims
