// A dot_general or matmul as cuBLASLt takes it: batches of products of column-major matrices.
//
// A row-major matrix is its transposed one read by columns; so the row-major c = a b is computed as
// the column-major D = A B with A = b and B = a, and "transposed" is an operand that lies the other
// way round. From here on m, n, k, A, B and D are the library's.
#ifndef PRIMSET_BACKENDS_CUDA_CONTRACTION_H_
#define PRIMSET_BACKENDS_CUDA_CONTRACTION_H_

#include <primset/plugin.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace primset_cuda {

// Products of fewer multiplications a matrix are left to generated kernels: one launch of either
// kind takes microseconds, whatever it computes, and a generated kernel is fused with what
// surrounds it. To be measured: the number from which the library is the faster one.
// PRIMSET_CUBLASLT_LEAST sets another.
inline constexpr uint64_t kMinMultiplications = 32 * 32 * 32;

// The library's kernels load at most this much at once. Promising more than that, where the memory
// happens to lie so, would let the choice of code, and so the bits, depend on where that is.
inline constexpr uint32_t kBestAlignment = 16;

// One call of the library: D[p] = op(A[p]) op(B[p]) for `batch` matrices. Strides are in elements.
// With a bias, a number for each row of D is added before D is rounded.
struct MatmulShape {
  uint32_t dtype = 0, result = 0;  // of A and B, of D
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t lda = 0, ldb = 0;  // from column to column; D has no gaps
  int64_t batch = 1, stride_a = 0, stride_b = 0, stride_d = 0;
  uint32_t align_a = 0, align_b = 0, align_d = 0;  // of every address, in bytes
  bool bias = false;

  auto operator<=>(const MatmulShape&) const = default;
};

// Where a call's matrices begin, in bytes after their tensors' first elements.
struct MatmulPlace {
  int64_t a = 0, b = 0, d = 0;
};

struct Matmuls {
  uint64_t result_bytes = 0;  // of the whole result
  bool sums_nothing = false;  // k is 0: the result is zeros, and there are no calls
  MatmulShape shape;
  std::vector<MatmulPlace> places;  // one a call; none when the result is empty
};

// Nullopt when the call is no dot_general, its types are none of the library's, or its operands do
// not lie as matrices.
std::optional<Matmuls> read_dot_general(const primset_primitive_call& call);

// Likewise a matmul; nullopt also when more is done with the product than adding the same row to
// each of its rows.
std::optional<Matmuls> read_matmul(const primset_primitive_call& call);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CONTRACTION_H_
