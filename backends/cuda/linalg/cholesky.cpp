// The primitive cholesky. The library is quick at lower factors, and has matrices by columns. So an
// upper factor is made in its result's memory: read by columns it is the lower L = U^T with
// L L^H = A^T. A lower one is made of a copy by columns.
#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

void cholesky_of_each(LinalgCall& c, const MatrixSizes& sizes, DevicePointer factors,
                      DevicePointer info) {
  const int64_t n = sizes.rows;
  size_t device_bytes = 0, host_bytes = 0;
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXpotrf_bufferSize, c.handles().solver(),
                   c.handles().params(), kLowerTriangle, n, c.type.type, pointer(factors), n,
                   c.type.type, &device_bytes, &host_bytes);
  const LinalgCall::Work w = c.work(device_bytes, host_bytes);
  for (int64_t b = 0; b < sizes.count; ++b)
    PRIMSET_CUSOLVER(c.solver(), cusolverDnXpotrf, c.handles().solver(), c.handles().params(),
                     kLowerTriangle, n, c.type.type, pointer(factors, b * n * n * c.type.bytes()),
                     n, c.type.type, w.device, w.device_bytes, w.host, w.host_bytes,
                     pointer_to<int>(info, b));
}

}  // namespace

void run_cholesky(LinalgCall& c) {
  const MatrixSizes sizes(c.operand(0));
  const int64_t n = sizes.rows;
  const bool upper = flag(c.call, "upper");
  const DevicePointer factors = upper ? c.result_at(0) : c.copied_by_columns(0),
                      info = c.result_at(1);
  if (upper) c.copy_to(factors, 0);
  if (is_batch(sizes, c.tuning())) {
    const DevicePointer table = c.addresses(factors, n * n * c.type.bytes(), sizes.count);
    check_cusolver(c.solver().potrf_batched[c.type.index](
                       c.handles().solver(), kLowerTriangle, as_int(n), pointer_to<void*>(table),
                       as_int(n), pointer_to<int>(info), as_int(sizes.count)),
                   "cusolverDnpotrfBatched");
  } else {
    cholesky_of_each(c, sizes, factors, info);
  }
  // By rows either is an upper triangle.
  c.kernels().finish_cholesky(c.stream, factors, info, c.type, sizes.count, n, true);
  if (!upper) c.copy_out(factors, 0, {1, n, n * n});
}

}  // namespace primset_cuda
