// Builds the program of a fusion plan: allocates what the plan has placed, and has every group's
// family append its steps, in the plan's order. Decides nothing.
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

  // All but `graph` outlive the builder.
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
  // Memory that the group needs besides what it reads and writes; row-major and dense.
  BufferId scratch(DType dtype, const SymInt& elements, std::string note);
  Placement temp(ValueId like);
  // Where the elements of `v` lie when it, or what it views, is in memory by now.
  std::optional<Placement> placement(ValueId v) const;
  // `v` lies there from now on.
  void place(ValueId v, const Placement& p) { places_.emplace(v, p); }
  // Computes `v`, whatever it is made of, into `p`; nothing where `p` takes over its memory.
  void copy_into(ValueId v, const Placement& p);
  // Builds groups into a list of steps of their own: a region. What is made there is known there.
  void build_region(const RegionPlan& r, std::vector<Step>& steps);
  // Likewise what `build` appends.
  template <typename F>
  void append_to(std::vector<Step>& steps, F build) {
    std::vector<Step>* before = std::exchange(steps_, &steps);
    build();
    steps_ = before;
  }
  // The symbol that counts a loop's iterations.
  const SymInt& counter(ValueId parameter) const { return plan_.counters.at(parameter); }
  // The place that the plan gave a result of the group; null: nobody wants it.
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
  std::unordered_map<ValueId, Placement> places_;  // of what is in memory by now
  std::unordered_map<ValueId, uint32_t> scalar_inputs_;
  std::unordered_map<std::string, uint32_t> check_sites_;
  std::unordered_map<std::string, uint32_t> kernel_ids_;  // by text
  Materialized values_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_BUILDER_H_
