#include "codegen/schedule/fusion/order.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/fusion/symbolic_indices.h"
#include "primset/error.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::NodeId;
using prims::ValueId;

class Order {
 public:
  Order(const Graph& g, FusionPlan& plan, std::span<const GroupSlot> slots)
      : g_(g), plan_(plan), slots_(slots.begin(), slots.end()) {
    for (GroupId id = 0; id < plan_.groups.size(); ++id) {
      if (slots_[id].region == GroupSlot::kMerged) continue;
      by_region_[slots_[id].region].push_back(id);
      for (const Root& r : plan_.groups[id].roots) {
        writers_[r.out.buffer].push_back(id);
        const auto place = plan_.places.find(r.value);  // a number that is written has none
        if (place != plan_.places.end() && place->second.buffer == r.out.buffer)
          maker_.emplace(r.value, id);
      }
      for (const Read& r : plan_.groups[id].reads) {
        if (g_.producer(r.value) == Graph::kNoNode) readers_[r.value].push_back(id);
      }
    }
  }

  void run() {
    for (uint32_t j = 0; j < g_.outputs.size(); ++j) {
      if (!g_.outputs[j].writes_input) continue;
      const ValueId reader = reads_what_it_overwrites(j);
      if (reader != prims::kNoValue) detach(j, reader);
    }
    // Detaching an output may add a copy to a region that has been ordered already.
    size_t detached = 0;
    do {
      detached = plan_.detached.size();
      plan_.order = order_of(0);
      for (GroupId id = 0; id < plan_.groups.size(); ++id) {
        for (size_t k = 0; k < plan_.groups[id].regions.size(); ++k) {
          std::vector<GroupId> order = order_of(plan_.groups[id].regions[k].region);
          plan_.groups[id].regions[k].order = std::move(order);
        }
      }
    } while (plan_.detached.size() != detached);
    std::ranges::sort(plan_.detached, {}, &Detached::output);
    for (const Detached& d : plan_.detached) copy_detached(d.output);
  }

 private:
  ValueId overwritten(uint32_t j) const { return g_.inputs[*g_.outputs[j].writes_input].value; }

  // A value that a group computes from elements of the input other than those that it overwrites at
  // the same time; kNoValue: none.
  ValueId reads_what_it_overwrites(uint32_t j) {
    const auto writers = writers_.find(buffer_of_output(j));
    if (writers == writers_.end()) return prims::kNoValue;
    for (GroupId id : writers->second) {
      const FusionGroup& group = plan_.groups[id];
      // Each branch of a cond is ordered by itself; loops read again what they wrote.
      if (is_branch(group)) continue;
      for (const Root& root : group.roots) {
        if (root.out.buffer != buffer_of_output(j)) continue;
        for (const Read& read : group.reads) {
          if (read.value == overwritten(j) && !same_element(group, root, read)) return root.value;
        }
      }
    }
    return prims::kNoValue;
  }

  bool is_branch(const FusionGroup& group) const {
    return group.anchor != Graph::kNoNode && g_.node(group.anchor).prim == prims::Prim::cond;
  }

  bool same_element(const FusionGroup& group, const Root& root, const Read& read) {
    const Placement& input = plan_.places.at(read.value);
    const SymInts& shape = g_.type(root.value).shape;
    switch (read.space) {
      case Space::operand:
        return false;
      case Space::copied:
        // Copied before anything else; with one operand that is all that reads it.
        if (g_.node(group.anchor).results.size() != 1) return false;
        break;
      case Space::domain:
      case Space::rows: {
        const bool over_domain = shape.size() == group.domain.size();
        if (over_domain != (read.space == Space::domain)) return false;
        break;
      }
      case Space::root:
        break;
    }
    if (read.at.size() != input.strides.size()) return false;
    const Affine store = element_address(root.out, identity_indices(shape), arithmetic_);
    const Affine load = element_address(input, read.at, arithmetic_);
    return same(store, load);
  }

  BufferId buffer_of_output(uint32_t j) {
    if (output_buffers_.empty()) {
      output_buffers_.resize(g_.outputs.size(), FusionPlan::kNoBuffer);
      for (BufferId b = 0; b < plan_.buffers.size(); ++b) {
        if (plan_.buffers[b].kind == Buffer::Kind::output)
          output_buffers_[plan_.buffers[b].index] = b;
      }
    }
    return output_buffers_[j];
  }

  // The output's buffer becomes a temporary; the output gets a new buffer.
  void detach(uint32_t j, ValueId reader) {
    const BufferId temp = buffer_of_output(j);
    Buffer output = plan_.buffers[temp];
    plan_.buffers[temp].kind = Buffer::Kind::temp;
    plan_.buffers[temp].index = 0;
    plan_.buffers.push_back(std::move(output));
    output_buffers_[j] = static_cast<BufferId>(plan_.buffers.size() - 1);
    plan_.detached.push_back({j, reader});
    aside_.emplace(j, temp);
    // What needed no writing while the output was the input's memory is written now.
    for (const InPlace& p : plan_.in_place) {
      if (p.place.buffer == temp) add_copy({p.value, p.place}, p.region);
    }
  }

  GroupId add_copy(const Root& root, uint32_t region) {
    const auto id = static_cast<GroupId>(plan_.groups.size());
    FusionGroup& copy = plan_.groups.emplace_back();
    copy.family = &pointwise_family;
    copy.domain = g_.type(root.value).shape;
    copy.roots.push_back(root);
    copy.reads.push_back({root.value, Space::root, identity_indices(copy.domain)});
    slots_.push_back({region, UINT32_MAX});
    by_region_[region].push_back(id);
    return id;
  }

  // From what was written aside: the value may have another place, in memory that is overwritten.
  void copy_detached(uint32_t j) {
    const ValueId v = g_.outputs[j].value;
    const Placement aside = written_in(aside_.at(j), v);
    Placement out = aside;
    out.buffer = output_buffers_[j];
    const GroupId copy = add_copy({v, std::move(out)}, GroupSlot::kMerged);
    plan_.groups[copy].source = aside;
    plan_.order.push_back(copy);
  }

  Placement written_in(BufferId b, ValueId v) const {
    const auto own = plan_.places.find(v);  // a number that is written has none
    if (own != plan_.places.end() && own->second.buffer == b) return own->second;
    for (const FusionGroup& group : plan_.groups) {
      for (const Root& r : group.roots) {
        if (r.value == v && r.out.buffer == b) return r.out;
      }
    }
    throw Error(ErrorCode::internal,
                "%" + std::to_string(v) + " is an output that no group of the fusion plan writes");
  }

  // --- topological order: Kahn's algorithm, earliest position first ------------------------------

  struct Edges {
    std::map<GroupId, std::set<GroupId>> out;
    std::map<GroupId, size_t> in;
    void add(GroupId from, GroupId to) {
      if (from != to && out[from].insert(to).second) ++in[to];
    }
    void remove(GroupId from, GroupId to) {
      if (out[from].erase(to) != 0) --in[to];
    }
  };

  std::vector<GroupId> order_of(uint32_t region) {
    const std::vector<GroupId> groups = by_region_[region];
    Edges edges;
    for (GroupId g : groups) {
      edges.in.try_emplace(g, 0);
      for (const Read& r : plan_.groups[g].reads) {
        if (const auto maker = maker_.find(r.value);
            maker != maker_.end() && slots_[maker->second].region == region)
          edges.add(maker->second, g);
      }
    }
    add_barriers(groups, edges);
    add_overwrites(region, edges);
    return sorted(groups, edges);
  }

  // Whatever has a size that is read from the device comes behind the reading.
  void add_barriers(const std::vector<GroupId>& groups, Edges& edges) {
    for (GroupId barrier : groups) {
      if (plan_.groups[barrier].family != &read_size_family) continue;
      for (GroupId g : groups) {
        if (slots_[g].first >= slots_[barrier].first) edges.add(barrier, g);
      }
    }
  }

  // Readers of an input come before the group that overwrites it.
  void add_overwrites(uint32_t region, Edges& edges) {
    overwrites_.clear();
    for (uint32_t j = 0; j < g_.outputs.size(); ++j) {
      if (!g_.outputs[j].writes_input || aside_.contains(j)) continue;
      const auto writers = writers_.find(buffer_of_output(j));
      const auto readers = readers_.find(overwritten(j));
      if (writers == writers_.end() || readers == readers_.end()) continue;
      for (GroupId w : writers->second) {
        if (slots_[w].region != region) continue;
        for (GroupId r : readers->second) {
          if (slots_[r].region != region || r == w) continue;
          edges.add(r, w);
          overwrites_.push_back({j, r, w});
        }
      }
    }
  }

  // Topological sort (Kahn, 1962); of the groups that are ready, the earliest in the graph comes
  // first. A cycle can only come from an output that overwrites an input: break_cycle() removes
  // one.
  std::vector<GroupId> sorted(const std::vector<GroupId>& groups, Edges& edges) {
    using Entry = std::pair<uint32_t, GroupId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    std::set<GroupId> waiting;
    for (GroupId g : groups) {
      if (edges.in[g] == 0)
        ready.emplace(slots_[g].first, g);
      else
        waiting.insert(g);
    }
    std::vector<GroupId> out;
    while (!ready.empty() || !waiting.empty()) {
      if (ready.empty()) {
        break_cycle(waiting, edges);
        for (auto it = waiting.begin(); it != waiting.end();) {
          if (edges.in[*it] == 0) {
            ready.emplace(slots_[*it].first, *it);
            it = waiting.erase(it);
          } else {
            ++it;
          }
        }
        continue;
      }
      const GroupId g = ready.top().second;
      ready.pop();
      out.push_back(g);
      for (GroupId next : edges.out[g]) {
        if (--edges.in[next] == 0) {
          waiting.erase(next);
          ready.emplace(slots_[next].first, next);
        }
      }
    }
    return out;
  }

  // Removes a cycle: of the overwrites whose groups wait, the earliest output is copied at the end
  // instead.
  void break_cycle(const std::set<GroupId>& waiting, Edges& edges) {
    const Overwrite* earliest = nullptr;
    for (const Overwrite& o : overwrites_) {
      if (aside_.contains(o.output) || !waiting.contains(o.writer) || !waiting.contains(o.reader))
        continue;
      if (earliest == nullptr || slots_[o.writer].first < slots_[earliest->writer].first)
        earliest = &o;
    }
    if (earliest == nullptr)
      throw Error(ErrorCode::internal, "groups of a fusion plan wait for one another");
    const uint32_t j = earliest->output;
    const FusionGroup& reader = plan_.groups[earliest->reader];
    detach(j, reader.roots.empty() ? overwritten(j) : reader.roots[0].value);
    for (const Overwrite& o : overwrites_) {
      if (o.output != j) continue;
      const bool others = std::ranges::any_of(overwrites_, [&](const Overwrite& x) {
        return !aside_.contains(x.output) && x.reader == o.reader && x.writer == o.writer;
      });
      if (!others && waiting.contains(o.reader) && !is_made_by(o.writer, o.reader))
        edges.remove(o.reader, o.writer);
    }
  }

  // Does `g` read what `maker` makes?
  bool is_made_by(GroupId g, GroupId maker) const {
    return std::ranges::any_of(plan_.groups[g].reads, [&](const Read& r) {
      const auto it = maker_.find(r.value);
      return it != maker_.end() && it->second == maker;
    });
  }

  struct Overwrite {
    uint32_t output;
    GroupId reader, writer;
  };

  const Graph& g_;
  FusionPlan& plan_;
  std::vector<GroupSlot> slots_;
  SymbolicArithmetic arithmetic_;
  std::map<uint32_t, std::vector<GroupId>> by_region_;
  std::unordered_map<BufferId, std::vector<GroupId>> writers_;
  std::unordered_map<ValueId, GroupId> maker_;
  std::unordered_map<ValueId, std::vector<GroupId>> readers_;  // of inputs
  std::vector<BufferId> output_buffers_;
  std::map<uint32_t, BufferId> aside_;  // detached outputs
  std::vector<Overwrite> overwrites_;   // of the region that is being ordered
};

}  // namespace

void order_groups(const Graph& g, FusionPlan& plan, std::span<const GroupSlot> slots) {
  Order(g, plan, slots).run();
}

}  // namespace primset::schedule
