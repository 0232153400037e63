#include "codegen/schedule/fusion/planner.h"

#include <algorithm>
#include <map>
#include <utility>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/fusion/order.h"
#include "prims/graph/traits.h"
#include "primset/error.h"

namespace primset::schedule {

using prims::Prim;

Planner::Planner(const Graph& g, const Legalized& legal, const Machine& machine,
                 const Options& options, std::span<const Family* const> families)
    : g_(g),
      legal_(legal),
      machine_(machine),
      options_(options),
      families_(families),
      estimate_(g, machine),
      pending_uses_(g.value_count()),
      families_of_(g.node_count()),
      users_(g.value_count()),
      position_(g.node_count()),
      region_(g.node_count()) {
  owner_.push_back(UINT32_MAX);
  outer_.push_back(UINT32_MAX);
  recent_.emplace_back();
  uint32_t at = 0;
  number(g.body, 0);
  for (const auto& id : numbered_) position_[id] = ++at;
  for (const prims::Output& o : g.outputs) ++users_[o.value];
  find_source_reductions();
  find_sizes();
}

// Nodes of a region stand before the control flow primitive that it belongs to. Scalar regions are
// part of their primitive and have no nodes of their own here.
void Planner::number(const prims::Region& r, RegionId region) {
  region_ids_[&r] = region;
  for (const ValueId v : r.results) ++users_[v];
  for (NodeId id : r.nodes) {
    const Node& n = g_.node(id);
    for (const ValueId v : n.operands) {
      if (v != prims::kNoValue) ++users_[v];
    }
    if (prims::is_control_flow(n.prim)) {
      for (const prims::Region& nested : n.regions) {
        const auto inner = static_cast<RegionId>(owner_.size());
        owner_.push_back(UINT32_MAX);
        outer_.push_back(region);
        recent_.emplace_back();
        number(nested, inner);
      }
    }
    region_[id] = region;
    numbered_.push_back(id);
  }
}

namespace {

// Calls f for the symbols that a size is made of.
template <typename F>
void each_symbol(const prims::SymContext& context, const prims::SymContext::Poly& poly, F f) {
  using Kind = prims::SymContext::AtomKind;
  for (const auto& term : poly) {
    for (uint32_t id : term.atoms) {
      const prims::SymContext::Atom& atom = context.atom(id);
      if (atom.kind == Kind::symbol) {
        f(atom.symbol);
      } else {
        each_symbol(context, atom.lhs, f);
        each_symbol(context, atom.rhs, f);
      }
    }
  }
}

}  // namespace

void Planner::find_sizes() {
  const prims::SymContext& context = g_.context();
  std::unordered_map<uint32_t, uint32_t> made_at;  // by symbol
  for (NodeId id : numbered_) {
    const Node& n = g_.node(id);
    if (n.prim != Prim::set_dim) continue;
    const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    if (const auto s = context.as_symbol(g_.type(n.results[0]).shape[dim]))
      made_at.emplace(*s, position_[id]);
  }
  if (made_at.empty()) return;
  sized_by_.resize(g_.node_count());
  for (NodeId id : numbered_) {
    const Node& n = g_.node(id);
    const auto note = [&](const SymInt& size) {
      each_symbol(context, context.poly_of(size), [&](uint32_t s) {
        const auto at = made_at.find(s);
        if (at == made_at.end()) return;
        sized_by_[id] = std::max(sized_by_[id], at->second);
        if (position_[id] != at->second) used_sizes_.insert(s);
      });
    };
    const auto note_shape = [&](ValueId v) {
      if (v != prims::kNoValue) std::ranges::for_each(g_.type(v).shape, note);
    };
    std::ranges::for_each(n.operands, note_shape);
    std::ranges::for_each(n.results, note_shape);
    for (const prims::Attr& a : n.attrs) {
      if (const auto* size = std::get_if<SymInt>(&a.value)) note(*size);
      if (const auto* sizes = std::get_if<SymInts>(&a.value)) std::ranges::for_each(*sizes, note);
    }
  }
  // A result says its sizes, also where it has no elements.
  for (const auto& output : g_.outputs) {
    for (const SymInt& size : g_.type(output.value).shape)
      each_symbol(context, context.poly_of(size), [&](uint32_t s) { used_sizes_.insert(s); });
  }
}

// `g` computes `id`. Where a set_dim makes a size of `id`, the group must run after that size has
// been read from the device.
void Planner::compute_in(GroupId g, NodeId id) {
  if (sized_by_.empty() || sized_by_[id] == 0) return;
  uint32_t& latest = drafts_[find(g)].latest_read;
  latest = std::max(latest, sized_by_[id] - 1);
}

FusionPlan Planner::plan() && {
  place_inputs();
  place_outputs();
  walk(g_.body);
  for (GroupId g = 0, end = static_cast<GroupId>(plan_.groups.size()); g < end; ++g) {
    if (find(g) == g && plan_.groups[g].family == &reduction_family &&
        plan_.groups[g].reduces.empty())
      split_without_reduction(g);
  }
  merge_siblings();
  std::vector<GroupSlot> slots;
  for (GroupId g = 0; g < plan_.groups.size(); ++g) {
    slots.push_back({find(g) == g ? drafts_[g].region : GroupSlot::kMerged, drafts_[g].first});
    FusionGroup& group = plan_.groups[g];
    for (std::vector<NodeId>* list : {&group.nodes, &group.reduces}) {
      std::ranges::sort(*list);
      list->erase(std::ranges::unique(*list).begin(), list->end());
    }
  }
  order_groups(g_, plan_, slots);
  return std::move(plan_);
}

void Planner::walk(const prims::Region& r) {
  for (size_t i = r.nodes.size(); i-- > 0;) visit(r.nodes[i]);
}

void Planner::visit(NodeId id) {
  const Node& n = g_.node(id);
  if (n.prim == Prim::check) return visit_check(id);
  if (n.prim == Prim::set_dim) visit_set_dim(id);
  if (const Family* family = family_of(id)) return visit_anchor(id, *family);
  if (prims::is_reduction(n.prim) && prims::has_combiner(n.prim)) return visit_reduction(id);
  visit_indexable(id);
}

void Planner::visit_indexable(NodeId id) {
  const Node& n = g_.node(id);
  for (ValueId v : n.results) {
    const bool wanted =
        !pending_uses_[v].empty() || materialized_.contains(v) || memory_readers_.contains(v);
    if (!wanted) continue;
    if (!prims::is_indexable(n.prim)) {
      throw Error(ErrorCode::not_implemented, "primitive " + std::string(info(n.prim).name) +
                                                  " has no schedule on this device");
    }
    visit_value(id, v);
  }
}

void Planner::visit_value(NodeId id, ValueId v) {
  if (!materialized_.contains(v) && memory_readers_.contains(v)) {
    if (is_view_of_memory(v)) return inline_into_readers(id, v);
    materialize(v, temp_of_operand(id, v), NotFused::family_operand);
  }
  if (materialized_.contains(v) && sink_view(id, v)) return inline_into_readers(id, v);

  const std::vector<Use>& readers = pending_uses_[v];
  std::optional<GroupId> writer = group_to_write(v, readers);
  if (!materialized_.contains(v)) {
    const auto why = must_materialize(v, readers, writer.has_value());
    if (!why) return inline_into_readers(id, v);
    // As one more result it would stay in the kernel.
    if (is_limit(*why) || *why == NotFused::waiting_rows) writer.reset();
    materialize(v, temp(v), *why);
  }
  const Materialization materialization = materialized_.at(v);
  plan_.places.emplace(v, materialization.place);
  note_unfused(v, materialization.why);
  const Root root{v, materialization.place};
  if (!has_elements(g_.type(v).shape)) return leave_empty(v);
  if (!writer && materialization.why == NotFused::graph_output)
    writer = group_beside(root, position_[id], region_[id]);
  if (writer) {
    if (const auto rows = anticipated_rows(*writer, v)) become_reduction(*writer, *rows);
    add_root(*writer, root, position_[id]);
  } else {
    writer = pointwise_group(root, position_[id], region_[id]);
  }
  compute_in(*writer, id);
  read_all(v, *writer);
  const bool rows = plan_.groups[*writer].family == &reduction_family &&
                    g_.type(v).rank() != plan_.groups[*writer].domain.size();
  const bool reduction = plan_.groups[*writer].family == &reduction_family;
  expand(id, *writer,
         !reduction ? Space::root
         : rows     ? Space::rows
                    : Space::domain,
         identity_indices(g_.type(v).shape), 0, true);
}

void Planner::leave_empty(ValueId v) {
  plan_.empty.push_back(v);
  for (const Use& use : std::exchange(pending_uses_[v], {}))
    --drafts_[find(use.group)].pending_uses;
}

// A check joins a kernel over the same elements.
void Planner::visit_check(NodeId id) {
  const SymInts domain = g_.type(g_.node(id).operands[0]).shape;
  if (!has_elements(domain)) return;
  if (const Family* family = family_of(id)) {
    const GroupId own = new_group(*family, region_[id], {});
    plan_.groups[own].anchor = id;
    drafts_[own].first = position_[id];
    return add_operand_uses(id, own, *family);
  }
  std::optional<GroupId> group = group_over(domain, position_[id], region_[id], {});
  if (!group) group = new_group(pointwise_family, region_[id], domain);
  plan_.groups[*group].checks.push_back(id);
  drafts_[*group].first = std::min(drafts_[*group].first, position_[id]);
  compute_in(*group, id);
  for (ValueId v : g_.node(id).operands)
    add_use(v, {*group, Space::root, identity_indices(g_.type(v).shape), 1, false});
}

void Planner::inline_into_readers(NodeId id, ValueId v) {
  const std::vector<Use> readers = std::move(pending_uses_[v]);
  const uint32_t operations = operations_of(g_.node(id));
  for (const Use& use : readers) {
    FusionGroup& group = plan_.groups[find(use.group)];
    if (group.nodes.empty() || group.nodes.back() != id) group.nodes.push_back(id);
    compute_in(use.group, id);
    group.operations += operations;
    --drafts_[find(use.group)].pending_uses;
    expand(id, use.group, use.space, use.at, use.depth, use.elementwise);
  }
}

void Planner::expand(NodeId id, GroupId group, Space space, const Indices& at, uint32_t depth,
                     bool elementwise) {
  std::vector<OperandAccess> operands;
  operand_accesses(g_, g_.node(id), at, arithmetic_, operands);
  for (OperandAccess& o : operands)
    add_use(o.value, {group, space, std::move(o.at), depth + 1, elementwise && o.elementwise});
}

void Planner::add_use(ValueId v, Use use) {
  if (v == prims::kNoValue) return;
  if (scalars_.contains(v)) {
    plan_.groups[find(use.group)].parameter_bytes += 8;
    return;
  }
  if (known_place(v) && g_.producer(v) == Graph::kNoNode)
    return read(use.group, v, use.space, use.at);
  std::vector<Use>& uses = pending_uses_[v];
  const std::string at = index_key(use.at);
  const uint64_t who[] = {v, use.group, static_cast<uint64_t>(use.space)};
  const size_t hash =
      std::hash<std::string_view>()({reinterpret_cast<const char*>(who), sizeof(who)}) ^
      std::hash<std::string>()(at);
  const auto known = use_numbers_.find(hash, [&](uint32_t i) {
    return i < uses.size() && uses[i].group == use.group && uses[i].space == use.space &&
           index_key(uses[i].at) == at;
  });
  if (known) {
    // Once more, from deeper in the kernel.
    uses[*known].depth = std::max(uses[*known].depth, use.depth);
    return;
  }
  use_numbers_.insert(hash, static_cast<uint32_t>(uses.size()));
  ++drafts_[find(use.group)].pending_uses;
  uses.push_back(std::move(use));
}

std::vector<GroupId> Planner::readers_of(const std::vector<Use>& uses) const {
  std::vector<GroupId> out;
  for (const Use& use : uses) out.push_back(find(use.group));
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

std::optional<NotFused> Planner::must_materialize(ValueId v, const std::vector<Use>& readers,
                                                  bool extra_result) const {
  if (legal_.reused.contains(v)) return NotFused::reused_operand;
  if (legal_.parts.contains(v)) return NotFused::parameter_limit;
  const NodeId id = g_.producer(v);
  if (!options_.fuse && prims::is_elementwise(g_.node(id).prim) && !g_.type(v).shape.empty())
    return NotFused::fusion_off;
  if (would_wait(id, readers)) return NotFused::waiting_rows;
  std::unordered_map<GroupId, uint32_t> times;
  for (const Use& use : readers) {
    if (const auto why = exceeds_limits(id, use, times[find(use.group)]++)) return why;
  }
  if (widens(id) || spreads(id)) return std::nullopt;
  const size_t kernels = readers_of(readers).size();
  if (kernels > 1 && estimate_.favours_memory(v, static_cast<double>(kernels), extra_result))
    return NotFused::recompute_cost;
  const double computed = evaluations(v, readers);
  if (computed > 1 && estimate_.favours_memory(v, computed, extra_result))
    return NotFused::recompute_cost;
  return std::nullopt;
}

// What a wider type makes of a value is never worth more memory than the value.
bool Planner::widens(NodeId id) const {
  const Node& n = g_.node(id);
  return n.prim == Prim::convert &&
         bits(g_.type(n.operands[0]).dtype) < bits(g_.type(n.results[0]).dtype);
}

// Nor is what is read again and again from a smaller one.
bool Planner::spreads(NodeId id) const {
  const Node& n = g_.node(id);
  const auto elements = [&](ValueId v) { return prims::product(g_.type(v).shape).hint(); };
  return n.prim == Prim::broadcast_in_dim && elements(n.operands[0]) < elements(n.results[0]);
}

// On a SIMT device a kernel over rows has few threads with many elements each, and a loop that
// elements leave at different times takes as long as the slowest of all of them.
bool Planner::would_wait(NodeId id, const std::vector<Use>& readers) const {
  const auto loops = [&](const prims::Region& r) {
    return std::ranges::any_of(
        r.nodes, [&](NodeId inner) { return g_.node(inner).prim == prims::Prim::while_loop; });
  };
  if (!machine_.target.simt || std::ranges::none_of(g_.node(id).regions, loops)) return false;
  return std::ranges::any_of(readers, [&](const Use& use) {
    return plan_.groups[find(use.group)].family != &pointwise_family;
  });
}

// How often an element is computed in a CPU's kernels that use the value at several indices. Where
// these are themselves computed, vectors are put together element by element.
double Planner::evaluations(ValueId v, const std::vector<Use>& readers) const {
  constexpr double kPutTogether = 4;
  if (machine_.target.simt || g_.type(v).shape.empty()) return 1;
  const auto count = [](const SymInts& shape) {
    return static_cast<double>(std::max<int64_t>(1, prims::product(shape).hint()));
  };
  std::unordered_map<GroupId, std::map<std::string, const Use*>> by_kernel;
  for (const Use& use : readers) {
    const auto space = static_cast<char>(resolved(use.group, use.space));
    by_kernel[find(use.group)].emplace(space + index_key(use.at), &use);
  }
  double times = 0;
  for (const auto& [group, uses] : by_kernel) {
    if (uses.size() == 1) continue;
    for (const auto& [at, use] : uses) {
      const double share = count(plan_.groups[group].domain) / count(g_.type(v).shape);
      times += share * (use->at.back().affine.is_affine() ? 1 : kPutTogether);
    }
  }
  return times;
}

uint32_t Planner::operations_of(const Node& n) const {
  return static_cast<uint32_t>(std::max(1.0, estimate_.operations(n)));
}

bool Planner::is_limit(NotFused why) {
  return why == NotFused::operation_limit || why == NotFused::depth_limit ||
         why == NotFused::parameter_limit;
}

// Every pending use may become a buffer parameter of the kernel, with a stride or two. A node
// without operands loads nothing and is always inlined. A kernel that uses the node at several
// indices computes it once for each of them.
std::optional<NotFused> Planner::exceeds_limits(NodeId id, const Use& use, uint32_t times) const {
  constexpr uint32_t kBufferBytes = 24;
  const Node& n = g_.node(id);
  if (n.operands.empty()) return std::nullopt;
  const FusionGroup& group = plan_.groups[find(use.group)];
  const Draft& draft = drafts_[find(use.group)];
  const KernelLimits& limits = machine_.limits;
  if (use.depth >= limits.depth) return NotFused::depth_limit;
  const uint32_t operations = group.operations + times * operations_of(n);
  if (operations >= limits.operations) return NotFused::operation_limit;
  const auto buffers = draft.pending_uses + static_cast<uint32_t>(n.operands.size());
  if (group.parameter_bytes + kBufferBytes * buffers > limits.parameter_bytes * 3 / 4)
    return NotFused::parameter_limit;
  return std::nullopt;
}

// --- groups --------------------------------------------------------------------------------------

GroupId Planner::new_group(const Family& family, RegionId region, SymInts domain) {
  const auto id = static_cast<GroupId>(plan_.groups.size());
  FusionGroup& group = plan_.groups.emplace_back();
  group.family = &family;
  group.domain = std::move(domain);
  drafts_.emplace_back().region = region;
  drafts_.back().members = {id};
  merged_.push_back(id);
  constexpr size_t kRecent = 8;
  std::vector<GroupId>& recent = recent_[region];
  if (recent.size() == kRecent) recent.erase(recent.begin());
  recent.push_back(id);
  return id;
}

GroupId Planner::pointwise_group(const Root& root, uint32_t position, RegionId region) {
  const GroupId g = new_group(pointwise_family, region, g_.type(root.value).shape);
  add_root(g, root, position);
  return g;
}

// A pointwise group over the same elements that can take something more.
std::optional<GroupId> Planner::group_over(const SymInts& domain, uint32_t position,
                                           RegionId region,
                                           const std::vector<GroupId>& except) const {
  const KernelLimits& limits = machine_.limits;
  for (size_t i = recent_[region].size(); i-- > 0;) {
    const GroupId g = find(recent_[region][i]);
    const FusionGroup& group = plan_.groups[g];
    const bool fits = group.family == &pointwise_family && group.anchor == Graph::kNoNode &&
                      same_shape(group.domain, domain) && reads_nothing_made_after(g, position) &&
                      std::ranges::find(except, g) == except.end() &&
                      group.operations < limits.operations / 2 &&
                      group.parameter_bytes < limits.parameter_bytes / 4;
    if (fits) return g;
  }
  return std::nullopt;
}

// Horizontal fusion: outputs of the same shape share a kernel even where they share no input, which
// saves a launch.
std::optional<GroupId> Planner::group_beside(const Root& root, uint32_t position,
                                             RegionId region) const {
  if (!options_.fuse) return std::nullopt;
  // A group that reads it could have stored it, unless it reads it at another index.
  const std::vector<GroupId> readers = readers_of(pending_uses_[root.value]);
  return group_over(g_.type(root.value).shape, position, region, readers);
}

void Planner::add_root(GroupId g, const Root& root, uint32_t position) {
  FusionGroup& group = plan_.groups[g];
  group.roots.push_back(root);
  group.parameter_bytes += 8;
  for (const SymInt& s : root.out.strides) group.parameter_bytes += s.is_constant() ? 0 : 8;
  drafts_[g].first = std::min(drafts_[g].first, position);
}

GroupId Planner::find(GroupId g) const {
  while (merged_[g] != g) g = merged_[g] = merged_[merged_[g]];
  return g;
}

bool Planner::reads_nothing_made_after(GroupId g, uint32_t position) const {
  return drafts_[g].latest_read < position;
}

// The merged group runs when the earlier of the two can.
bool Planner::can_merge(GroupId a, GroupId b) const {
  const uint32_t first = std::min(drafts_[a].first, drafts_[b].first);
  const KernelLimits& limits = machine_.limits;
  const FusionGroup &x = plan_.groups[a], &y = plan_.groups[b];
  return drafts_[a].region == drafts_[b].region && reads_nothing_made_after(a, first) &&
         reads_nothing_made_after(b, first) && x.operations + y.operations <= limits.operations &&
         x.parameter_bytes + y.parameter_bytes <= limits.parameter_bytes / 2;
}

void Planner::merge(GroupId into, GroupId from) {
  FusionGroup &a = plan_.groups[into], &b = plan_.groups[from];
  const auto append = [](auto& to, auto& list) {
    to.insert(to.end(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
    list.clear();
  };
  append(a.roots, b.roots);
  append(a.checks, b.checks);
  append(a.nodes, b.nodes);
  append(a.reads, b.reads);
  append(a.reduces, b.reduces);
  a.operations += b.operations;
  a.parameter_bytes += b.parameter_bytes;
  Draft &x = drafts_[into], &y = drafts_[from];
  x.first = std::min(x.first, y.first);
  x.latest_read = std::max(x.latest_read, y.latest_read);
  x.pending_uses += y.pending_uses;
  append(x.members, y.members);
  merged_[from] = into;
}

// A group that could store `v`, since it computes it anyway, and only at its own index.
std::optional<GroupId> Planner::group_to_write(ValueId v, const std::vector<Use>& readers) const {
  if (!options_.fuse) return std::nullopt;
  std::unordered_set<GroupId> at_other_indices;
  for (const Use& use : readers) {
    if (!at_own_index(v, use)) at_other_indices.insert(find(use.group));
  }
  for (const Use& use : readers) {
    const GroupId g = find(use.group);
    if (!at_other_indices.contains(g) && takes_result(g, v) && !crosses_rows(g, v)) return g;
  }
  return std::nullopt;
}

// Does the group use the element of `v` that it would store?
bool Planner::at_own_index(ValueId v, const Use& use) const {
  if (use.space == Space::operand || use.space == Space::copied) return false;
  const GroupId g = find(use.group);
  const SymInts& shape = g_.type(v).shape;
  const bool in_domain = resolved(use.group, use.space) != Space::rows;
  if (const auto dim = row_dim(g, v); dim && in_domain) {
    Indices row = identity_indices(plan_.groups[g].domain);
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(*dim));
    return index_key(use.at) == index_key(row);
  }
  return index_key(use.at) == index_key(identity_indices(shape));
}

// The dim of the group's domain that `v` lacks, where it is a reduction group (or will be one) and
// `v` has one element a row.
std::optional<size_t> Planner::row_dim(GroupId g, ValueId v) const {
  const FusionGroup& group = plan_.groups[g];
  if (const auto rows = anticipated_rows(g, v)) return rows->dim;
  if (group.family != &reduction_family) return std::nullopt;
  SymInts parallel = group.domain;
  parallel.erase(parallel.begin() + static_cast<std::ptrdiff_t>(group.dim));
  if (!same_shape(g_.type(v).shape, parallel)) return std::nullopt;
  return group.dim;
}

bool Planner::takes_result(GroupId g, ValueId v) const {
  const FusionGroup& group = plan_.groups[g];
  const NodeId id = g_.producer(v);
  if (group.anchor != Graph::kNoNode || drafts_[g].region != region_[id] ||
      !reads_nothing_made_after(g, position_[id]))
    return false;
  return same_shape(g_.type(v).shape, group.domain) || row_dim(g, v).has_value();
}

void Planner::note_unfused(ValueId v, NotFused why) {
  plan_.unfused.push_back({v, why});
}

FusionPlan plan_fusion(const prims::Graph& g, const Legalized& legal, const Machine& machine,
                       const Options& options, std::span<const Family* const> families) {
  return Planner(g, legal, machine, options, families).plan();
}

}  // namespace primset::schedule
