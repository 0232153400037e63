#include "decomps/operators/loss/terms.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

Val reduced_loss(const Val& terms, int64_t reduction, DType type) {
  require(reduction >= kNone && reduction <= kSum, ErrorCode::runtime,
          fmt::format("reduction is 0 (none), 1 (mean) or 2 (sum), but got {}", reduction));
  if (reduction == kNone) return convert(terms, type);
  const std::vector<int64_t> dims = dims_from(0, terms.rank());
  if (reduction == kSum) return convert(reduce(Prim::reduce_sum, terms, dims, false), type);
  return convert(terms.tracer().prim1(Prim::mean, {terms}, {{"dims", dims}}), type);
}

}  // namespace primset::decomps
