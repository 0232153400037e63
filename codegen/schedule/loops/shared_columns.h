// Columns of a SIMT device: what runs along a dim that is not the last. One thread each reads
// memory in full lines, but is too little for the machine where columns are few; then several
// threads share each of them.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_SHARED_COLUMNS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_SHARED_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codegen/schedule/loops/frame.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

// A workgroup has `width` adjacent columns, and `parts` threads for each; both are powers of two.
struct SharedColumns {
  uint32_t width, parts;
  uint32_t threads() const { return width * parts; }
};

// By the logical shape alone; guards where sizes are not known. nullopt: a thread each will do, as
// where that makes `resident_threads` for each multiprocessor. What a thread hands to the others of
// its column, `state_bytes`, has a place in the workgroup's memory for all of them.
std::optional<SharedColumns> shared_columns(const Machine& machine, const SymInts& domain,
                                            size_t dim, int64_t resident_threads,
                                            uint32_t state_bytes);

// Bytes that these results of a reduction or scan take in a workgroup's memory, an element of each.
uint32_t state_bytes(const prims::Graph& g, std::span<const prims::ValueId> results);

struct ColumnThread {
  kir::Value part;  // index: which of the column's threads this one is
  // i1: the column is there. Threads behind the last one repeat it, since all threads meet at
  // barriers; they are not to store anything.
  kir::Value is_column;
};

// A grid-stride loop over workgroups: sets the bases of the loops over columns, and runs `body`.
// Thread t has part t / width of column t % width. Sets grid and workgroup size of the launch.
void for_each_shared_column(Frame& f, const SharedColumns& s, std::vector<LoopDim>& columns,
                            const std::function<void(const ColumnThread&)>& body);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_SHARED_COLUMNS_H_
