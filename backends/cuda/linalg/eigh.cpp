// The primitive eigh: of a column-major copy the lower triangle is read, and becomes the vectors.
// Many small matrices by rotations (Jacobi), which one launch does for all of them.
#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

struct EighParts {
  MatrixSizes sizes;
  SolverVectors vectors;
  DevicePointer a, values, info;
};

// The diagonal of a Hermitian matrix is real, whatever its imaginary parts are.
void make_diagonal_real(LinalgCall& c, const MatrixSizes& s, DevicePointer a) {
  if (!c.type.is_complex()) return;
  const int64_t n = s.rows, words = c.type.words;
  const DevicePointer zero = c.zeroed(1);
  const WordCopy imaginary{a + static_cast<uint64_t>(c.type.real_bytes()),
                           zero,
                           {s.count, n, 1, c.type.part_words},
                           {n * n * words, (n + 1) * words, 0, 1},
                           {0, 0, 0, 0}};
  c.kernels().copy(c.stream, imaginary);
}

void rotate_many(LinalgCall& c, const EighParts& p) {
  const int n = as_int(p.sizes.rows), count = as_int(p.sizes.count);
  const auto type = c.type.index;
  int elements = 0;
  check_cusolver(c.solver().syevj_batched_size[type](
                     c.handles().solver(), p.vectors, kLowerTriangle, n, pointer(p.a), n,
                     pointer(p.values), &elements, c.handles().eigh_jacobi(), count),
                 "cusolverDnsyevjBatched_bufferSize");
  const DevicePointer work = c.scratch(elements * c.type.bytes());
  check_cusolver(
      c.solver().syevj_batched[type](c.handles().solver(), p.vectors, kLowerTriangle, n,
                                     pointer(p.a), n, pointer(p.values), pointer(work), elements,
                                     pointer_to<int>(p.info), c.handles().eigh_jacobi(), count),
      "cusolverDnsyevjBatched");
}

void eigh_of_many(LinalgCall& c, const EighParts& p) {
  const int64_t n = p.sizes.rows;
  size_t device_bytes = 0, host_bytes = 0;
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXsyevBatched_bufferSize, c.handles().solver(),
                   c.handles().params(), p.vectors, kLowerTriangle, n, c.type.type, pointer(p.a), n,
                   c.type.real, pointer(p.values), c.type.type, &device_bytes, &host_bytes,
                   p.sizes.count);
  const LinalgCall::Work w = c.work(device_bytes, host_bytes);
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXsyevBatched, c.handles().solver(), c.handles().params(),
                   p.vectors, kLowerTriangle, n, c.type.type, pointer(p.a), n, c.type.real,
                   pointer(p.values), c.type.type, w.device, w.device_bytes, w.host, w.host_bytes,
                   pointer_to<int>(p.info), p.sizes.count);
}

void eigh_of_each(LinalgCall& c, const EighParts& p) {
  const int64_t n = p.sizes.rows;
  size_t device_bytes = 0, host_bytes = 0;
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXsyevd_bufferSize, c.handles().solver(),
                   c.handles().params(), p.vectors, kLowerTriangle, n, c.type.type, pointer(p.a), n,
                   c.type.real, pointer(p.values), c.type.type, &device_bytes, &host_bytes);
  const LinalgCall::Work w = c.work(device_bytes, host_bytes);
  for (int64_t b = 0; b < p.sizes.count; ++b)
    PRIMSET_CUSOLVER(c.solver(), cusolverDnXsyevd, c.handles().solver(), c.handles().params(),
                     p.vectors, kLowerTriangle, n, c.type.type,
                     pointer(p.a, b * n * n * c.type.bytes()), n, c.type.real,
                     pointer(p.values, b * n * c.type.real_bytes()), c.type.type, w.device,
                     w.device_bytes, w.host, w.host_bytes, pointer_to<int>(p.info, b));
}

}  // namespace

void run_eigh(LinalgCall& c) {
  const MatrixSizes s(c.operand(0));
  const int64_t n = s.rows;
  const bool wanted = flag(c.call, "vectors", true);
  const EighParts p{s, wanted ? kVectors : kNoVectors, c.copied_by_columns(0), c.result_at(0),
                    c.result_at(2)};
  const DevicePointer flags = c.zeroed(s.count);
  make_diagonal_real(c, s, p.a);
  c.kernels().screen(c.stream, p.a, flags, c.type, s.count, n, n, true);
  if (s.count > 1 && n <= kMostBatchedRotations)
    rotate_many(c, p);
  else if (is_batch(s, c.tuning()) && c.solver().has_batched_syev())
    eigh_of_many(c, p);
  else
    eigh_of_each(c, p);
  NumberType real = c.type;
  real.words = real.part_words;
  c.kernels().make_nan(c.stream, p.values, flags, real, s.count, n);
  if (wanted) {
    c.copy_out(p.a, 1, {1, n, n * n});
    c.kernels().make_nan(c.stream, c.result_at(1), flags, c.type, s.count,
                         n * n * c.type.words / c.type.part_words);
  }
  c.kernels().set_info(c.stream, p.info, flags, s.count, {n - 1, n - 1});  // as LAPACK counts them
}

}  // namespace primset_cuda
