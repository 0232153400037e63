// Equations whose matrix is sparse. They are solved as strided ones are: a factor fills in most of
// what was zero, and each row of a triangle waits for those above it.
#include "sdk/runtime/sparse/conversion.h"

namespace primset::runtime {
namespace {

void require_right_side(const SparseCall& call, const Tensor& a, const Tensor& b) {
  if (is_sparse(b))
    call.fail(fmt::format("expected a strided right-hand side, but its layout is {}",
                          layout_name(b.layout())));
  if (a.dtype() != b.dtype())
    call.fail(
        fmt::format("Expected b and A to have the same dtype, but found b of type {} and A of "
                    "type {} instead.",
                    info(b.dtype()).aten_name, info(a.dtype()).aten_name));
}

}  // namespace

// The second result, which is A's copy where A is strided, has nothing in it.
std::vector<Tensor> sparse_functions::solve_triangle(SparseCall& call) {
  const Tensor b = call.tensor("self"), a = call.tensor("A");
  require_right_side(call, a, b);
  const std::vector<Tensor> solved =
      ops("triangular_solve", b, to_strided(a), call.flag("upper", true), call.flag("transpose"),
          call.flag("unitriangular"));
  return {op("contiguous", solved[0], MemoryFormat::contiguous),
          op("empty.memory_format", IntList{0}, b.dtype(), std::nullopt, b.device())};
}

std::vector<Tensor> sparse_functions::solve(SparseCall& call) {
  const Tensor a = call.tensor("A"), b = call.tensor("B");
  require_right_side(call, a, b);
  return {op("linalg_solve", to_strided(a), b, call.flag("left", true))};
}

}  // namespace primset::runtime
