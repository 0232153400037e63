// The primitives qr, householder_product and apply_reflectors, on column-major copies.
#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

void qr_of_many(LinalgCall& c, const MatrixSizes& s, DevicePointer a, DevicePointer tau) {
  const DevicePointer as = c.addresses(a, s.elements() * c.type.bytes(), s.count),
                      taus = c.addresses(tau, s.least() * c.type.bytes(), s.count);
  int wrong_argument = 0;
  check_cublas(c.blas().geqrf_batched[c.type.index](
                   c.handles().blas(), as_int(s.rows), as_int(s.columns), pointer_to<void*>(as),
                   as_int(s.rows), pointer_to<void*>(taus), &wrong_argument, as_int(s.count)),
               "cublasgeqrfBatched");
  if (wrong_argument != 0)
    throw BackendError(PRIMSET_INTERNAL,
                       "cublasgeqrfBatched refuses argument " + std::to_string(-wrong_argument));
}

void qr_of_each(LinalgCall& c, const MatrixSizes& s, DevicePointer a, DevicePointer tau) {
  const DevicePointer info = c.scratch(4);
  size_t device_bytes = 0, host_bytes = 0;
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXgeqrf_bufferSize, c.handles().solver(),
                   c.handles().params(), s.rows, s.columns, c.type.type, pointer(a), s.rows,
                   c.type.type, pointer(tau), c.type.type, &device_bytes, &host_bytes);
  const LinalgCall::Work w = c.work(device_bytes, host_bytes);
  for (int64_t b = 0; b < s.count; ++b)
    PRIMSET_CUSOLVER(c.solver(), cusolverDnXgeqrf, c.handles().solver(), c.handles().params(),
                     s.rows, s.columns, c.type.type, pointer(a, b * s.elements() * c.type.bytes()),
                     s.rows, c.type.type, pointer(tau, b * s.least() * c.type.bytes()), c.type.type,
                     w.device, w.device_bytes, w.host, w.host_bytes, pointer_to<int>(info));
}

int64_t reflectors_of(const primset_tensor& tau) {
  return tau.sizes[tau.rank - 1];
}

}  // namespace

void run_qr(LinalgCall& c) {
  const MatrixSizes s(c.operand(0));
  const DevicePointer a = c.copied_by_columns(0), tau = c.result_at(1);
  if (is_batch(s, c.tuning()))
    qr_of_many(c, s, a, tau);
  else
    qr_of_each(c, s, a, tau);
  c.copy_out(a, 0, {1, s.rows, s.elements()});
}

void run_householder_product(LinalgCall& c) {
  const MatrixSizes s(c.operand(0));
  const DevicePointer v = c.copied_by_columns(0), tau = c.copied(1), info = c.scratch(4);
  const int m = as_int(s.rows), n = as_int(s.columns);
  const int64_t count = reflectors_of(c.operand(1));
  int elements = 0;
  check_cusolver(c.solver().orgqr_size[c.type.index](c.handles().solver(), m, n, as_int(count),
                                                     pointer(v), m, pointer(tau), &elements),
                 "cusolverDnorgqr_bufferSize");
  const DevicePointer work = c.scratch(elements * c.type.bytes());
  for (int64_t b = 0; b < s.count; ++b)
    check_cusolver(c.solver().orgqr[c.type.index](c.handles().solver(), m, n, as_int(count),
                                                  pointer(v, b * s.elements() * c.type.bytes()), m,
                                                  pointer(tau, b * count * c.type.bytes()),
                                                  pointer(work), elements, pointer_to<int>(info)),
                   "cusolverDnorgqr");
  c.copy_out(v, 0, {1, s.rows, s.elements()});
}

void run_apply_reflectors(LinalgCall& c) {
  const MatrixSizes s(c.operand(0)), y(c.operand(2));
  const DevicePointer v = c.copied_by_columns(0), tau = c.copied(1), x = c.copied_by_columns(2),
                      info = c.scratch(4);
  const BlasSide side = flag(c.call, "left", true) ? kFromLeft : kFromRight;
  const BlasOperation adjoint = c.type.is_complex() ? kAdjoint : kTransposed,
                      op = flag(c.call, "adjoint") ? adjoint : kAsItIs;
  const int m = as_int(y.rows), n = as_int(y.columns), lda = as_int(s.rows);
  const int64_t count = reflectors_of(c.operand(1));
  int elements = 0;
  check_cusolver(
      c.solver().ormqr_size[c.type.index](c.handles().solver(), side, op, m, n, as_int(count),
                                          pointer(v), lda, pointer(tau), pointer(x), m, &elements),
      "cusolverDnormqr_bufferSize");
  const DevicePointer work = c.scratch(elements * c.type.bytes());
  for (int64_t b = 0; b < s.count; ++b)
    check_cusolver(
        c.solver().ormqr[c.type.index](c.handles().solver(), side, op, m, n, as_int(count),
                                       pointer(v, b * s.elements() * c.type.bytes()), lda,
                                       pointer(tau, b * count * c.type.bytes()),
                                       pointer(x, b * y.elements() * c.type.bytes()), m,
                                       pointer(work), elements, pointer_to<int>(info)),
        "cusolverDnormqr");
  c.copy_out(x, 0, {1, y.rows, y.elements()});
}

}  // namespace primset_cuda
