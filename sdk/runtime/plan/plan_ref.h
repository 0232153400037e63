// A plan that is in use, wherever it came from: it lives at least as long as this.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_PLAN_REF_H_
#define PRIMSET_SDK_RUNTIME_PLAN_PLAN_REF_H_

#include <memory>
#include <utility>

#include "sdk/runtime/support/epoch.h"

namespace primset::runtime {

struct Plan;
using PlanPtr = std::shared_ptr<const Plan>;

// Of one thread. A hit of the cache holds its plan by a hazard pointer, which costs the hits of
// other threads nothing; a new plan, and what a thread has no hazard pointer left for, it owns.
class PlanRef {
 public:
  PlanRef() = default;
  explicit PlanRef(PlanPtr owner) : plan_(owner.get()), owner_(std::move(owner)) {}
  // Inside an epoch, of a plan that the cache owns.
  PlanRef(const EpochReader& reader, const PlanPtr& plan)
      : plan_(plan.get()), hazard_(reader, plan_) {
    if (!hazard_) owner_ = plan;
  }

  explicit operator bool() const { return plan_ != nullptr; }
  const Plan* get() const { return plan_; }
  const Plan& operator*() const { return *plan_; }
  const Plan* operator->() const { return plan_; }

 private:
  const Plan* plan_ = nullptr;
  HazardPointer hazard_;
  PlanPtr owner_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_PLAN_REF_H_
