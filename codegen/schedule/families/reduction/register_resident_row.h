// The loads that a thread has made of a register-resident row.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REGISTER_RESIDENT_ROW_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REGISTER_RESIDENT_ROW_H_

#include <cstdint>
#include <vector>

#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

// Loads are found by the iteration along the row that made them.
class ResidentRow {
 public:
  // For Frame::set_forward_load and Frame::set_on_load.
  std::vector<kir::Value> find(uint32_t iteration, const AccessRecord& a) const {
    for (const Load& l : loads_) {
      if (l.iteration == iteration && same_access(l.access, a)) return l.parts;
    }
    return {};
  }
  void keep(uint32_t iteration, const AccessRecord& a, const std::vector<kir::Value>& parts) {
    loads_.push_back({iteration, a, parts});
  }

 private:
  struct Load {
    uint32_t iteration;
    AccessRecord access;
    std::vector<kir::Value> parts;
  };
  std::vector<Load> loads_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REGISTER_RESIDENT_ROW_H_
