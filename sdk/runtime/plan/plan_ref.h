// A reference to a plan in use: the plan lives at least as long as this object.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_PLAN_REF_H_
#define PRIMSET_SDK_RUNTIME_PLAN_PLAN_REF_H_

#include <memory>
#include <utility>

#include "sdk/runtime/support/epoch.h"

namespace primset::runtime {

struct Plan;
using PlanPtr = std::shared_ptr<const Plan>;

// Used by one thread. A cache hit protects its plan by a hazard pointer, which writes nothing that
// other threads read on their hits; a new plan, or one for which the thread has no hazard pointer
// left, is owned by a shared_ptr.
class PlanRef {
 public:
  PlanRef() = default;
  explicit PlanRef(PlanPtr owner) : plan_(owner.get()), owner_(std::move(owner)) {}
  // For a plan that the cache owns; called inside an epoch.
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
