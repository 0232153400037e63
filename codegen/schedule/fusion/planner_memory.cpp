// Bufferization: which values are in memory, and where.
#include <algorithm>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/fusion/planner.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Prim;

namespace {

// One past the largest offset reached.
SymInt extent_of(const SymInts& shape, const SymInts& strides) {
  SymInt last = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].same(SymInt(0))) return 0;
    last += (shape[d] - 1) * strides[d];
  }
  // Without elements, strides may lead to before the first one.
  return may_be_empty(shape) ? prims::max(last, 0) : last;
}

}  // namespace

BufferId Planner::new_buffer(Buffer b) {
  plan_.buffers.push_back(std::move(b));
  return static_cast<BufferId>(plan_.buffers.size() - 1);
}

Placement Planner::temp(ValueId v) {
  const auto& t = g_.type(v);
  return {new_buffer(
              {Buffer::Kind::temp, 0, t.dtype, prims::product(t.shape), "%" + std::to_string(v)}),
          dense_strides(t.shape), 0};
}

// A transposed matrix that is multiplied lies as it did before: every library of products takes it
// so, and a kernel over its rows would write it across memory.
Placement Planner::temp_of_operand(NodeId id, ValueId v) {
  const Node& n = g_.node(id);
  const auto multiplies = [&](GroupId reader) {
    const NodeId anchor = plan_.groups[find(reader)].anchor;
    return anchor != Graph::kNoNode && prims::is_contraction(g_.node(anchor).prim);
  };
  const bool kept = n.prim == Prim::transpose && g_.type(v).rank() == 2 &&
                    is_floating(g_.type(v).dtype) &&
                    std::ranges::all_of(memory_readers_.at(v), multiplies);
  return kept ? view_placement(g_, n, temp(n.operands[0])).value() : temp(v);
}

void Planner::place_inputs() {
  plan_.errors = new_buffer({Buffer::Kind::errors, 0, DType::i64, 2, "errors"});
  for (uint32_t i = 0; i < g_.inputs.size(); ++i) {
    const prims::Input& in = g_.inputs[i];
    const auto& t = g_.type(in.value);
    if (in.kind == prims::Input::Kind::scalar) {
      scalars_.insert(in.value);
      plan_.input_buffers.push_back(FusionPlan::kNoBuffer);
      continue;
    }
    const SymInts& strides = options_.inputs[i].strides;
    plan_.input_buffers.push_back(
        new_buffer({Buffer::Kind::input, i, t.dtype, extent_of(t.shape, strides), in.name}));
    plan_.places.emplace(in.value, Placement{plan_.input_buffers.back(), strides, 0});
  }
}

void Planner::place_outputs() {
  for (uint32_t j = 0; j < g_.outputs.size(); ++j) {
    const prims::Output& out = g_.outputs[j];
    const auto& t = g_.type(out.value);
    const SymInts& strides = options_.outputs[j].strides;
    const BufferId b =
        new_buffer({Buffer::Kind::output, j, t.dtype, extent_of(t.shape, strides), out.name});
    want_at(out.value, {b, strides, 0}, 0);
  }
}

void Planner::materialize(ValueId v, Placement place, NotFused why) {
  materialized_.emplace(v, Materialization{std::move(place), why});
}

// A result of a region: made where it is wanted, or copied there when it has a place already.
void Planner::want_at(ValueId v, const Placement& place, RegionId region) {
  if (!has_elements(g_.type(v).shape)) {
    if (!known_place(v)) plan_.places.emplace(v, place);
    plan_.empty.push_back(v);
    return;
  }
  const auto at = plan_.places.find(v);
  if (at != plan_.places.end() && takes_over(plan_, g_, at->second, place)) {
    plan_.in_place.push_back({v, place, region});
    return;
  }
  const NodeId p = g_.producer(v);
  if (p != Graph::kNoNode && region_[p] == region && !materialized_.contains(v))
    return materialize(v, place, NotFused::graph_output);
  const GroupId copy = pointwise_group({v, place}, UINT32_MAX, region);
  add_use(v, {copy, Space::root, identity_indices(g_.type(v).shape), 1, true});
}

// `reader` takes `v` from memory, through any strides.
void Planner::want_in_memory(ValueId v, GroupId reader) {
  if (v == prims::kNoValue) return;
  if (g_.producer(v) != Graph::kNoNode) {
    memory_readers_[v].push_back(reader);
    return;
  }
  if (!plan_.places.contains(v)) {
    // A number that is a parameter elsewhere: written to memory for this reader.
    const Placement place = temp(v);
    plan_.places.emplace(v, place);
    pointwise_group({v, place}, 1, 0);
  }
  read(reader, v, Space::operand, {});
}

std::optional<Placement> Planner::known_place(ValueId v) const {
  if (auto it = plan_.places.find(v); it != plan_.places.end()) return it->second;
  if (auto it = materialized_.find(v); it != materialized_.end()) return it->second.place;
  return std::nullopt;
}

// Is `v` a strided view of memory that exists already? Then it gets that placement.
bool Planner::is_view_of_memory(ValueId v) {
  std::vector<NodeId> views;
  ValueId base = v;
  while (!known_place(base)) {
    const NodeId p = g_.producer(base);
    if (p == Graph::kNoNode) return false;
    const Prim prim = g_.node(p).prim;
    if (prim != Prim::transpose && prim != Prim::slice && prim != Prim::reshape) return false;
    views.push_back(p);
    base = g_.node(p).operands[0];
  }
  Placement place = *known_place(base);
  for (size_t i = views.size(); i-- > 0;) {
    const auto next = view_placement(g_, g_.node(views[i]), place);
    if (!next) return false;
    place = *next;
  }
  plan_.places.emplace(v, std::move(place));
  plan_.views.emplace(v, base);
  for (GroupId reader : memory_readers_.at(v)) read(reader, base, Space::operand, {});
  return true;
}

// A value that is to be stored and is only a view of a computed one: the computed one is stored
// instead, with the strides that the view implies.
bool Planner::sink_view(NodeId id, ValueId v) {
  const Node& n = g_.node(id);
  if (n.operands.empty()) return false;
  const ValueId source = n.operands[0];
  const NodeId p = g_.producer(source);
  if (p == Graph::kNoNode || region_[p] != region_[id] || known_place(source)) return false;
  // A loop's results lie in memory of its own.
  const Prim maker = g_.node(p).prim;
  if (maker == Prim::for_loop || maker == Prim::while_loop) return false;
  const Materialization materialization = materialized_.at(v);
  const auto place = viewed_placement(g_, n, materialization.place);
  if (!place) return false;
  materialize(source, *place, materialization.why);
  materialized_.erase(v);
  plan_.places.emplace(v, materialization.place);
  plan_.views.emplace(v, source);
  if (auto readers = memory_readers_.find(v); readers != memory_readers_.end()) {
    for (GroupId reader : readers->second) read(reader, source, Space::operand, {});
  }
  return true;
}

// `group` reads `v` from memory, and so do the control flow primitives that it is part of, up to
// the one beside which `v` is made.
void Planner::read(GroupId group, ValueId v, Space space, const Indices& at) {
  GroupId g = find(group);
  const NodeId p = g_.producer(v);
  const RegionId made_in = p == Graph::kNoNode ? 0 : region_[p];
  const bool again = !read_.insert(uint64_t{g} << 32 | v).second;
  plan_.groups[g].reads.push_back({v, resolved(group, space), at});
  if (!again) {
    uint32_t& bytes = plan_.groups[g].parameter_bytes;
    bytes += 8;
    if (const auto place = known_place(v)) {
      for (const SymInt& s : place->strides) bytes += s.is_constant() ? 0 : 8;
    }
  }
  while (p != Graph::kNoNode && drafts_[g].region != made_in) {
    g = find(owner_[drafts_[g].region]);
    plan_.groups[g].reads.push_back({v, Space::operand, {}});
  }
  if (p == Graph::kNoNode) {
    // An input: whoever is around the group reads it too, which matters where its memory is
    // taken over.
    for (RegionId r = drafts_[g].region; owner_[r] != UINT32_MAX; r = drafts_[g].region) {
      g = find(owner_[r]);
      plan_.groups[g].reads.push_back({v, Space::operand, {}});
    }
    return;
  }
  drafts_[g].latest_read = std::max(drafts_[g].latest_read, position_[p]);
}

// All uses of `v` become reads from memory, except those of the group that stores it.
void Planner::read_all(ValueId v, GroupId except) {
  const std::vector<Use> readers = std::move(pending_uses_[v]);
  for (const Use& use : readers) {
    --drafts_[find(use.group)].pending_uses;
    if (find(use.group) != find(except)) read(use.group, v, use.space, use.at);
  }
  const auto memory = memory_readers_.find(v);
  if (memory == memory_readers_.end()) return;
  for (GroupId reader : memory->second) read(reader, v, Space::operand, {});
}

}  // namespace primset::schedule
