// scatter_reduce along a dim in dtypes that its primitive does not compute in.
#ifndef PRIMSET_DECOMPS_OPERATORS_INDEXING_REDUCED_SCATTER_H_
#define PRIMSET_DECOMPS_OPERATORS_INDEXING_REDUCED_SCATTER_H_

#include <string>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// What the primitive of this name takes; `kernel` is ATen's word for what refuses.
struct ReducedScatter {
  Val self, index, src;
  int64_t dim;
  std::string reduce;
  bool include_self;
  std::string kernel;
};

// float8 and complex halves are computed in opmath and rounded once. Complex values have no
// extremes; their sums and means go by parts, their products by length and angle.
Val reduced_scatter(const ReducedScatter& s);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_INDEXING_REDUCED_SCATTER_H_
