// One launch for many: a form of a kernel that reads its parameters from a table with one entry for
// each launch, so that a list of a thousand tensors is one launch and compiles no kernel for its
// length.
//
// Workgroup g runs the entry with the greatest first group <= g, found by bisection; inside it the
// kernel sees group ids from 0 and the entry's own number of groups.
#ifndef PRIMSET_CODEGEN_KERNEL_TRANSFORM_POINTER_TABLE_H_
#define PRIMSET_CODEGEN_KERNEL_TRANSFORM_POINTER_TABLE_H_

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::kir {

// Bytes of an entry before its parameter block: i64 first group, i64 groups. Entries are sorted by
// first group, and the first one's is 0; entries without groups are left out.
inline constexpr uint32_t kTableEntryHeader = 16;
// An entry's size: the header and the parameter block that the kernel would have had (ParamLayout).
uint32_t table_entry_bytes(const Kernel& kernel);

// Only the first dimension of a grid is supported: a kernel that reads the others has no table
// form, and launches whose grid has others cannot use one. Addresses in memory are 64-bit integers.
bool has_table_form(const Kernel& kernel, const TargetModel& target);
// The kernel `<name>_table`, with the parameters (pointer table, i32 entries).
Kernel table_form(const Kernel& kernel, const TargetModel& target);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_TRANSFORM_POINTER_TABLE_H_
