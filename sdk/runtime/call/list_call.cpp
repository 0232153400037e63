#include "sdk/runtime/call/list_call.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "sdk/runtime/call/dispatch.h"

namespace primset::runtime {
namespace {

bool is_list(const ArgInfo& info) {
  return info.kind == specs::ArgKind::tensor_list || info.kind == specs::ArgKind::scalar_list;
}

// The list argument's element, as a list.
Arg element_of(const Arg& list, uint32_t element) {
  Arg one = list;
  one.count = 1;
  if (list.kind == Arg::Kind::scalar_list)
    one.pointer = static_cast<const Scalar*>(list.pointer) + element;
  else
    one.pointer = static_cast<const Tensor*>(list.pointer) + element;
  return one;
}

struct Element {
  explicit Element(const OperatorInfo& op) : call(op) {}
  Call call;
  Slots slots;
  PlanRef plan;
};

uint32_t length_of(const Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (is_list(call.op.args[i])) return call.args[i].count;
  }
  return 0;
}

// Does an element write memory that another one touches? Then their order matters.
bool elements_meet(const Call& call) {
  struct Use {
    uint32_t element;
    bool several, written;
  };
  std::unordered_map<const StorageImpl*, Use> uses;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t element) {
    const bool shared = call.args[argument].kind != Arg::Kind::tensor_list;
    auto [it, fresh] = uses.try_emplace(t.storage, Use{element, shared, false});
    it->second.several |= shared || it->second.element != element;
    it->second.written |= call.op.args[argument].writes;
  });
  return std::ranges::any_of(uses,
                             [](const auto& u) { return u.second.several && u.second.written; });
}

void run_together(std::deque<Element>& elements) {
  std::vector<RunInputs> inputs;
  std::vector<Results> results(elements.size());
  for (Element& e : elements) inputs.push_back({e.call.args, e.call.device, e.slots.data()});
  execute_in_tables(*elements[0].plan, inputs, results);
  for (size_t i = 0; i < elements.size(); ++i) {
    Results& to = elements[i].call.results;
    to.resize(results[i].size());
    for (size_t k = 0; k < results[i].size(); ++k) to.set(k, results[i].take(k).release());
  }
}

}  // namespace

bool runs_by_element(const Call& call) {
  if (!call.op.by_element) return false;
  const uint32_t length = length_of(call);
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Arg::Kind kind = call.args[i].kind;
    if (!is_list(call.op.args[i])) continue;
    if (kind != Arg::Kind::tensor_list && kind != Arg::Kind::scalar_list) return false;
    if (call.args[i].count != length) return false;
  }
  return length > 1;
}

void run_by_element(Call& call) {
  std::deque<Element> elements;
  for (uint32_t e = 0; e < length_of(call); ++e) {
    Element& element = elements.emplace_back(call.op);
    element.call.device = call.device;
    for (size_t i = 0; i < call.args.size(); ++i)
      element.call.args.push_back(is_list(call.op.args[i]) ? element_of(call.args[i], e)
                                                           : call.args[i]);
    element.plan = plan_of(element.call, element.slots);
  }
  const Plan* plan = elements[0].plan.get();
  const bool together =
      std::ranges::all_of(elements, [&](const Element& e) { return e.plan.get() == plan; }) &&
      can_execute_in_tables(*plan, *call.device) && !elements_meet(call);
  if (together) run_together(elements);
  for (Element& e : elements) {
    if (!together) run_plan(e.call, e.plan, e.slots);
    note_origins(e.call, *e.plan);
    for (size_t k = 0; k < e.call.results.size(); ++k)
      call.add_result(e.call.results.take(k), e.call.origins[k]);
  }
}

}  // namespace primset::runtime
