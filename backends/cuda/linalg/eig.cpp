// The primitive eig: geev, which gives the eigenvalues of real matrices as complex numbers and
// their eigenvectors, of a pair, as two real columns.
#include "backends/cuda/linalg/linalg_call.h"

namespace primset_cuda {
namespace {

struct EigParts {
  MatrixSizes sizes;
  SolverVectors vectors;
  DevicePointer a, values, columns, info;
};

NumberType complex_of(const NumberType& t) {
  return *number_type(t.part_words == 1 ? PRIMSET_C64 : PRIMSET_C128);
}

void eig_of_each(LinalgCall& c, const EigParts& p) {
  const int64_t n = p.sizes.rows;
  const NumberType complex = complex_of(c.type);
  size_t device_bytes = 0, host_bytes = 0;
  PRIMSET_CUSOLVER(c.solver(), cusolverDnXgeev_bufferSize, c.handles().solver(),
                   c.handles().params(), kNoVectors, p.vectors, n, c.type.type, pointer(p.a), n,
                   complex.type, pointer(p.values), c.type.type, nullptr, n, c.type.type,
                   pointer(p.columns), n, c.type.type, &device_bytes, &host_bytes);
  const LinalgCall::Work w = c.work(device_bytes, host_bytes);
  for (int64_t b = 0; b < p.sizes.count; ++b) {
    const int64_t at = b * n * n * c.type.bytes();
    PRIMSET_CUSOLVER(c.solver(), cusolverDnXgeev, c.handles().solver(), c.handles().params(),
                     kNoVectors, p.vectors, n, c.type.type, pointer(p.a, at), n, complex.type,
                     pointer(p.values, b * n * complex.bytes()), c.type.type, nullptr, n,
                     c.type.type, pointer(p.columns, p.vectors == kVectors ? at : 0), n,
                     c.type.type, w.device, w.device_bytes, w.host, w.host_bytes,
                     pointer_to<int>(p.info, b));
  }
}

}  // namespace

void run_eig(LinalgCall& c) {
  const MatrixSizes s(c.operand(0));
  const int64_t n = s.rows;
  const bool wanted = flag(c.call, "vectors", true);
  const EigParts p{s,
                   wanted ? kVectors : kNoVectors,
                   c.copied_by_columns(0),
                   c.result_at(0),
                   c.scratch(wanted ? s.count * n * n * c.type.bytes() : 0),
                   c.result_at(2)};
  const DevicePointer flags = c.zeroed(s.count);
  c.kernels().screen(c.stream, p.a, flags, c.type, s.count, n, n, false);
  eig_of_each(c, p);
  if (wanted && c.type.is_complex())
    c.copy_out(p.columns, 1, {1, n, n * n});
  else if (wanted)
    c.kernels().unpack_eigenvectors(c.stream, c.result_at(1), p.columns, p.values, c.type, s.count,
                                    n);
  const NumberType complex = complex_of(c.type);
  c.kernels().make_nan(c.stream, p.values, flags, complex, s.count, 2 * n);
  if (wanted) c.kernels().make_nan(c.stream, c.result_at(1), flags, complex, s.count, 2 * n * n);
  c.kernels().set_info(c.stream, p.info, flags, s.count, {n, n});
}

}  // namespace primset_cuda
