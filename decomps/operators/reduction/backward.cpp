// Gradients of reductions, put back where the results came from.
#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/reduction.h"

namespace primset::decomps {

Val trace_backward::decompose(Tracer& t, const Val& grad, const SymInts& sizes) {
  require(sizes.size() == 2, ErrorCode::runtime, "expected matrix input");
  require(grad.rank() == 0, ErrorCode::runtime,
          "trace_backward: expected a 0-dimensional grad, but it has shape " +
              shape_text(grad.shape()));
  const Val on_diagonal = eq(t.iota(sizes, 0, DType::i64), t.iota(sizes, 1, DType::i64));
  const Val zero = zeros(t, sizes, grad.dtype());
  return where(on_diagonal, broadcast_to(grad, sizes), zero);
}

Val value_selecting_reduction_backward::decompose(Tracer& t, const Val& grad, int64_t dim,
                                                  const Val& indices, const SymInts& sizes,
                                                  bool keepdim) {
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t d = wrap_dim(dim, rank);
  const auto kept = [&](const Val& v) { return keepdim || rank == 0 ? v : unsqueeze(v, d); };
  return t.call1("scatter.src", {zeros(t, sizes, grad.dtype()), d, kept(indices), kept(grad)});
}

}  // namespace primset::decomps
