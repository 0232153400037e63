// Equations whose matrix is sparse.
#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/matrices/triangular_solution.h"

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

// A step of the sparse solution takes as long as some ten thousand products of the strided one.
constexpr int64_t kFewElements = 1 << 14;

bool solved_as_strided(const Tensor& a, const Tensor& b) {
  const bool fits = a.dim() == 2 && b.dim() == 2 && dense_dims(a) == 0 && a.size(0) == a.size(1) &&
                    a.size(0) == b.size(0);
  return !fits || a.size(0) * a.size(1) <= kFewElements;
}

}  // namespace

// The second result, which is A's copy where A is strided, has nothing in it.
std::vector<Tensor> sparse_functions::solve_triangle(SparseCall& call) {
  const Tensor b = call.tensor("self"), a = call.tensor("A");
  require_right_side(call, a, b);
  const Triangle triangle{call.flag("upper", true), call.flag("transpose"),
                          call.flag("unitriangular")};
  const Tensor x = solved_as_strided(a, b)
                       ? ops("triangular_solve", b, to_strided(a), triangle.upper,
                             triangle.transpose, triangle.unit)[0]
                       : triangular_solution(a, b, triangle);
  return {op("contiguous", x, MemoryFormat::contiguous),
          op("empty.memory_format", IntList{0}, b.dtype(), std::nullopt, b.device())};
}

// As a strided matrix: its factors fill in most of what was zero.
std::vector<Tensor> sparse_functions::solve(SparseCall& call) {
  const Tensor a = call.tensor("A"), b = call.tensor("B");
  require_right_side(call, a, b);
  return {op("linalg_solve", to_strided(a), b, call.flag("left", true))};
}

}  // namespace primset::runtime
