// cuBLAS of the fake toolkit.
#include <cstring>

#include "backends/cuda/libraries/cublas_api.h"
#include "backends/cuda/testing/fake_toolkit_world.h"
#include "backends/cuda/testing/host_lapack.h"

namespace fake_toolkit {
namespace {

using namespace primset_cuda;
using host_lapack::kBytes;

constexpr const char* kKind = "cuBLAS";
constexpr const char* kFills[] = {"L", "U"};
constexpr const char* kSides[] = {"L", "R"};
constexpr const char* kOps[] = {"N", "T", "C"};
constexpr const char* kDiagonals[] = {"N", "U"};

struct Solve {
  BlasSide side;
  BlasFill fill;
  BlasOperation op;
  BlasDiagonal diagonal;
  int m, n;
  char alpha[16];
  int lda, ldb;
};

Solve solve_of(size_t type, BlasSide side, BlasFill fill, BlasOperation op, BlasDiagonal diagonal,
               int m, int n, const void* alpha, int lda, int ldb) {
  Solve s{side, fill, op, diagonal, m, n, {}, lda, ldb};
  std::memcpy(s.alpha, alpha, kBytes[type]);  // of the host
  return s;
}

void solve(size_t type, const Solve& s, const void* a, void* b) {
  host_lapack::call(type, "trsm", "trsm", kSides[s.side], kFills[s.fill], kOps[s.op],
                    kDiagonals[s.diagonal], &s.m, &s.n, s.alpha, a, &s.lda, b, &s.ldb);
}

int trsm(const char* name, size_t type, BlasHandle handle, const Solve& s, const void* a, void* b) {
  Call call(name);
  const int order = s.side == kFromLeft ? s.m : s.n;
  call.takes(kKind, handle)
      .reads(a, kBytes[type] * static_cast<size_t>((order - 1) * s.lda + order))
      .reads(b, kBytes[type] * static_cast<size_t>((s.n - 1) * s.ldb + s.m));
  call.give(handle, [=] { solve(type, s, a, b); });
  return call.status;
}

int trsm_batched(const char* name, size_t type, BlasHandle handle, const Solve& s,
                 const void* const* a, void* const* b, int batch) {
  Call call(name);
  const size_t bytes = 8 * static_cast<size_t>(batch);
  call.takes(kKind, handle).reads(a, bytes).reads(b, bytes);
  call.give(handle, [=] {
    for (int i = 0; i < batch; ++i) solve(type, s, a[i], b[i]);
  });
  return call.status;
}

// Without exchanges, which LAPACK always makes.
template <typename T>
int eliminate(T* a, int n) {
  int info = 0;
  for (int k = 0; k < n; ++k) {
    if (a[k + k * n] == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < n; ++i) {
      const T factor = a[i + k * n] /= a[k + k * n];
      for (int j = k + 1; j < n; ++j) a[i + j * n] -= factor * a[k + j * n];
    }
  }
  return info;
}

int getrf_batched(const char* name, size_t type, BlasHandle handle, int n, void* const* a, int lda,
                  int* pivots, int* info, int batch) {
  Call call(name);
  const auto count = static_cast<size_t>(batch);
  call.takes(kKind, handle).reads(a, 8 * count).reads(info, 4 * count).needs(lda == n, "lda");
  if (pivots) call.reads(pivots, 4 * count * static_cast<size_t>(n));
  call.give(handle, [=] {
    for (int i = 0; i < batch; ++i) {
      if (pivots)
        host_lapack::call(type, "getrf", "getrf", &n, &n, a[i], &lda, pivots + i * n, info + i);
      else
        host_lapack::with_type(
            type, [&](auto zero) { info[i] = eliminate(static_cast<decltype(zero)*>(a[i]), n); });
    }
  });
  return call.status;
}

int geqrf_batched(const char* name, size_t type, BlasHandle handle, int m, int n, void* const* a,
                  int lda, void* const* tau, int* info, int batch) {
  Call call(name);
  const size_t bytes = 8 * static_cast<size_t>(batch);
  call.takes(kKind, handle).reads(a, bytes).reads(tau, bytes);
  *info = 0;
  call.give(handle, [=] {
    const int room = 64 * n;
    std::vector<char> work(static_cast<size_t>(room) * kBytes[type]);
    int wrong = 0;
    for (int i = 0; i < batch; ++i)
      host_lapack::call(type, "geqrf", "geqrf", &m, &n, a[i], &lda, tau[i], work.data(), &room,
                        &wrong);
  });
  return call.status;
}

}  // namespace
}  // namespace fake_toolkit

using namespace fake_toolkit;

FAKE_TOOLKIT(cublasGetProperty)(int, int* value) {
  *value = world().cublas;
  return Call(__func__).status;
}
FAKE_TOOLKIT(cublasCreate_v2)(BlasHandle* handle) {
  return make_handle(__func__, kKind, handle);
}
FAKE_TOOLKIT(cublasDestroy_v2)(BlasHandle handle) {
  return destroy_handle(__func__, kKind, handle);
}
FAKE_TOOLKIT(cublasSetStream_v2)(BlasHandle handle, Stream stream) {
  return set_stream(__func__, kKind, handle, stream);
}

#define FAKE_CUBLAS(letter, type)                                                              \
  FAKE_TOOLKIT(cublas##letter##trsm_v2)                                                        \
  (BlasHandle handle, BlasSide side, BlasFill fill, BlasOperation op, BlasDiagonal diagonal,   \
   int m, int n, const void* alpha, const void* a, int lda, void* b, int ldb) {                \
    return trsm(__func__, type, handle,                                                        \
                solve_of(type, side, fill, op, diagonal, m, n, alpha, lda, ldb), a, b);        \
  }                                                                                            \
  FAKE_TOOLKIT(cublas##letter##trsmBatched)                                                    \
  (BlasHandle handle, BlasSide side, BlasFill fill, BlasOperation op, BlasDiagonal diagonal,   \
   int m, int n, const void* alpha, const void* const* a, int lda, void* const* b, int ldb,    \
   int batch) {                                                                                \
    return trsm_batched(__func__, type, handle,                                                \
                        solve_of(type, side, fill, op, diagonal, m, n, alpha, lda, ldb), a, b, \
                        batch);                                                                \
  }                                                                                            \
  FAKE_TOOLKIT(cublas##letter##getrfBatched)                                                   \
  (BlasHandle handle, int n, void* const* a, int lda, int* pivots, int* info, int batch) {     \
    return getrf_batched(__func__, type, handle, n, a, lda, pivots, info, batch);              \
  }                                                                                            \
  FAKE_TOOLKIT(cublas##letter##geqrfBatched)                                                   \
  (BlasHandle handle, int m, int n, void* const* a, int lda, void* const* tau, int* info,      \
   int batch) {                                                                                \
    return geqrf_batched(__func__, type, handle, m, n, a, lda, tau, info, batch);              \
  }
FAKE_CUBLAS(S, 0)
FAKE_CUBLAS(D, 1)
FAKE_CUBLAS(C, 2)
FAKE_CUBLAS(Z, 3)
