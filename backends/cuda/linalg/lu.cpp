// The primitive lu: getrf of a column-major copy, many small square matrices at once.
#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

struct LuParts {
  MatrixSizes sizes;
  DevicePointer a, pivots, info;
  bool pivot;
};

void factor_many(LinalgCall& c, const LuParts& p) {
  const int64_t n = p.sizes.rows;
  const DevicePointer table = c.addresses(p.a, n * n * c.type.bytes(), p.sizes.count);
  check_cublas(
      c.blas().getrf_batched[c.type.index](c.handles().blas(), as_int(n), pointer_to<void*>(table),
                                           as_int(n), p.pivot ? pointer_to<int>(p.pivots) : nullptr,
                                           pointer_to<int>(p.info), as_int(p.sizes.count)),
      "cublasgetrfBatched");
}

// Pivots have 64 bits there, of which the first 32 are kept.
void factor_each(LinalgCall& c, const LuParts& p) {
  const int64_t m = p.sizes.rows, n = p.sizes.columns, steps = p.sizes.least();
  const DevicePointer wide = c.scratch(8 * p.sizes.count * steps);
  size_t device_bytes = 0, host_bytes = 0;
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXgetrf_bufferSize, c.handles().solver(),
                   c.handles().params(), m, n, c.type.type, pointer(p.a), m, c.type.type,
                   &device_bytes, &host_bytes);
  const LinalgCall::Work w = c.work(device_bytes, host_bytes);
  for (int64_t b = 0; b < p.sizes.count; ++b)
    PRIMSET_CUSOLVER(c.solver(), cusolverDnXgetrf, c.handles().solver(), c.handles().params(), m, n,
                     c.type.type, pointer(p.a, b * m * n * c.type.bytes()), m,
                     p.pivot ? pointer_to<int64_t>(wide, b * steps) : nullptr, c.type.type,
                     w.device, w.device_bytes, w.host, w.host_bytes, pointer_to<int>(p.info, b));
  if (!p.pivot) return;
  WordCopy low{p.pivots, wide};
  low.sizes = {p.sizes.count * steps, 1, 1, 1};
  low.to_strides = {1, 0, 0, 0};
  low.from_strides = {2, 0, 0, 0};
  c.kernels().copy(c.stream, low);
}

}  // namespace

void run_lu(LinalgCall& c) {
  const MatrixSizes sizes(c.operand(0));
  const LuParts p{sizes, c.copied_by_columns(0), c.result_at(1), c.result_at(3),
                  flag(c.call, "pivot", true)};
  if (is_batch(sizes, c.tuning()) && sizes.rows == sizes.columns)
    factor_many(c, p);
  else
    factor_each(c, p);
  const int64_t steps = sizes.least();
  if (!p.pivot) c.kernels().count_up(c.stream, p.pivots, sizes.count * steps, steps, 1);
  c.kernels().permutation(c.stream, c.result_at(2), p.pivots, sizes.count, sizes.rows, steps);
  c.copy_out(p.a, 0, {1, sizes.rows, sizes.elements()});
}

}  // namespace primset_cuda
