// The strides a fresh result gets, by its overload's stride rule.
#ifndef PRIMSET_DECOMPS_ENGINE_OUTPUT_STRIDES_H_
#define PRIMSET_DECOMPS_ENGINE_OUTPUT_STRIDES_H_

#include <vector>

#include "decomps/engine/engine.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

// Throws in ATen's words for sizes of another rank than the format's.
SymInts strides_of_format(MemoryFormat format, const SymInts& sizes);

// The strides of result `result` with these sizes. `overload` is what was called; `args` follow its
// schema.
SymInts output_strides(const specs::Overload& overload, const std::vector<Actual>& args,
                       size_t result, const SymInts& sizes);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_OUTPUT_STRIDES_H_
