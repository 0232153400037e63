#include "codegen/schedule/program/program_builder.h"

#include <algorithm>

#include "codegen/kernel/ir/text.h"
#include "codegen/schedule/element/view_placement.h"

namespace primset::schedule {

ProgramBuilder::ProgramBuilder(std::shared_ptr<const prims::Graph> graph, const Legalized& legal,
                               const FusionPlan& plan, const Machine& machine,
                               const Options& options)
    : graph_(std::move(graph)),
      plan_(plan),
      machine_(machine),
      options_(options),
      values_{*graph_,
              [this](ValueId v) -> const Placement* {
                if (const auto it = places_.find(v); it != places_.end()) return &it->second;
                const auto view = plan_.views.find(v);
                if (view == plan_.views.end() || !places_.contains(view->second)) return nullptr;
                return &plan_.places.at(v);
              },
              [this](ValueId v) -> std::optional<uint32_t> {
                const auto it = scalar_inputs_.find(v);
                if (it == scalar_inputs_.end()) return std::nullopt;
                return it->second;
              },
              [this](ValueId v) -> std::optional<SymInt> {
                const auto it = plan_.counters.find(v);
                if (it == plan_.counters.end()) return std::nullopt;
                return it->second;
              },
              [this](const std::string& code, const std::string& message) {
                return check_site(code, message);
              },
              [&contractible = legal.contractible](ValueId v) { return contractible.contains(v); },
              [this](ValueId v) {
                return std::ranges::any_of(graph_->outputs, [&](const prims::Output& o) {
                  return o.writes_input && graph_->inputs[*o.writes_input].value == v;
                });
              }} {
  program_.graph = graph_;
  program_.buffers = plan_.buffers;
  steps_ = &program_.steps;
  for (uint32_t i = 0; i < graph_->inputs.size(); ++i) {
    const prims::Input& in = graph_->inputs[i];
    if (in.kind == prims::Input::Kind::scalar)
      scalar_inputs_.emplace(in.value, i);
    else
      places_.emplace(in.value, plan_.places.at(in.value));
  }
}

Program ProgramBuilder::build() {
  for (ValueId v : plan_.empty) places_.emplace(v, plan_.places.at(v));
  for (GroupId g : plan_.order) build_group(plan_.groups[g]);
  return std::move(program_);
}

void ProgramBuilder::build_group(const FusionGroup& group) {
  if (group.source) places_.insert_or_assign(group.roots[0].value, *group.source);
  group.family->build(*this, group);
  // The first place stays: another one of the same value is a copy.
  for (const Root& r : group.roots) {
    const auto place = plan_.places.find(r.value);  // a number that is written has none
    if (place != plan_.places.end()) places_.emplace(r.value, place->second);
  }
}

void ProgramBuilder::build_region(const RegionPlan& r, std::vector<Step>& steps) {
  const auto outside = places_;
  append_to(steps, [&] {
    for (GroupId g : r.order) build_group(plan_.groups[g]);
  });
  places_ = outside;
}

BuildContext ProgramBuilder::context(const char* name) const {
  return {values_, machine_, options_.index32, plan_.errors, name};
}

void ProgramBuilder::launch(BuiltKernel k, NodeId node) {
  const auto next = static_cast<uint32_t>(program_.kernels.size());
  const auto [known, fresh] =
      kernel_ids_.try_emplace(kir::print(k.kernel, kir::ParamNames::numbered), next);
  if (fresh) program_.kernels.push_back(std::move(k.kernel));
  k.step.kernel = known->second;
  k.step.graph_node = node;
  steps_->push_back({std::move(k.step)});
}

BufferId ProgramBuilder::scratch(DType dtype, const SymInt& elements, std::string note) {
  program_.buffers.push_back({Buffer::Kind::temp, 0, dtype, elements, std::move(note)});
  return static_cast<BufferId>(program_.buffers.size() - 1);
}

Placement ProgramBuilder::temp(ValueId like) {
  const auto& t = graph_->type(like);
  return {scratch(t.dtype, prims::product(t.shape), "%" + std::to_string(like)),
          dense_strides(t.shape), 0};
}

BufferId ProgramBuilder::table(DType dtype, std::vector<std::byte> data, std::string note) {
  const auto elements = static_cast<int64_t>(data.size() / byte_size(dtype));
  program_.buffers.push_back({Buffer::Kind::table, 0, dtype, elements, std::move(note),
                              std::make_shared<const std::vector<std::byte>>(std::move(data))});
  return static_cast<BufferId>(program_.buffers.size() - 1);
}

std::optional<Placement> ProgramBuilder::placement(ValueId v) const {
  std::vector<NodeId> views;
  const Placement* base = nullptr;
  while ((base = values_.placement(v)) == nullptr) {
    const NodeId p = graph_->producer(v);
    if (p == prims::Graph::kNoNode || graph_->node(p).operands.empty()) return std::nullopt;
    const prims::Prim prim = graph_->node(p).prim;
    if (prim != prims::Prim::transpose && prim != prims::Prim::slice &&
        prim != prims::Prim::reshape)
      return std::nullopt;
    views.push_back(p);
    v = graph_->node(p).operands[0];
  }
  std::optional<Placement> place = *base;
  for (size_t i = views.size(); place && i-- > 0;)
    place = view_placement(*graph_, graph_->node(views[i]), *place);
  return place;
}

bool ProgramBuilder::is_at(ValueId v, const Placement& p) const {
  const auto at = places_.find(v);
  return at != places_.end() && (same(at->second, p) || takes_over(plan_, *graph_, at->second, p));
}

void ProgramBuilder::copy_into(ValueId v, const Placement& p) {
  const SymInts& shape = graph_->type(v).shape;
  if (is_at(v, p) || !has_elements(shape)) return;
  FusionGroup copy;
  copy.family = &pointwise_family;
  copy.domain = shape;
  copy.roots = {{v, p}};
  pointwise_family.build(*this, copy);
}

const Placement* ProgramBuilder::wanted(const FusionGroup& group, ValueId v) {
  const auto root = std::ranges::find(group.roots, v, &Root::value);
  return root == group.roots.end() ? nullptr : &root->out;
}

uint32_t ProgramBuilder::check_site(const std::string& code, const std::string& message) {
  const auto [it, fresh] = check_sites_.try_emplace(code + '\n' + message,
                                                    static_cast<uint32_t>(program_.checks.size()));
  if (fresh) program_.checks.push_back({code, message});
  return it->second;
}

}  // namespace primset::schedule
