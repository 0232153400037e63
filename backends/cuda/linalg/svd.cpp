// The primitive svd: by rotations (Jacobi), many small matrices at once; large matrices by
// reduction to two diagonals, of which the library takes those with at least as many rows as
// columns.
#include <algorithm>

#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

struct SvdParts {
  MatrixSizes sizes;
  bool full, vectors;
  DevicePointer a, s, info;

  SolverVectors mode() const { return vectors ? kVectors : kNoVectors; }
};

// U and V by columns: A = U S V*.
struct SvdVectors {
  DevicePointer u, v;
  int64_t u_columns, v_columns;
};

SvdVectors make_room(LinalgCall& c, const SvdParts& p, bool whole, bool needed) {
  const MatrixSizes& s = p.sizes;
  const int64_t k = s.least(), u_columns = whole ? s.rows : k, v_columns = whole ? s.columns : k;
  const int64_t count = needed ? s.count : 0;
  return {c.scratch(count * s.rows * u_columns * c.type.bytes()),
          c.scratch(count * s.columns * v_columns * c.type.bytes()), u_columns, v_columns};
}

void copy_vectors(LinalgCall& c, const SvdParts& p, const SvdVectors& x) {
  const int64_t m = p.sizes.rows, n = p.sizes.columns;
  c.copy_out(x.u, 0, {1, m, m * x.u_columns});
  c.copy_out(x.v, 2, {n, 1, n * x.v_columns, true});
}

void rotate_many(LinalgCall& c, const SvdParts& p) {
  const int m = as_int(p.sizes.rows), n = as_int(p.sizes.columns);
  const int count = as_int(p.sizes.count);
  // It writes vectors, whether they are asked for or not.
  const SvdVectors x = make_room(c, p, true, true);
  int elements = 0;
  check_cusolver(c.solver().gesvdj_batched_size[c.type.index](
                     c.handles().solver(), p.mode(), m, n, pointer(p.a), m, pointer(p.s),
                     pointer(x.u), m, pointer(x.v), n, &elements, c.handles().jacobi(), count),
                 "cusolverDngesvdjBatched_bufferSize");
  const DevicePointer work = c.scratch(elements * c.type.bytes());
  check_cusolver(c.solver().gesvdj_batched[c.type.index](
                     c.handles().solver(), p.mode(), m, n, pointer(p.a), m, pointer(p.s),
                     pointer(x.u), m, pointer(x.v), n, pointer(work), elements,
                     pointer_to<int>(p.info), c.handles().jacobi(), count),
                 "cusolverDngesvdjBatched");
  if (p.vectors) copy_vectors(c, p, x);
}

void rotate_each(LinalgCall& c, const SvdParts& p) {
  const MatrixSizes& s = p.sizes;
  const int m = as_int(s.rows), n = as_int(s.columns), economy = p.full ? 0 : 1;
  const SvdVectors x = make_room(c, p, p.full, p.vectors);
  int elements = 0;
  check_cusolver(c.solver().gesvdj_size[c.type.index](
                     c.handles().solver(), p.mode(), economy, m, n, pointer(p.a), m, pointer(p.s),
                     pointer(x.u), m, pointer(x.v), n, &elements, c.handles().jacobi()),
                 "cusolverDngesvdj_bufferSize");
  const DevicePointer work = c.scratch(elements * c.type.bytes());
  for (int64_t b = 0; b < s.count; ++b) {
    const int64_t u_at = p.vectors ? b * s.rows * x.u_columns * c.type.bytes() : 0,
                  v_at = p.vectors ? b * s.columns * x.v_columns * c.type.bytes() : 0;
    check_cusolver(
        c.solver().gesvdj[c.type.index](c.handles().solver(), p.mode(), economy, m, n,
                                        pointer(p.a, b * s.elements() * c.type.bytes()), m,
                                        pointer(p.s, b * s.least() * c.type.real_bytes()),
                                        pointer(x.u, u_at), m, pointer(x.v, v_at), n, pointer(work),
                                        elements, pointer_to<int>(p.info, b), c.handles().jacobi()),
        "cusolverDngesvdj");
  }
  if (p.vectors) copy_vectors(c, p, x);
}

// Of a wide A it is A^T, whose memory by columns is A's by rows: A^T = U' S V'* is A = V'*^T S
// U'^T.
void reduce_each(LinalgCall& c, const SvdParts& p) {
  const MatrixSizes& s = p.sizes;
  const bool wide = s.rows < s.columns;
  const int64_t m = s.most(), n = s.least(), u_columns = p.full ? m : n;
  const int64_t count = p.vectors ? s.count : 0;
  const DevicePointer u = c.scratch(count * m * u_columns * c.type.bytes()),
                      vt = c.scratch(count * n * n * c.type.bytes());
  const signed char left = !p.vectors ? 'N' : p.full ? 'A' : 'S', right = left;
  size_t device_bytes = 0, host_bytes = 0;
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXgesvd_bufferSize, c.handles().solver(),
                   c.handles().params(), left, right, m, n, c.type.type, pointer(p.a), m,
                   c.type.real, pointer(p.s), c.type.type, pointer(u), m, c.type.type, pointer(vt),
                   n, c.type.type, &device_bytes, &host_bytes);
  const LinalgCall::Work w = c.work(device_bytes, host_bytes);
  for (int64_t b = 0; b < s.count; ++b) {
    const int64_t u_at = p.vectors ? b * m * u_columns * c.type.bytes() : 0,
                  vt_at = p.vectors ? b * n * n * c.type.bytes() : 0;
    PRIMSET_CUSOLVER(c.solver(), cusolverDnXgesvd, c.handles().solver(), c.handles().params(), left,
                     right, m, n, c.type.type, pointer(p.a, b * m * n * c.type.bytes()), m,
                     c.type.real, pointer(p.s, b * n * c.type.real_bytes()), c.type.type,
                     pointer(u, u_at), m, c.type.type, pointer(vt, vt_at), n, c.type.type, w.device,
                     w.device_bytes, w.host, w.host_bytes, pointer_to<int>(p.info, b));
  }
  if (!p.vectors) return;
  const ScratchLayout own_u{1, m, m * u_columns}, own_vt{1, n, n * n},
      turned_u{m, 1, m * u_columns}, turned_vt{n, 1, n * n};
  c.copy_out(wide ? vt : u, 0, wide ? turned_vt : own_u);
  c.copy_out(wide ? u : vt, 2, wide ? turned_u : own_vt);
}

}  // namespace

void run_svd(LinalgCall& c) {
  const MatrixSizes s(c.operand(0));
  const bool rotates = s.least() <= c.tuning().svd_rotations_most;
  const DevicePointer a = rotates || s.rows >= s.columns ? c.copied_by_columns(0) : c.copied(0);
  const SvdParts p{s, flag(c.call, "full"), flag(c.call, "vectors", true),
                   a, c.result_at(1),       c.result_at(3)};
  const DevicePointer flags = c.zeroed(s.count);
  c.kernels().screen(c.stream, a, flags, c.type, s.count, s.rows, s.columns, false);
  if (rotates && s.most() <= kMostBatchedRotations)
    rotate_many(c, p);
  else if (rotates)
    rotate_each(c, p);
  else
    reduce_each(c, p);
  const int64_t parts = c.type.is_complex() ? 2 : 1, k = s.least();
  const MatrixKernels& kernels = c.kernels();
  NumberType real = c.type;
  real.words = real.part_words;
  kernels.make_nan(c.stream, p.s, flags, real, s.count, k);
  if (p.vectors) {
    const int64_t u_columns = p.full ? s.rows : k, vh_rows = p.full ? s.columns : k;
    kernels.make_nan(c.stream, c.result_at(0), flags, c.type, s.count, parts * s.rows * u_columns);
    kernels.make_nan(c.stream, c.result_at(2), flags, c.type, s.count, parts * vh_rows * s.columns);
  }
  kernels.set_info(c.stream, p.info, flags, s.count, {1, 0, 1});  // 1 is NaN's
}

}  // namespace primset_cuda
