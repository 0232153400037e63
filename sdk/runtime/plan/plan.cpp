#include "sdk/runtime/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace primset::runtime {
namespace {

bool holds(int64_t value, prims::Guard::Relation relation) {
  switch (relation) {
    case prims::Guard::Relation::eq:
      return value == 0;
    case prims::Guard::Relation::ne:
      return value != 0;
    case prims::Guard::Relation::lt:
      return value < 0;
    case prims::Guard::Relation::ge:
      return value >= 0;
  }
  return false;
}

}  // namespace

std::optional<size_t> Plan::first_broken(int64_t* slots) const {
  code.start(slots);
  Code::run(std::span(code.insts).first(guard_insts), slots);
  for (size_t i = 0; i < guards.size(); ++i) {
    if (!holds(slots[guards[i].slot], guards[i].relation)) return i;
  }
  return std::nullopt;
}

bool Plan::outs_fit(const int64_t* slots) const {
  if (outs == Outs::none || outs == Outs::after) return true;
  const bool fit = !rank_differs && std::ranges::all_of(out_sizes, [&](const SizePair& p) {
    return slots[p.have] == slots[p.want];
  });
  return fit == (outs == Outs::fit);
}

void Plan::finish_steps() {
  // Fewer are launched in about the time that one recording takes to start.
  constexpr size_t kWorthRecording = 8;
  static std::atomic<uint64_t> plans{0};
  id = ++plans;
  const auto fixed = [](const StepPlan& s) {
    return std::holds_alternative<LaunchPlan>(s.step) || std::holds_alternative<CopyPlan>(s.step) ||
           std::holds_alternative<NativePlan>(s.step);
  };
  uint32_t natives = 0;
  for (StepPlan& s : steps) {
    if (auto* native = std::get_if<NativePlan>(&s.step)) native->number = natives++;
  }
  has_natives = natives != 0;
  repeatable = steps.size() >= kWorthRecording && !draws_random && outs != Outs::after &&
               std::ranges::all_of(steps, fixed) &&
               std::ranges::none_of(buffers, &BufferPlan::dynamic);
}

bool Plan::admits(int64_t* slots) const {
  return !first_broken(slots) && outs_fit(slots);
}

std::string Plan::broken_guard(int64_t* slots) const {
  if (const std::optional<size_t> i = first_broken(slots)) {
    const std::string text = *i < guard_texts.size() ? guard_texts[*i] : "a guard";
    return fmt::format("{} (it is {})", text, slots[guards[*i].slot]);
  }
  return outs_fit(slots) ? std::string() : "the sizes of the out tensors";
}

}  // namespace primset::runtime
