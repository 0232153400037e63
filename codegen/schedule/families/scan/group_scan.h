// A scan over the threads of a workgroup, in the order of their ids.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_GROUP_SCAN_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_GROUP_SCAN_H_

#include <functional>
#include <span>
#include <vector>

#include "codegen/schedule/loops/group_memory.h"

namespace primset::schedule {

class GroupScan {
 public:
  using Values = std::vector<kir::Value>;
  // On tuples of registers.
  struct Operation {
    Values identity;
    std::function<Values(std::span<const kir::Value> left, std::span<const kir::Value> right)>
        combine;  // associative
  };
  // Sums of integers of these types.
  static Operation sums(kir::Builder& b, const std::vector<kir::Type>& types);

  // threads: the group's size.
  GroupScan(kir::Builder& b, Operation operation, uint32_t threads);

  struct Result {
    Values exclusive;  // the exclusive prefix: of the threads before this one
    Values total;      // the total of all threads
  };
  // Collective: all threads of the workgroup execute it together.
  Result of(const Values& own);

 private:
  Values chosen(kir::Value condition, const Values& yes, const Values& no);
  Result by_subgroups(const Values& own);
  Result by_memory(const Values& own);
  Values within_subgroup(const Values& own, kir::Value lane);

  kir::Builder& b_;
  const Operation operation_;
  const uint32_t threads_, subgroups_;  // subgroups: 0 where exchanges will not do
  GroupMemory memory_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_GROUP_SCAN_H_
