// What the threads of a workgroup hand to one another: one tuple of registers a slot.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_GROUP_MEMORY_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_GROUP_MEMORY_H_

#include <span>
#include <vector>

#include "codegen/kernel/ir/builder.h"

namespace primset::schedule {

class GroupMemory {
 public:
  // `slots` tuples of registers like these. Barriers are the caller's.
  GroupMemory(kir::Builder& b, std::span<const kir::Value> like, uint32_t slots);

  // slot: i32.
  void put(kir::Value slot, std::span<const kir::Value> values);
  std::vector<kir::Value> get(kir::Value slot);

 private:
  struct Array {
    kir::Value memory;
    kir::Type type;
    bool truth;  // an i1, kept as i32
  };
  kir::Builder& b_;
  std::vector<Array> arrays_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_GROUP_MEMORY_H_
