// Exchange between the threads of a workgroup through its memory: one tuple of registers a slot.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_GROUP_MEMORY_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_GROUP_MEMORY_H_

#include <span>
#include <vector>

#include "codegen/kernel/ir/builder.h"

namespace primset::schedule {

class GroupMemory {
 public:
  // Allocates `slots` tuples of the types of `like`. The caller places the barriers.
  GroupMemory(kir::Builder& b, std::span<const kir::Value> like, uint32_t slots);

  // slot: i32.
  void put(kir::Value slot, std::span<const kir::Value> values);
  std::vector<kir::Value> get(kir::Value slot);

 private:
  struct Array {
    kir::Value memory;
    kir::Type type;
    bool truth;  // an i1, stored as i32
  };
  kir::Builder& b_;
  std::vector<Array> arrays_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_GROUP_MEMORY_H_
