// Turns a normalised graph into steps: decides what is materialised, which nodes share a kernel,
// and in which order kernels run.
#ifndef PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_BUILDER_H_
#define PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_BUILDER_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/schedule/families/sort/radix_sort.h"
#include "codegen/schedule/legalize/legalize.h"
#include "codegen/schedule/program/kernels.h"
#include "codegen/schedule/schedule.h"

namespace primset::schedule {

class ProgramBuilder {
 public:
  // `readers_first`: what reads an input is made before the output that takes its memory over, as
  // far as that goes.
  // detached[j]: output j is computed in a temporary and copied at the end, because something still
  // reads the input whose memory it takes over.
  // `notes`: what normalize() says of the graph's values; outlives the builder.
  ProgramBuilder(std::shared_ptr<const prims::Graph> graph, const Normalized& notes,
                 const kir::TargetModel& target, const Options& options, bool readers_first,
                 const std::vector<bool>& detached);

  Program build();
  // Outputs that take over an input which is read elsewhere while or after they are written.
  std::vector<bool> unsafe_outputs() const;

 private:
  using Node = prims::Node;
  using NodeId = prims::NodeId;
  using ValueId = prims::ValueId;

  // --- buffers ---
  BufferId new_buffer(Buffer b);
  Placement temp(ValueId v);
  Placement dense(BufferId buffer, const prims::SymInts& shape) const;
  uint32_t check_site(const std::string& code, const std::string& message);

  // --- what depends on what ---
  bool inlinable(ValueId v) const;
  bool is_native(NodeId id) const;  // the device runs it itself
  // Values that `v`'s inline computation ends at: not placed, not inlinable.
  void frontier(ValueId v, std::set<ValueId>& out, std::set<ValueId>& seen) const;
  bool is_reduce(ValueId v) const;
  struct Signature {
    prims::SymInts domain;
    size_t dim;
  };
  Signature signature(ValueId reduce_result) const;
  static bool same_shape(const prims::SymInts& a, const prims::SymInts& b);
  static bool same_signature(const Signature& a, const Signature& b);

  // --- making values ---
  void make_readable(ValueId v);
  void materialize(ValueId v);            // into a temporary, unless it is placed
  void compute(std::vector<Root> roots);  // of one shape or one row cluster
  bool compute_rows(const std::vector<Root>& roots);
  void compute_pointwise(const std::vector<Root>& roots);
  void compute_node(NodeId id, const std::vector<Root>& roots);
  void contraction(NodeId id, const std::vector<Root>& roots);
  void attention(NodeId id, const std::vector<Root>& roots);
  std::optional<NodeId> finished_by(const std::vector<Root>& roots) const;
  bool is_output(ValueId v) const;
  void scatter(NodeId id, const Root& root);
  void sort(NodeId id, const std::vector<Root>& roots);
  void merge_sort(NodeId id, const std::vector<Root>& roots);
  void merge_passes(SortRequest r);
  bool radix_sort(NodeId id, const std::vector<Root>& roots);
  void radix_passes(const RadixSort& sort, RadixPass last);
  void radix_pass(const RadixSort& sort, const RadixPass& pass);
  void native(NodeId id, const std::vector<Root>& roots);
  void control(NodeId id, const std::vector<Root>& roots);
  void for_loop(NodeId id, const std::vector<Root>& roots);
  void while_loop(NodeId id, const std::vector<Root>& roots);
  void cond(NodeId id, const std::vector<Root>& roots);
  // Makes what the regions use of the values outside, so that it is made once and before them.
  void make_captures(const Node& n);
  // Builds a region's results into `steps`, written to the given places.
  void region(const prims::Region& r, std::vector<Step>& steps,
              const std::vector<Placement>& results);
  void copy_buffers(const std::vector<Placement>& from, const std::vector<Placement>& to,
                    const std::vector<ValueId>& like, std::vector<Step>& steps);
  std::vector<NodeId> take_checks(const prims::SymInts& shape);
  void place_inputs();
  void place_outputs();
  void read_counts();
  void compute_outputs();
  void compute_all(const std::vector<Root>& roots);
  std::vector<Root> readers_first(const std::vector<Root>& roots) const;
  std::set<BufferId> inputs_of(ValueId v) const;
  void compute_once(const std::vector<Root>& roots);
  void join(std::vector<Root>& group, std::vector<Root>& pending);
  bool same_rows(const std::set<ValueId>& a, ValueId va, const std::set<ValueId>& b,
                 ValueId vb) const;
  Root sink_views(Root root) const;
  // Where the elements of `v` lie when it is placed, or a view of what is.
  std::optional<Placement> viewed(ValueId v) const;
  void copy_into(ValueId v, const Placement& p);
  bool taken_over(ValueId v, const Placement& p) const;

  BuildContext context(const char* name) const;
  void launch(BuiltKernel k, NodeId node);
  // Builds with `make`, materialising whatever turns out not to be fusible.
  void keep_apart();
  BuiltKernel fused(const std::function<BuiltKernel()>& make);

  std::shared_ptr<const prims::Graph> graph_;
  const prims::Graph& g_;
  const kir::TargetModel& target_;
  const Options& options_;
  const bool readers_first_;
  std::vector<bool> detached_;
  Program program_;
  std::vector<Step>* steps_ = nullptr;
  std::unordered_map<ValueId, std::vector<NodeId>> users_;  // nodes with it as an operand
  std::unordered_set<ValueId> reread_;  // to be materialised before use; empties as they are
  std::unordered_map<ValueId, Placement> places_;
  std::unordered_map<ValueId, uint32_t> scalar_inputs_;
  std::unordered_map<ValueId, prims::SymInt> symbols_;
  std::vector<Placement> output_places_;
  std::vector<BufferId> input_buffers_;
  std::vector<NodeId> checks_;  // not yet in a kernel
  BufferId errors_ = 0;
  Materialized values_;

  int regions_ = 0;  // that are being built, one within the other

  // For unsafe_outputs(): when buffers are touched, and on which sides of branches.
  struct Branch {
    NodeId node;
    bool taken;
  };
  struct Touch {
    size_t time;  // rises in the order of steps; the same for all that one loop does
    std::vector<Branch> branches;
    Analysis analysis;
  };
  void touch(Analysis analysis);
  static bool exclude(const Touch& a, const Touch& b);
  template <typename F>
  void looped(F build) {
    if (loops_++ == 0) ++clock_;
    build();
    --loops_;
  }
  // What is inside of a loop may go the one way in one round and the other in the next.
  template <typename F>
  void branch(NodeId node, bool taken, F build) {
    if (loops_ == 0) branches_.push_back({node, taken});
    build();
    if (loops_ == 0) branches_.pop_back();
  }
  size_t clock_ = 0;
  int loops_ = 0;
  std::vector<Branch> branches_;
  std::vector<Touch> touches_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_BUILDER_H_
