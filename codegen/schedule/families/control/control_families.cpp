#include "codegen/schedule/families/control/control_families.h"

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/families/control/group_loop.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

// What loops and branches have in common: each belongs to one primitive, and works on copies.
class Control : public Family {
 public:
  Control(prims::Prim prim, std::string_view name) : prim_(prim), name_(name) {}
  std::string_view name() const override { return name_; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine&) const override {
    if (g.node(node).prim != prim_) return std::nullopt;
    return Cost{};
  }

 protected:
  static void copy_operands(ProgramBuilder& b, const FusionGroup& group) {
    const auto& operands = b.graph().node(group.anchor).operands;
    for (size_t k = 0; k < group.carried.size(); ++k) b.copy_into(operands[k], group.carried[k]);
  }

  // At the end of an iteration the next values become the present ones.
  static void carry_on(ProgramBuilder& b, const FusionGroup& group, std::vector<Step>& body) {
    const prims::Node& n = b.graph().node(group.anchor);
    for (size_t k = 0; k < group.carried.size(); ++k) {
      const SymInt elements = prims::product(b.graph().type(n.results[k]).shape);
      body.push_back({CopyStep{group.next[k].buffer, group.carried[k].buffer, elements}});
    }
  }

 private:
  const prims::Prim prim_;
  const std::string_view name_;
};

class ForLoop : public Control {
 public:
  ForLoop() : Control(prims::Prim::for_loop, "for_loop") {}
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    copy_operands(b, group);
    const prims::Node& n = b.graph().node(group.anchor);
    const auto& params = n.regions[0].params;
    for (size_t k = 0; k < group.carried.size(); ++k) b.place(params[1 + k], group.carried[k]);
    if (auto kernel = group_loop(b, group)) return b.launch(*std::move(kernel), group.anchor);
    const SymInt& counter = b.counter(params[0]);
    LoopStep step{n.attr<SymInt>("count"), *b.graph().context().as_symbol(counter), {}};
    b.build_region(group.regions[0], step.body);
    carry_on(b, group, step.body);
    b.append({std::move(step)});
  }
};

class WhileLoop : public Control {
 public:
  WhileLoop() : Control(prims::Prim::while_loop, "while_loop") {}
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    copy_operands(b, group);
    const prims::Node& n = b.graph().node(group.anchor);
    for (const prims::Region& r : n.regions) {
      for (size_t k = 0; k < r.params.size(); ++k) b.place(r.params[k], group.carried[k]);
    }
    WhileStep step;
    step.condition = group.regions[0].results[0].buffer;
    b.build_region(group.regions[0], step.test);
    b.build_region(group.regions[1], step.body);
    carry_on(b, group, step.body);
    b.append({std::move(step)});
  }
};

// Legalised, its regions have no parameters: they see what is outside.
class Cond : public Control {
 public:
  Cond() : Control(prims::Prim::cond, "cond") {}
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    copy_operands(b, group);  // the condition
    BranchStep step;
    step.condition = group.carried[0].buffer;
    b.build_region(group.regions[0], step.then_steps);
    b.build_region(group.regions[1], step.else_steps);
    b.append({std::move(step)});
  }
};

// A size that only the device knows.
class ReadSize : public Family {
 public:
  std::string_view name() const override { return "read_size"; }
  std::optional<Cost> cost(const prims::Graph&, prims::NodeId, const Machine&) const override {
    return std::nullopt;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const prims::Graph& g = b.graph();
    const prims::Node& n = g.node(group.anchor);
    const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    const prims::ValueId count = n.operands[1];
    Placement place = b.placement(count).value();
    if (!place.offset.same(SymInt(0))) {
      place = b.temp(count);
      b.copy_into(count, place);
    }
    b.append(
        {ReadCountStep{place.buffer, *g.context().as_symbol(g.type(n.results[0]).shape[dim])}});
  }
};

const ForLoop kForLoop;
const WhileLoop kWhileLoop;
const Cond kCond;
const ReadSize kReadSize;

}  // namespace

const Family& for_loop_family = kForLoop;
const Family& while_loop_family = kWhileLoop;
const Family& cond_family = kCond;
const Family& read_size_family = kReadSize;

}  // namespace primset::schedule
