// The textual form of a fusion plan, for people.
#include <algorithm>
#include <map>

#include "codegen/schedule/fusion/fusion_plan.h"

namespace primset::schedule {

namespace {

class Printer {
 public:
  Printer(const FusionPlan& plan, const prims::Graph& g) : plan_(plan), g_(g) {
    for (const Unfused& u : plan.unfused) why_.emplace(u.value, u.why);
  }

  std::string print() {
    groups(plan_.order);
    for (const Detached& d : plan_.detached) {
      line("output " + std::to_string(d.output) + " is computed aside: %" +
           std::to_string(d.reader) + " is made from the input whose memory it takes over");
    }
    return out_;
  }

 private:
  void line(const std::string& s) { out_ += std::string(indent_, ' ') + s + "\n"; }

  void groups(const std::vector<GroupId>& order) {
    for (GroupId id : order) group(id, plan_.groups[id]);
  }

  void group(GroupId id, const FusionGroup& group) {
    line("group " + std::to_string(id) + ": " + std::string(group.family->name()));
    indent_ += 2;
    if (group.anchor != prims::Graph::kNoNode) line("computes " + names({group.anchor}));
    if (!group.reduces.empty()) line("reduces " + names(group.reduces));
    if (!group.nodes.empty()) line("fuses " + names(group.nodes));
    if (!group.checks.empty()) line("checks " + names(group.checks));
    reads(group);
    for (const Root& r : group.roots) root(r);
    for (const RegionPlan& r : group.regions) {
      line("region");
      indent_ += 2;
      groups(r.order);
      indent_ -= 2;
    }
    indent_ -= 2;
  }

  // "%4 mul, %5 add": a primitive by its first result.
  std::string names(const std::vector<prims::NodeId>& nodes) const {
    std::string out;
    for (prims::NodeId id : nodes) {
      const prims::Node& n = g_.node(id);
      if (!out.empty()) out += ", ";
      if (!n.results.empty()) out += "%" + std::to_string(n.results[0]) + " ";
      out += info(n.prim).name;
    }
    return out;
  }

  void reads(const FusionGroup& group) {
    std::vector<prims::ValueId> values;
    for (const Read& r : group.reads) values.push_back(r.value);
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    std::string text;
    for (prims::ValueId v : values) text += " %" + std::to_string(v);
    if (!text.empty()) line("reads" + text);
  }

  void root(const Root& r) {
    const Buffer& b = plan_.buffers[r.out.buffer];
    std::string text =
        "writes %" + std::to_string(r.value) + " to b" + std::to_string(r.out.buffer);
    if (b.kind == Buffer::Kind::output) {
      text += " (output " + std::to_string(b.index);
      if (const auto input = g_.outputs[b.index].writes_input)
        text += ", in place of input " + std::to_string(*input);
      text += ")";
    }
    if (const auto why = why_.find(r.value); why != why_.end())
      text += ": " + std::string(schedule::text(why->second));
    line(text);
  }

  const FusionPlan& plan_;
  const prims::Graph& g_;
  std::map<prims::ValueId, NotFused> why_;
  std::string out_;
  size_t indent_ = 0;
};

}  // namespace

std::string print(const FusionPlan& plan, const prims::Graph& graph) {
  return Printer(plan, graph).print();
}

}  // namespace primset::schedule
