// Makes a FusionPlan of a legalised graph, in one walk from its results to its inputs.
//
// When the walk visits a value, all its uses are known: each is a group, with the index at which it
// reads the value. The value is then
//   inlined       computed in every group that reads it, which then reads its operands, or
//   materialised  stored by one group, a reader or a new one; the others load it.
// A reduction joins the group that reads it at the rows of its own domain, and so softmax is one
// kernel. A primitive with a family of its own (a product, a sort) is a group, and elementwise
// functions of its results become its epilogue.
//
// The groups form no cycle: a group runs when the first of its roots, in the order of the graph,
// can be computed, and it takes a further root only while it reads nothing that is computed after
// that one. Each (group, value, index) is visited once, so the time is linear in their number; a
// node is inlined into many groups only where recomputing it is cheap (recompute.h).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FUSION_PLANNER_H_
#define PRIMSET_CODEGEN_SCHEDULE_FUSION_PLANNER_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/schedule/fusion/fusion_plan.h"
#include "codegen/schedule/fusion/recompute.h"
#include "codegen/schedule/fusion/symbolic_indices.h"
#include "codegen/schedule/legalize/legalize.h"
#include "codegen/schedule/options.h"
#include "sdk/base/hash_index.h"

namespace primset::schedule {

// `legal` must outlive the plan. May add guards to the graph's context. Throws
// Error{not_implemented} for a primitive that neither a family nor the element emitter computes.
FusionPlan plan_fusion(const prims::Graph& g, const Legalized& legal, const Machine& machine,
                       const Options& options, std::span<const Family* const> families);

// The walk. Its methods are in planner.cpp, planner_memory.cpp (what is in memory, and where),
// planner_anchors.cpp (primitives with a family, control flow), reduction_fusion.cpp and
// siblings.cpp.
class Planner {
 public:
  Planner(const prims::Graph& g, const Legalized& legal, const Machine& machine,
          const Options& options, std::span<const Family* const> families);
  FusionPlan plan() &&;

 private:
  using Graph = prims::Graph;
  using Node = prims::Node;
  using NodeId = prims::NodeId;
  using ValueId = prims::ValueId;
  using RegionId = uint32_t;

  // A group under construction.
  struct Draft {
    RegionId region = 0;
    uint32_t first = UINT32_MAX;   // position of its earliest result
    uint32_t latest_read = 0;      // position of the latest value of another group that it reads
    uint32_t pending_uses = 0;     // of values that the walk has not visited
    bool root_is_rows = false;     // reduction group: Space::root means Space::rows
    std::vector<GroupId> members;  // that were merged into it, itself first
  };
  // A group that reads a value, and the index that it reads it at.
  struct Use {
    GroupId group = 0;
    Space space = Space::root;
    Indices at;
    uint32_t depth = 0;
    bool elementwise = true;  // from the group's results to here
  };
  // Where a value is stored, and why.
  struct Materialization {
    Placement place;
    NotFused why = NotFused::graph_output;
  };

  // --- planner.cpp ---
  void number(const prims::Region& r, RegionId region);
  void find_sizes();
  void compute_in(GroupId g, NodeId id);
  void walk(const prims::Region& r);
  void visit(NodeId id);
  void visit_indexable(NodeId id);
  void visit_value(NodeId id, ValueId v);
  void leave_empty(ValueId v);
  void visit_check(NodeId id);
  void inline_into_readers(NodeId id, ValueId v);
  void expand(NodeId id, GroupId group, Space space, const Indices& at, uint32_t depth,
              bool elementwise);
  void add_use(ValueId v, Use use);
  std::optional<NotFused> must_materialize(ValueId v, const std::vector<Use>& readers,
                                           bool extra_result) const;
  bool widens(NodeId id) const;
  bool spreads(NodeId id) const;
  bool would_wait(NodeId id, const std::vector<Use>& readers) const;
  double evaluations(ValueId v, const std::vector<Use>& readers) const;
  static bool is_limit(NotFused why);
  std::optional<NotFused> exceeds_limits(NodeId id, const Use& use, uint32_t times = 0) const;
  uint32_t operations_of(const Node& n) const;
  std::vector<GroupId> readers_of(const std::vector<Use>& uses) const;

  // --- groups ---
  GroupId new_group(const Family& family, RegionId region, SymInts domain);
  GroupId pointwise_group(const Root& root, uint32_t position, RegionId region);
  std::optional<GroupId> group_over(const SymInts& domain, uint32_t position, RegionId region,
                                    const std::vector<GroupId>& except) const;
  std::optional<GroupId> group_beside(const Root& root, uint32_t position, RegionId region) const;
  void add_root(GroupId g, const Root& root, uint32_t position);
  GroupId find(GroupId g) const;  // what it was merged into
  bool can_merge(GroupId a, GroupId b) const;
  void merge(GroupId into, GroupId from);
  std::optional<GroupId> group_to_write(ValueId v, const std::vector<Use>& readers) const;
  bool at_own_index(ValueId v, const Use& use) const;
  bool takes_result(GroupId g, ValueId v) const;
  std::optional<size_t> row_dim(GroupId g, ValueId v) const;
  bool reads_nothing_made_after(GroupId g, uint32_t position) const;
  void note_unfused(ValueId v, NotFused why);

  // --- planner_memory.cpp ---
  void place_inputs();
  void place_outputs();
  BufferId new_buffer(Buffer b);
  Placement temp(ValueId v);
  Placement temp_of_operand(NodeId id, ValueId v);
  void materialize(ValueId v, Placement place, NotFused why);
  void want_at(ValueId v, const Placement& place, RegionId region);
  void want_in_memory(ValueId v, GroupId reader);
  bool is_view_of_memory(ValueId v);
  bool sink_view(NodeId id, ValueId v);
  std::optional<Placement> known_place(ValueId v) const;
  void read(GroupId g, ValueId v, Space space, const Indices& at);
  void read_all(ValueId v, GroupId except);

  // --- reduction_fusion.cpp ---
  struct Rows {  // the domain of a reduction, and its parallel dims: all but `dim`
    SymInts domain, parallel;
    size_t dim = 0;
  };
  Rows rows_of(const Node& n) const;
  void visit_reduction(NodeId id);
  void find_source_reductions();
  std::optional<Rows> anticipated_rows(GroupId g, ValueId v) const;
  void become_reduction(GroupId g, const Rows& rows);
  void split_without_reduction(GroupId g);
  Space resolved(GroupId user, Space space) const;
  bool crosses_rows(GroupId g, ValueId v) const;
  bool used_at_rows(const Use& use, const Rows& rows) const;
  bool can_reduce(GroupId g, const Rows& rows) const;
  std::optional<GroupId> reduction_group(const Node& n, const Rows& rows, NotFused& why);
  std::optional<GroupId> reduction_beside(NodeId id, const Rows& rows) const;
  uint32_t shared_operations(const FusionGroup& group, NodeId id) const;
  void join(GroupId g, NodeId id, const Rows& rows);

  // --- planner_anchors.cpp ---
  const Family* family_of(NodeId id) const;
  const Family* cheapest_family(NodeId id) const;
  void visit_anchor(NodeId id, const Family& family);
  std::optional<GroupId> epilogue_of(NodeId id, const Family& family) const;
  void add_operand_uses(NodeId id, GroupId g, const Family& family);
  void write_result(NodeId id, ValueId v, GroupId g, bool empty);
  void plan_control(NodeId id, GroupId g, const std::vector<ValueId>& wanted);
  void plan_for_loop(NodeId id, GroupId g);
  void plan_while_loop(NodeId id, GroupId g);
  void plan_cond(NodeId id, GroupId g, const std::vector<ValueId>& wanted);
  void carry(GroupId g, ValueId operand, ValueId like);
  void result_lies_at(NodeId id, ValueId v, GroupId g, const Placement& place);
  void copy_operand(ValueId v, GroupId g);
  void make_in_place(ValueId v, GroupId g);
  void plan_region(GroupId owner, const prims::Region& r, const std::vector<Placement>& results);
  void visit_set_dim(NodeId id);

  // --- siblings.cpp ---
  void merge_siblings();

  const Graph& g_;
  const Legalized& legal_;
  const Machine& machine_;
  const Options& options_;
  const std::span<const Family* const> families_;
  const RecomputeEstimate estimate_;

  FusionPlan plan_;
  std::vector<Draft> drafts_;                   // by group
  mutable std::vector<GroupId> merged_;         // by group: into which
  std::vector<std::vector<Use>> pending_uses_;  // by value
  HashIndex use_numbers_;                       // its place in pending_uses_
  std::unordered_set<uint64_t> read_;           // group and value
  std::vector<NodeId> numbered_;  // all nodes, those of regions before their primitive
  std::unordered_map<ValueId, Materialization> materialized_;
  mutable std::vector<std::optional<const Family*>> families_of_;  // by node
  std::unordered_map<ValueId, std::vector<GroupId>> memory_readers_;
  std::vector<NodeId> source_reduction_;  // by value: a reduction it is computed from, or kNoNode
  std::unordered_set<ValueId> scalars_;   // scalar inputs and loop counters
  std::vector<uint32_t> users_;           // by value: how often an operand or a result
  std::vector<uint32_t> position_;        // by node, in the order of the graph; from 1
  // By node: the position of the latest `set_dim` that makes a size of its types; empty: none does.
  std::vector<uint32_t> sized_by_;
  // Symbols of such sizes that other nodes have than the set_dim that makes them.
  std::unordered_set<uint32_t> used_sizes_;
  std::vector<RegionId> region_;  // by node
  std::vector<GroupId> owner_;    // by region: the control flow group that it is part of
  std::vector<RegionId> outer_;   // by region: where that group is
  std::unordered_map<const prims::Region*, RegionId> region_ids_;
  std::vector<std::vector<GroupId>> recent_;  // by region: pointwise groups, for checks to ride in
  SymbolicArithmetic arithmetic_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FUSION_PLANNER_H_
