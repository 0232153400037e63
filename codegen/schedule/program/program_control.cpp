// Steps with a life of their own: native primitives, loops and branches.
#include <algorithm>

#include "codegen/schedule/program/program_builder.h"
#include "primset/error.h"

namespace primset::schedule {

using prims::Prim;
using prims::SymInt;
using prims::ValueId;

// Operands as strides see them, results as dense buffers; a result wanted elsewhere is copied
// there.
void ProgramBuilder::native(NodeId id, const std::vector<Root>& roots) {
  const Node& n = g_.node(id);
  NativeStep step;
  step.node = id;
  for (ValueId v : n.operands) {
    if (v == prims::kNoValue) continue;
    std::optional<Placement> seen = viewed(v);
    if (!seen) {
      materialize(v);
      seen = viewed(v);
    }
    const Placement& p = seen.value();
    step.operands.push_back({p.buffer, g_.type(v).dtype, g_.type(v).shape, p.strides, p.offset});
  }
  std::vector<Root> copies;
  for (ValueId v : n.results) {
    auto root =
        std::find_if(roots.begin(), roots.end(), [&](const Root& r) { return r.value == v; });
    const bool direct =
        root != roots.end() && same_shape(root->out.strides, dense(0, g_.type(v).shape).strides);
    Placement p = direct ? root->out : temp(v);
    step.results.push_back({p.buffer, g_.type(v).dtype, g_.type(v).shape, p.strides, p.offset});
    places_.emplace(v, p);
    if (root != roots.end() && !direct) copies.push_back(*root);
  }
  // Recorded as accesses to differing places: a native primitive never runs in place.
  Analysis analysis;
  Affine read, write;
  read.constant = 1;
  for (const auto& t : step.operands) analysis.accesses.push_back({t.buffer, read, false});
  for (const auto& t : step.results) analysis.accesses.push_back({t.buffer, write, true});
  touch(std::move(analysis));
  steps_->push_back({std::move(step)});
  for (const Root& r : copies) copy_into(r.value, r.out);
}

void ProgramBuilder::control(NodeId id, const std::vector<Root>& roots) {
  make_captures(g_.node(id));
  switch (g_.node(id).prim) {
    case Prim::for_loop:
      for_loop(id, roots);
      break;
    case Prim::while_loop:
      while_loop(id, roots);
      break;
    default:
      cond(id, roots);
      break;
  }
  for (const Root& r : roots) {
    if (places_.at(r.value).buffer != r.out.buffer) copy_into(r.value, r.out);
  }
}

void ProgramBuilder::make_captures(const Node& n) {
  std::set<ValueId> inside;
  std::function<void(const prims::Region&)> define = [&](const prims::Region& r) {
    inside.insert(r.params.begin(), r.params.end());
    for (NodeId id : r.nodes) {
      inside.insert(g_.node(id).results.begin(), g_.node(id).results.end());
      for (const auto& nested : g_.node(id).regions) define(nested);
    }
  };
  for (const auto& r : n.regions) define(r);
  std::set<ValueId> needed, seen;
  std::function<void(const prims::Region&)> use = [&](const prims::Region& r) {
    auto one = [&](ValueId v) {
      if (inside.count(v) == 0) frontier(v, needed, seen);
    };
    for (NodeId id : r.nodes) {
      for (ValueId v : g_.node(id).operands) one(v);
      for (const auto& nested : g_.node(id).regions) use(nested);
    }
    for (ValueId v : r.results) one(v);
  };
  for (const auto& r : n.regions) use(r);
  for (ValueId v : needed) materialize(v);
}

// What is made inside a region is known only there.
void ProgramBuilder::region(const prims::Region& r, std::vector<Step>& steps,
                            const std::vector<Placement>& results) {
  const auto outside = places_;
  std::vector<Step>* before = steps_;
  steps_ = &steps;
  ++regions_;
  std::vector<Root> roots;
  for (size_t k = 0; k < r.results.size(); ++k) roots.push_back({r.results[k], results[k]});
  compute_all(roots);
  --regions_;
  steps_ = before;
  places_ = outside;
}

void ProgramBuilder::copy_buffers(const std::vector<Placement>& from,
                                  const std::vector<Placement>& to,
                                  const std::vector<ValueId>& like, std::vector<Step>& steps) {
  for (size_t k = 0; k < from.size(); ++k) {
    steps.push_back(
        {CopyStep{from[k].buffer, to[k].buffer, prims::product(g_.type(like[k]).shape)}});
  }
}

void ProgramBuilder::for_loop(NodeId id, const std::vector<Root>& roots) {
  const Node& n = g_.node(id);
  const prims::Region& body = n.regions[0];
  const SymInt count = n.attr<SymInt>("count");
  const auto stacked = static_cast<size_t>(n.attr<int64_t>("stacked"));
  const size_t carried = n.operands.size();
  const SymInt counter = g_.context().symbol("i", 0, 0);
  symbols_.emplace(body.params[0], counter);

  std::vector<Placement> now, next;
  std::vector<ValueId> like;
  for (size_t k = 0; k < carried; ++k) {
    like.push_back(body.params[1 + k]);
    now.push_back(temp(like[k]));
    next.push_back(temp(like[k]));
    copy_into(n.operands[k], now[k]);
    places_.emplace(body.params[1 + k], now[k]);
    places_.emplace(n.results[k], now[k]);
  }
  std::vector<Placement> targets = next;
  for (size_t k = carried; k < carried + stacked; ++k) {
    auto root = std::find_if(roots.begin(), roots.end(),
                             [&](const Root& r) { return r.value == n.results[k]; });
    Placement whole = root != roots.end() ? root->out : temp(n.results[k]);
    places_.emplace(n.results[k], whole);
    Placement row = whole;
    row.offset += counter * whole.strides[0];
    row.strides.erase(row.strides.begin());
    targets.push_back(std::move(row));
  }
  LoopStep step{count, *g_.context().as_symbol(counter), {}};
  looped([&] { region(body, step.body, targets); });
  copy_buffers(next, now, like, step.body);
  steps_->push_back({std::move(step)});
}

void ProgramBuilder::while_loop(NodeId id, const std::vector<Root>&) {
  const Node& n = g_.node(id);
  std::vector<Placement> now, next;
  std::vector<ValueId> like;
  for (size_t k = 0; k < n.operands.size(); ++k) {
    like.push_back(n.results[k]);
    now.push_back(temp(like[k]));
    next.push_back(temp(like[k]));
    copy_into(n.operands[k], now[k]);
    for (const prims::Region& r : n.regions) places_.emplace(r.params[k], now[k]);
    places_.emplace(n.results[k], now[k]);
  }
  WhileStep step;
  Placement condition = temp(n.regions[0].results[0]);
  step.condition = condition.buffer;
  looped([&] {
    region(n.regions[0], step.test, {condition});
    region(n.regions[1], step.body, next);
  });
  copy_buffers(next, now, like, step.body);
  steps_->push_back({std::move(step)});
}

// Normalised, its regions have no parameters: they see what is outside.
void ProgramBuilder::cond(NodeId id, const std::vector<Root>& roots) {
  const Node& n = g_.node(id);
  BranchStep step;
  Placement condition = temp(n.operands[0]);
  copy_into(n.operands[0], condition);
  step.condition = condition.buffer;
  std::vector<Placement> results;
  for (ValueId v : n.results) {
    auto root =
        std::find_if(roots.begin(), roots.end(), [&](const Root& r) { return r.value == v; });
    results.push_back(root != roots.end() ? root->out : temp(v));
  }
  branch(id, true, [&] { region(n.regions[0], step.then_steps, results); });
  branch(id, false, [&] { region(n.regions[1], step.else_steps, results); });
  for (size_t k = 0; k < n.results.size(); ++k) places_.emplace(n.results[k], results[k]);
  steps_->push_back({std::move(step)});
}

}  // namespace primset::schedule
