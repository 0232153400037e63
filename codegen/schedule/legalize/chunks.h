// Long rows in chunks.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CHUNKS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CHUNKS_H_

#include <cstdint>

#include "prims/graph/builder.h"

namespace primset::schedule {

// Is that dim longer than kReductionChunk? A guard, where its size is symbolic.
bool is_long(const prims::Builder& b, prims::ValueId x, size_t dim);

// x[..., n, ...] as [..., chunks, length, ...]; the last chunk ends with `fill`.
prims::ValueId in_chunks(prims::Builder& b, prims::ValueId x, prims::ValueId fill, size_t dim,
                         int64_t length);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CHUNKS_H_
