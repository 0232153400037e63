// Builds the program of a fusion plan: allocates the plan's buffers, then each group's family
// appends its steps, in the plan's order. It decides nothing.
#ifndef PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_BUILDER_H_
#define PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_BUILDER_H_

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/schedule/fusion/fusion_plan.h"
#include "codegen/schedule/legalize/legalize.h"
#include "codegen/schedule/options.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

class ProgramBuilder {
 public:
  using NodeId = prims::NodeId;
  using ValueId = prims::ValueId;

  // The references must outlive the builder.
  ProgramBuilder(std::shared_ptr<const prims::Graph> graph, const Legalized& legal,
                 const FusionPlan& plan, const Machine& machine, const Options& options);
  Program build();

  // --- for families ---
  const prims::Graph& graph() const { return *graph_; }
  const Machine& machine() const { return machine_; }
  const Options& options() const { return options_; }
  BuildContext context(const char* name) const;
  void launch(BuiltKernel k, NodeId node);
  void append(Step step) { steps_->push_back(std::move(step)); }
  // Temporary memory of a group, dense: of so many elements; of a value's shape, row-major.
  BufferId scratch(DType dtype, const SymInt& elements, std::string note);
  Placement temp(ValueId like);
  // Memory that holds these elements in every run.
  BufferId table(DType dtype, std::vector<std::byte> data, std::string note);
  // The placement of `v` where it, or what it is a view of, is in memory at this point; else
  // nullopt.
  std::optional<Placement> placement(ValueId v) const;
  // Sets the placement of `v` from this point on.
  void place(ValueId v, const Placement& p) { places_.emplace(v, p); }
  // Whether `v` is in this memory already (takes_over).
  bool is_at(ValueId v, const Placement& p) const;
  // Computes `v` into `p`. No step where `v` is there already.
  void copy_into(ValueId v, const Placement& p);
  // Builds a region's groups into `steps`. Placements made there end with the region.
  void build_region(const RegionPlan& r, std::vector<Step>& steps);
  // Runs `build`, whose steps go into `steps`.
  template <typename F>
  void append_to(std::vector<Step>& steps, F build) {
    std::vector<Step>* before = std::exchange(steps_, &steps);
    build();
    steps_ = before;
  }
  // The code that an error slot has where this check of the program fails.
  uint32_t check_code(const std::string& code, const std::string& message) {
    return check_site(code, message) + 1;
  }
  const FusionGroup& group(GroupId id) const { return plan_.groups[id]; }
  BufferId errors() const { return plan_.errors; }
  // The symbol that counts a loop's iterations.
  const SymInt& counter(ValueId parameter) const { return plan_.counters.at(parameter); }
  // The placement that the plan gave a result of the group; null: it has no reader.
  static const Placement* wanted(const FusionGroup& group, ValueId v);

 private:
  void build_group(const FusionGroup& group);
  uint32_t check_site(const std::string& code, const std::string& message);

  const std::shared_ptr<const prims::Graph> graph_;
  const FusionPlan& plan_;
  const Machine& machine_;
  const Options& options_;
  Program program_;
  std::vector<Step>* steps_ = nullptr;
  std::unordered_map<ValueId, Placement> places_;  // of the values in memory at this point
  std::unordered_map<ValueId, uint32_t> scalar_inputs_;
  std::unordered_map<std::string, uint32_t> check_sites_;
  std::unordered_map<std::string, uint32_t> kernel_ids_;  // by text
  ValueEnvironment values_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_BUILDER_H_
