// The primitive triangular_solve. Row-major X is, read by columns, X^T, and A X = B is
// X^T A^T = B^T: b is copied to the result and solved there.
#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

// As BLAS takes it: one stride is 1.
struct Triangles {
  DevicePointer first;
  int64_t stride, matrix_stride;  // in elements; from row to row, or from column to column
  bool by_rows;
};

Triangles triangles(LinalgCall& c) {
  const primset_tensor& a = c.operand(0);
  const int64_t n = a.sizes[a.rank - 1], rows = a.strides[a.rank - 2],
                columns = a.strides[a.rank - 1];
  StridedCopy batch;
  for (uint32_t d = 0; d + 2 < a.rank; ++d) {
    batch.sizes.push_back(a.sizes[d]);
    batch.from_strides.push_back(a.strides[d]);
    batch.to_strides.push_back(a.strides[d]);
  }
  const StridedCopy m = batch.merged();
  const bool regular = m.sizes.size() <= 1;
  const int64_t matrix = m.sizes.empty() ? 0 : m.from_strides[0];
  if (regular && columns == 1 && rows >= n) return {LinalgCall::address_of(a), rows, matrix, true};
  if (regular && rows == 1 && columns >= n)
    return {LinalgCall::address_of(a), columns, matrix, false};
  return {c.copied(0), n, n * n, true};
}

const void* one_of(const NumberType& type) {
  static constexpr float kF32[] = {1, 0};
  static constexpr double kF64[] = {1, 0};
  return type.part_words == 1 ? static_cast<const void*>(kF32) : kF64;
}

}  // namespace

void run_triangular_solve(LinalgCall& c) {
  const MatrixSizes a(c.operand(0)), b(c.operand(1));
  const DevicePointer x = c.result_at(0);
  const Triangles t = triangles(c);
  c.copy_to(x, 1);
  // What lies by rows is A^T, read by columns.
  const bool upper = flag(c.call, "upper") != t.by_rows;
  const BlasFill fill = upper ? kUpperTriangle : kLowerTriangle;
  const BlasOperation op = t.by_rows ? kAsItIs : kTransposed;
  const BlasDiagonal diagonal = flag(c.call, "unit_diagonal") ? kUnitDiagonal : kAnyDiagonal;
  const int m = as_int(b.columns), n = as_int(b.rows), lda = as_int(t.stride);
  const int64_t a_step = t.matrix_stride * c.type.bytes(), x_step = b.elements() * c.type.bytes();
  if (is_batch(a, c.tuning())) {
    const DevicePointer as = c.addresses(t.first, a_step, a.count),
                        xs = c.addresses(x, x_step, a.count);
    check_cublas(c.blas().trsm_batched[c.type.index](
                     c.handles().blas(), kFromRight, fill, op, diagonal, m, n, one_of(c.type),
                     pointer_to<const void*>(as), lda, pointer_to<void*>(xs), m, as_int(a.count)),
                 "cublastrsmBatched");
    return;
  }
  for (int64_t i = 0; i < a.count; ++i)
    check_cublas(c.blas().trsm[c.type.index](c.handles().blas(), kFromRight, fill, op, diagonal, m,
                                             n, one_of(c.type), pointer(t.first, i * a_step), lda,
                                             pointer(x, i * x_step), m),
                 "cublastrsm");
}

}  // namespace primset_cuda
