// The loads of a register-resident row that a thread has made.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REGISTER_RESIDENT_ROW_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REGISTER_RESIDENT_ROW_H_

#include <cstdint>
#include <vector>

#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

// By trip: the iterations along the row.
class HeldRow {
 public:
  // For Frame::set_staged and Frame::set_loaded.
  std::vector<kir::Value> find(uint32_t trip, const AccessRecord& a) const {
    for (const Load& l : loads_) {
      if (l.trip == trip && same_access(l.access, a)) return l.parts;
    }
    return {};
  }
  void keep(uint32_t trip, const AccessRecord& a, const std::vector<kir::Value>& parts) {
    loads_.push_back({trip, a, parts});
  }

 private:
  struct Load {
    uint32_t trip;
    AccessRecord access;
    std::vector<kir::Value> parts;
  };
  std::vector<Load> loads_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REGISTER_RESIDENT_ROW_H_
