#include "codegen/schedule/testing/plan_invariants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "codegen/schedule/element/view_placement.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::NodeId;
using prims::ValueId;

std::string named(ValueId v) {
  return "%" + std::to_string(v);
}

// --- plans ---------------------------------------------------------------------------------------

class PlanChecker {
 public:
  PlanChecker(const FusionPlan& plan, const Graph& g, const KernelLimits& limits)
      : plan_(plan), g_(g), limits_(limits), seen_(plan.groups.size()) {
    made_.insert(plan.empty.begin(), plan.empty.end());
  }

  std::vector<std::string> run() {
    groups(plan_.order);
    for (uint32_t j = 0; j < g_.outputs.size(); ++j) check_output(j);
    return std::move(wrong_);
  }

 private:
  void say(GroupId id, const std::string& what) {
    wrong_.push_back("group " + std::to_string(id) + " " + what);
  }

  void groups(const std::vector<GroupId>& order) {
    for (GroupId id : order) group(id);
  }

  void group(GroupId id) {
    const FusionGroup& group = plan_.groups[id];
    if (seen_[id]) say(id, "runs twice");
    seen_[id] = true;
    if (group.roots.empty() && group.checks.empty() && group.anchor == Graph::kNoNode)
      say(id, "makes nothing");
    for (const Read& r : group.reads) {
      if (!is_made(r.value)) say(id, "reads " + named(r.value) + " before it is made");
    }
    // What is made in a region is known there alone.
    for (const RegionPlan& r : group.regions) {
      const std::set<ValueId> outside = made_;
      groups(r.order);
      made_ = outside;
    }
    for (const Root& r : group.roots) {
      made_.insert(r.value);
      written_.insert(r.out.buffer);
    }
    check_limits(id, group);
  }

  // Inputs, parameters of regions and numbers of the launch are there.
  bool is_made(ValueId v) const {
    if (g_.producer(v) == Graph::kNoNode || made_.contains(v)) return true;
    const auto view = plan_.views.find(v);
    return view != plan_.views.end() && is_made(view->second);
  }

  void check_output(uint32_t j) {
    if (!has_elements(g_.type(g_.outputs[j].value).shape)) return;
    const auto is_this = [&](const Buffer& b) {
      return b.kind == Buffer::Kind::output && b.index == j;
    };
    const auto at = std::ranges::find_if(plan_.buffers, is_this);
    const auto buffer = static_cast<BufferId>(at - plan_.buffers.begin());
    const bool in_place = std::ranges::any_of(
        plan_.in_place, [&](const InPlace& p) { return p.place.buffer == buffer; });
    if (!in_place && !written_.contains(buffer))
      wrong_.push_back("nobody writes output " + std::to_string(j));
  }

  // The last node that is taken in may be more than was left.
  void check_limits(GroupId id, const FusionGroup& group) {
    const std::set<NodeId> nodes(group.nodes.begin(), group.nodes.end());
    const auto roots = static_cast<uint32_t>(group.roots.size() + group.reduces.size());
    if (group.operations > limits_.operations + kMostOperationsOfANode + roots)
      say(id, "holds " + std::to_string(group.operations) + " operations; at most " +
                  std::to_string(limits_.operations) + " are expected");
    uint32_t depth = 0;
    std::map<ValueId, uint32_t> known;
    for (const Root& r : group.roots) {
      const uint32_t below = depth_below(r.value, nodes, known);
      depth = std::max(depth, below);
    }
    if (depth > limits_.depth + 2)
      say(id, "is " + std::to_string(depth) + " nodes deep; at most " +
                  std::to_string(limits_.depth) + " are expected");
  }

  // Nodes from a value to the deepest operand that the group computes on the way.
  uint32_t depth_below(ValueId root, const std::set<NodeId>& nodes,
                       std::map<ValueId, uint32_t>& known) const {
    const NodeId p = g_.producer(root);
    if (p == Graph::kNoNode) return 0;
    uint32_t deepest = 0;
    for (ValueId v : g_.node(p).operands) {
      if (v != prims::kNoValue) deepest = std::max(deepest, depth_of(v, nodes, known));
    }
    return deepest + 1;
  }
  uint32_t depth_of(ValueId v, const std::set<NodeId>& nodes,
                    std::map<ValueId, uint32_t>& known) const {
    const NodeId p = g_.producer(v);
    if (p == Graph::kNoNode || !nodes.contains(p) || g_.node(p).operands.empty()) return 0;
    if (const auto at = known.find(v); at != known.end()) return at->second;
    const uint32_t depth = depth_below(v, nodes, known);
    known.emplace(v, depth);
    return depth;
  }

  static constexpr uint32_t kMostOperationsOfANode = 32;

  const FusionPlan& plan_;
  const Graph& g_;
  const KernelLimits limits_;
  std::vector<bool> seen_;      // by group
  std::set<ValueId> made_;      // by now
  std::set<BufferId> written_;  // by anybody
  std::vector<std::string> wrong_;
};

// --- programs ------------------------------------------------------------------------------------

class ProgramChecker {
 public:
  explicit ProgramChecker(const Program& p) : p_(p) {}

  std::vector<std::string> run() {
    steps(p_.steps);
    return std::move(wrong_);
  }

 private:
  // What has happened to memory so far.
  struct State {
    std::set<BufferId> written;
    std::map<uint32_t, uint32_t> overwritten;  // inputs, by which output
  };

  std::optional<uint32_t> input_below(const Buffer& b) const {
    if (b.kind != Buffer::Kind::output) return std::nullopt;
    return p_.graph->outputs[b.index].writes_input;
  }

  void read(BufferId id) {
    const Buffer& b = p_.buffers[id];
    if (b.kind == Buffer::Kind::input) {
      const auto over = state_.overwritten.find(b.index);
      if (over != state_.overwritten.end())
        wrong_.push_back("input " + std::to_string(b.index) + " is read behind output " +
                         std::to_string(over->second) + ", which lies over it");
      return;
    }
    const bool there = b.kind == Buffer::Kind::errors || b.kind == Buffer::Kind::table ||
                       input_below(b) || b.elements.same(prims::SymInt(0));
    if (!there && !state_.written.contains(id))
      wrong_.push_back("buffer b" + std::to_string(id) + " (" + b.note +
                       ") is read before it is written");
  }

  void write(BufferId id) {
    state_.written.insert(id);
    if (const auto input = input_below(p_.buffers[id]))
      state_.overwritten.emplace(*input, p_.buffers[id].index);
    if (p_.buffers[id].kind == Buffer::Kind::input)
      wrong_.push_back("input " + std::to_string(p_.buffers[id].index) + " is written");
  }

  void steps(const std::vector<Step>& list) {
    for (const Step& s : list) std::visit([&](const auto& x) { step(x); }, s.step);
  }
  void step(const LaunchStep& s) {
    for (const BufferUse& u : s.buffers) {
      // A kernel may read again what it has written.
      if (u.read && !u.written) read(u.buffer);
    }
    for (const BufferUse& u : s.buffers) {
      if (u.written) write(u.buffer);
    }
  }
  void step(const CopyStep& s) {
    read(s.source);
    write(s.target);
  }
  void step(const StridedCopyStep& s) {
    read(s.source.buffer);
    write(s.target.buffer);
  }
  void step(const NativeStep& s) {
    for (const auto& o : s.operands) read(o.buffer);
    for (const auto& r : s.results) write(r.buffer);
  }
  void step(const ReadCountStep& s) { read(s.buffer); }
  // Twice: an iteration follows another one.
  void step(const LoopStep& s) {
    steps(s.body);
    steps(s.body);
  }
  void step(const WhileStep& s) {
    for (int i = 0; i < 2; ++i) {
      steps(s.test);
      read(s.condition);
      steps(s.body);
    }
  }
  // Behind both, what either has done has been done.
  void step(const BranchStep& s) {
    read(s.condition);
    const State before = state_;
    steps(s.then_steps);
    const State first = std::exchange(state_, before);
    steps(s.else_steps);
    state_.written.insert(first.written.begin(), first.written.end());
    state_.overwritten.insert(first.overwritten.begin(), first.overwritten.end());
  }

  const Program& p_;
  State state_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> violations(const FusionPlan& plan, const Graph& g,
                                    const KernelLimits& limits) {
  return PlanChecker(plan, g, limits).run();
}

std::vector<std::string> violations(const Program& program) {
  return ProgramChecker(program).run();
}

}  // namespace primset::schedule
