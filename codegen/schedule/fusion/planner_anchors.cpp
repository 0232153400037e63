// Primitives with a kernel family of their own, and control flow.
#include <algorithm>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/fusion/planner.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Prim;

// The family that costs least. Asked once a node: an answer may have added guards.
const Family* Planner::family_of(NodeId id) const {
  std::optional<const Family*>& known = families_of_[id];
  if (!known) known = cheapest_family(id);
  return *known;
}

const Family* Planner::cheapest_family(NodeId id) const {
  const Family* best = nullptr;
  double least = 0;
  for (const Family* f : families_) {
    const auto cost = f->cost(g_, id, machine_);
    if (!cost) continue;
    const double seconds = machine_.seconds(*cost);
    if (best == nullptr || seconds < least) best = f, least = seconds;
  }
  return best;
}

// The primitive joins the pointwise group that becomes its epilogue, or gets a group of its own.
// Then its operands get their uses.
void Planner::visit_anchor(NodeId id, const Family& family) {
  const Node& n = g_.node(id);
  std::vector<ValueId> wanted;
  bool empty = true;
  for (ValueId v : n.results) {
    if (pending_uses_[v].empty() && !materialized_.contains(v) && !memory_readers_.contains(v))
      continue;
    wanted.push_back(v);
    empty = empty && !has_elements(g_.type(v).shape);
  }
  if (wanted.empty()) return;
  if (const auto epilogue = epilogue_of(id, family)) {
    FusionGroup& group = plan_.groups[*epilogue];
    group.family = &family;
    group.anchor = id;
    compute_in(*epilogue, id);
    for (ValueId v : n.results) {
      drafts_[*epilogue].pending_uses -= static_cast<uint32_t>(pending_uses_[v].size());
      pending_uses_[v].clear();
    }
    return add_operand_uses(id, *epilogue, family);
  }
  GroupId g = 0;
  if (!empty) {
    g = new_group(family, region_[id], {});
    plan_.groups[g].anchor = id;
    if (prims::is_control_flow(n.prim)) {
      plan_control(id, g, wanted);
      return;
    }
  }
  for (ValueId v : wanted) write_result(id, v, g, empty);
  if (!empty) add_operand_uses(id, g, family);
}

// The place of a result, who writes it, and who reads it.
void Planner::write_result(NodeId id, ValueId v, GroupId g, bool empty) {
  if (!materialized_.contains(v)) {
    const bool operand = memory_readers_.contains(v);
    materialize(v, temp(v), operand ? NotFused::family_operand : NotFused::other_family);
  }
  const Materialization& materialization = materialized_.at(v);
  plan_.places.emplace(v, materialization.place);
  note_unfused(v, materialization.why);
  if (empty) return leave_empty(v);
  add_root(g, {v, materialization.place}, position_[id]);
  read_all(v, g);
}

// The pointwise group that becomes the primitive's epilogue: it computes elementwise functions of
// the primitive's results, at the same index, and nobody else uses these results.
std::optional<GroupId> Planner::epilogue_of(NodeId id, const Family& family) const {
  if (!options_.fuse || !family.fuses_epilogue()) return std::nullopt;
  const Node& n = g_.node(id);
  std::optional<GroupId> found;
  for (ValueId v : n.results) {
    if (materialized_.contains(v) || memory_readers_.contains(v)) return std::nullopt;
    const std::string own = index_key(identity_indices(g_.type(v).shape));
    for (const Use& use : pending_uses_[v]) {
      const GroupId g = find(use.group);
      if (use.space != Space::root || !use.elementwise || index_key(use.at) != own ||
          found.value_or(g) != g)
        return std::nullopt;
      found = g;
    }
  }
  if (!found) return std::nullopt;
  const FusionGroup& group = plan_.groups[*found];
  const bool fits = group.family == &pointwise_family && group.anchor == Graph::kNoNode &&
                    group.checks.empty() && drafts_[*found].region == region_[id] &&
                    same_shape(group.domain, g_.type(n.results[0]).shape);
  return fits ? found : std::nullopt;
}

void Planner::add_operand_uses(NodeId id, GroupId g, const Family& family) {
  const Node& n = g_.node(id);
  for (size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (v == prims::kNoValue) continue;
    switch (family.operand(g_, n, i, machine_)) {
      case OperandUse::inlined:
        add_use(v, {g, Space::operand, identity_indices(g_.type(v).shape), 1, false});
        break;
      case OperandUse::at_result:
        add_use(v, {g, Space::root, identity_indices(g_.type(v).shape), 1, false});
        break;
      case OperandUse::in_memory:
        want_in_memory(v, g);
        break;
      case OperandUse::copied:
        copy_operand(v, g);
        make_in_place(v, g);
        break;
    }
  }
}

// What a kernel makes for a scatter alone is made where the scatter would copy it to: one after the
// other goes on in the same memory. Not in an input's that is taken over: others may read that in
// between.
void Planner::make_in_place(ValueId v, GroupId g) {
  const NodeId p = g_.producer(v);
  if (!options_.fuse || !prims::is_scatter(g_.node(plan_.groups[g].anchor).prim)) return;
  if (p == Graph::kNoNode || region_[p] != drafts_[g].region || users_[v] != 1 ||
      family_of(p) == nullptr || prims::is_control_flow(g_.node(p).prim))
    return;
  const Placement& place = plan_.groups[g].roots[0].out;
  const Buffer& buffer = plan_.buffers[place.buffer];
  if (buffer.kind == Buffer::Kind::output && g_.outputs[buffer.index].writes_input) return;
  materialize(v, place, NotFused::other_family);
}

void Planner::copy_operand(ValueId v, GroupId g) {
  add_use(v, {g, Space::copied, identity_indices(g_.type(v).shape), 1, false});
}

// --- control flow --------------------------------------------------------------------------------

void Planner::plan_control(NodeId id, GroupId g, const std::vector<ValueId>& wanted) {
  switch (g_.node(id).prim) {
    case Prim::for_loop:
      return plan_for_loop(id, g);
    case Prim::while_loop:
      return plan_while_loop(id, g);
    default:
      return plan_cond(id, g, wanted);
  }
}

void Planner::plan_region(GroupId owner, const prims::Region& r,
                          const std::vector<Placement>& results) {
  const RegionId region = region_ids_.at(&r);
  owner_[region] = owner;
  for (size_t k = 0; k < r.results.size(); ++k) want_at(r.results[k], results[k], region);
  plan_.groups[owner].regions.push_back({region, {}, results});
  walk(r);
}

// Carried values lie in `carried`; an iteration makes the next ones in `next`, from where they are
// copied.
void Planner::carry(GroupId g, ValueId operand, ValueId like) {
  const Placement now = temp(like), next = temp(like);
  plan_.groups[g].carried.push_back(now);
  plan_.groups[g].next.push_back(next);
  copy_operand(operand, g);
}

// A result of control flow that lies in the group's own memory.
void Planner::result_lies_at(NodeId id, ValueId v, GroupId g, const Placement& place) {
  plan_.places.emplace(v, place);
  add_root(g, {v, place}, position_[id]);
  if (const auto materialization = materialized_.find(v); materialization != materialized_.end()) {
    const Placement wanted = materialization->second.place;
    note_unfused(v, materialization->second.why);
    materialized_.erase(v);
    const GroupId copy = pointwise_group({v, wanted}, UINT32_MAX, region_[id]);
    read(copy, v, Space::root, identity_indices(g_.type(v).shape));
  } else {
    note_unfused(v, NotFused::loop_carried);
  }
  read_all(v, g);
}

void Planner::plan_for_loop(NodeId id, GroupId g) {
  const Node& n = g_.node(id);
  const prims::Region& body = n.regions[0];
  prims::SymContext& context = g_.context();
  const SymInt counter = context.symbol("i" + std::to_string(context.symbol_count()), 0, 0);
  plan_.counters.emplace(body.params[0], counter);
  scalars_.insert(body.params[0]);
  const size_t carried = n.operands.size();
  for (size_t k = 0; k < carried; ++k) {
    carry(g, n.operands[k], body.params[1 + k]);
    plan_.places.emplace(body.params[1 + k], plan_.groups[g].carried[k]);
    result_lies_at(id, n.results[k], g, plan_.groups[g].carried[k]);
  }
  std::vector<Placement> targets = plan_.groups[g].next;
  // Each iteration makes a row of a stacked result.
  for (size_t k = carried; k < n.results.size(); ++k) {
    const ValueId v = n.results[k];
    write_result(id, v, g, false);
    Placement row = plan_.places.at(v);
    row.offset += counter * row.strides[0];
    row.strides.erase(row.strides.begin());
    targets.push_back(std::move(row));
  }
  plan_region(g, body, targets);
}

void Planner::plan_while_loop(NodeId id, GroupId g) {
  const Node& n = g_.node(id);
  for (size_t k = 0; k < n.operands.size(); ++k) {
    carry(g, n.operands[k], n.results[k]);
    const Placement now = plan_.groups[g].carried[k];
    for (const prims::Region& r : n.regions) plan_.places.emplace(r.params[k], now);
    result_lies_at(id, n.results[k], g, now);
  }
  const Placement condition = temp(n.regions[0].results[0]);
  const std::vector<Placement> next = plan_.groups[g].next;
  plan_region(g, n.regions[0], {condition});
  plan_region(g, n.regions[1], next);
}

// Legalised, its regions have no parameters: they see what is outside.
void Planner::plan_cond(NodeId id, GroupId g, const std::vector<ValueId>& wanted) {
  const Node& n = g_.node(id);
  const Placement condition = temp(n.operands[0]);
  plan_.groups[g].carried.push_back(condition);
  copy_operand(n.operands[0], g);
  std::vector<Placement> results;
  for (ValueId v : n.results) {
    const bool is_wanted = std::ranges::find(wanted, v) != wanted.end();
    if (is_wanted) write_result(id, v, g, false);
    results.push_back(is_wanted ? plan_.places.at(v) : temp(v));
  }
  plan_region(g, n.regions[0], results);
  plan_region(g, n.regions[1], results);
}

// The size that only the run knows is read before anything of such a size is touched. That takes a
// wait for the device, so that a size that nothing has is not read.
void Planner::visit_set_dim(NodeId id) {
  const Node& n = g_.node(id);
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  const ValueId result = n.results[0];
  const auto size = g_.context().as_symbol(g_.type(result).shape[dim]);
  const bool wanted = !pending_uses_[result].empty() || materialized_.contains(result) ||
                      memory_readers_.contains(result);
  if (!size || !(wanted || used_sizes_.contains(*size))) return;
  const GroupId g = new_group(read_size_family, region_[id], {});
  plan_.groups[g].anchor = id;
  drafts_[g].first = position_[id];
  want_in_memory(n.operands[1], g);
}

}  // namespace primset::schedule
