// Sums over the threads of a workgroup.
#ifndef PRIMSET_CODEGEN_SCHEDULE_GROUP_SCAN_H_
#define PRIMSET_CODEGEN_SCHEDULE_GROUP_SCAN_H_

#include <vector>

#include "codegen/schedule/group_memory.h"

namespace primset::schedule {

class GroupScan {
 public:
  // Of tuples of integers of these types. threads: the group's size.
  GroupScan(kir::Builder& b, const std::vector<kir::Type>& types, uint32_t threads);

  // The sums over the threads before this one. All threads call it together.
  std::vector<kir::Value> exclusive(const std::vector<kir::Value>& own);
  // Of what exclusive() was given last, over all threads; likewise.
  std::vector<kir::Value> total();

 private:
  kir::Builder& b_;
  const uint32_t threads_;
  GroupMemory memory_;
  std::vector<kir::Value> sums_;  // up to and with this thread
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_GROUP_SCAN_H_
