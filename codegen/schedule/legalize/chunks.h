// Long rows in chunks.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CHUNKS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CHUNKS_H_

#include <cstdint>
#include <optional>

#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/builder.h"

namespace primset::schedule {

// Elements of a chunk of the rows along `dim`: at most kReductionChunk, fewer where a SIMT device
// would have too few workgroups. nullopt: no row is longer than a chunk. Guards, where sizes are
// symbolic.
std::optional<int64_t> reduction_chunk(const Machine& machine, const prims::SymInts& shape,
                                       size_t dim);

// x[..., n, ...] as [..., chunks, length, ...]; the last chunk ends with `fill`.
prims::ValueId in_chunks(prims::Builder& b, prims::ValueId x, prims::ValueId fill, size_t dim,
                         int64_t length);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CHUNKS_H_
