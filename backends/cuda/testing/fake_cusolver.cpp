// cuSOLVER of the fake toolkit: LAPACK's routines behind the library's arguments.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cuda/libraries/cusolver_api.h"
#include "backends/cuda/testing/fake_toolkit_world.h"
#include "backends/cuda/testing/host_lapack.h"

namespace fake_toolkit {
namespace {

using namespace primset_cuda;
using host_lapack::is_complex;
using host_lapack::kBytes;
using host_lapack::kRealBytes;

constexpr const char* kKind = "cuSOLVER";
constexpr const char* kParams = "cuSOLVER parameters";
constexpr const char* kJacobi = "cuSOLVER rotations";
constexpr const char* kEighJacobi = "cuSOLVER rotations of Hermitian matrices";
constexpr size_t kDeviceBytes = 5000, kHostBytes = 600;
constexpr int kElements = 333;
constexpr const char* kUplo[] = {"L", "U"};
constexpr const char* kSideNames[] = {"L", "R"};
constexpr const char* kOpNames[] = {"N", "T", "C"};

size_t type_index(DataType t) {
  switch (t) {
    case DataType::f32:
      return 0;
    case DataType::f64:
      return 1;
    case DataType::c64:
      return 2;
    default:
      return 3;
  }
}

size_t matrix_bytes(size_t type, int64_t rows, int64_t columns, int64_t ld) {
  return rows * columns == 0 ? 0 : kBytes[type] * static_cast<size_t>((columns - 1) * ld + rows);
}

int as_int(int64_t x) {
  return static_cast<int>(x);
}

// Room that any of the routines is content with.
struct Room {
  Room(size_t type, int64_t m, int64_t n)
      : elements(as_int(64 * (m + n) + 8 * n * n + 64)),
        work(static_cast<size_t>(elements) * kBytes[type]),
        reals(static_cast<size_t>(8 * (m + n) + 64) * 8) {}
  int elements;
  std::vector<char> work, reals;
};

int tell_sizes(const char* name, SolverHandle handle, size_t* device_bytes, size_t* host_bytes) {
  Call call(name, false);
  call.takes(kKind, handle);
  *device_bytes = kDeviceBytes;
  *host_bytes = kHostBytes;
  return call.status;
}

// Memory as tell_sizes asked for it.
struct Given {
  const void* device;
  size_t device_bytes;
  const void* host;
  size_t host_bytes;
};

Call& check(Call& call, SolverHandle handle, SolverParams params, const Given& g, const int* info) {
  call.takes(kKind, handle).takes(kParams, params).reads(info, 4).reads(g.device, g.device_bytes);
  return call
      .needs(g.device_bytes >= kDeviceBytes && g.host_bytes >= kHostBytes && g.host,
             "less memory than was asked for")
      .needs(reinterpret_cast<uintptr_t>(g.device) % 256 == 0, "a workspace that is not aligned");
}

// --- what is computed ----------------------------------------------------------------------------

void getrf(size_t type, int m, int n, void* a, int64_t* pivots, int* info) {
  std::vector<int> narrow(static_cast<size_t>(std::min(m, n)));
  host_lapack::call(type, "getrf", "getrf", &m, &n, a, &m, narrow.data(), info);
  std::ranges::copy(narrow, pivots);
}

// Of a square or other matrix, rows as they are.
void getrf_as_it_is(size_t type, int m, int n, void* data, int* info) {
  host_lapack::with_type(type, [&](auto zero) {
    auto* a = static_cast<decltype(zero)*>(data);
    *info = 0;
    for (int k = 0; k < std::min(m, n); ++k) {
      if (a[k + k * m] == decltype(zero)(0)) {
        if (*info == 0) *info = k + 1;
        continue;
      }
      for (int i = k + 1; i < m; ++i) {
        const auto factor = a[i + k * m] /= a[k + k * m];
        for (int j = k + 1; j < n; ++j) a[i + j * m] -= factor * a[k + j * m];
      }
    }
  });
}

void syev(size_t type, const char* job, BlasFill fill, int n, void* a, void* values, int* info) {
  Room room(type, n, n);
  if (is_complex(type))
    host_lapack::call(type, "syev", "heev", job, kUplo[fill], &n, a, &n, values, room.work.data(),
                      &room.elements, room.reals.data(), info);
  else
    host_lapack::call(type, "syev", "heev", job, kUplo[fill], &n, a, &n, values, room.work.data(),
                      &room.elements, info);
}

void gesvd(size_t type, const char* left, const char* right, int m, int n, void* a, void* s,
           void* u, int ldu, void* vt, int ldvt, int* info) {
  Room room(type, m, n);
  if (is_complex(type))
    host_lapack::call(type, "gesvd", "gesvd", left, right, &m, &n, a, &m, s, u, &ldu, vt, &ldvt,
                      room.work.data(), &room.elements, room.reals.data(), info);
  else
    host_lapack::call(type, "gesvd", "gesvd", left, right, &m, &n, a, &m, s, u, &ldu, vt, &ldvt,
                      room.work.data(), &room.elements, info);
}

// As rotations give it: v, not its adjoint.
void gesvdj(size_t type, bool vectors, bool economy, int m, int n, void* a, void* s, void* u,
            void* v, int* info) {
  const int rows = economy ? std::min(m, n) : n;
  std::vector<char> vt(vectors ? static_cast<size_t>(rows * n) * kBytes[type] : 1);
  const char* job = !vectors ? "N" : economy ? "S" : "A";
  gesvd(type, job, job, m, n, a, s, u, m, vt.data(), rows, info);
  if (!vectors) return;
  host_lapack::with_type(type, [&](auto zero) {
    using T = decltype(zero);
    const auto* from = reinterpret_cast<const T*>(vt.data());
    auto* to = static_cast<T*>(v);
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < n; ++j) {
        if constexpr (requires { zero.imag(); })
          to[j + r * n] = std::conj(from[r + j * rows]);
        else
          to[j + r * n] = from[r + j * rows];
      }
  });
}

void geev(size_t type, const char* job, int n, void* a, void* values, void* vectors, int* info) {
  Room room(type, n, n);
  const int one = 1;
  if (is_complex(type))
    return host_lapack::call(type, "geev", "geev", "N", job, &n, a, &n, values, room.work.data(),
                             &one, vectors, &n, room.work.data(), &room.elements, room.reals.data(),
                             info);
  host_lapack::with_type(type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> re(static_cast<size_t>(n)), im(static_cast<size_t>(n));
    T unused{};
    host_lapack::call(type, "geev", "geev", "N", job, &n, a, &n, re.data(), im.data(), &unused,
                      &one, vectors, &n, room.work.data(), &room.elements, info);
    auto* to = static_cast<T*>(values);
    for (size_t i = 0; i < re.size(); ++i) {
      to[2 * i] = re[i];
      to[2 * i + 1] = im[i];
    }
  });
}

}  // namespace
}  // namespace fake_toolkit

using namespace fake_toolkit;

// --- handles -------------------------------------------------------------------------------------

FAKE_TOOLKIT(cusolverGetVersion)(int* version) {
  *version = world().cusolver;
  return Call(__func__).status;
}
FAKE_TOOLKIT(cusolverDnCreate)(SolverHandle* handle) {
  return make_handle(__func__, kKind, handle);
}
FAKE_TOOLKIT(cusolverDnDestroy)(SolverHandle handle) {
  return destroy_handle(__func__, kKind, handle);
}
FAKE_TOOLKIT(cusolverDnSetStream)(SolverHandle handle, Stream stream) {
  return set_stream(__func__, kKind, handle, stream);
}
FAKE_TOOLKIT(cusolverDnCreateParams)(SolverParams* params) {
  return make_handle(__func__, kParams, params);
}
FAKE_TOOLKIT(cusolverDnDestroyParams)(SolverParams params) {
  return destroy_handle(__func__, kParams, params);
}
FAKE_TOOLKIT(cusolverDnCreateGesvdjInfo)(JacobiParams* params) {
  return make_handle(__func__, kJacobi, params);
}
FAKE_TOOLKIT(cusolverDnDestroyGesvdjInfo)(JacobiParams params) {
  return destroy_handle(__func__, kJacobi, params);
}
FAKE_TOOLKIT(cusolverDnCreateSyevjInfo)(EighJacobiParams* params) {
  return make_handle(__func__, kEighJacobi, params);
}
FAKE_TOOLKIT(cusolverDnDestroySyevjInfo)(EighJacobiParams params) {
  return destroy_handle(__func__, kEighJacobi, params);
}

// --- functions for every type --------------------------------------------------------------------

FAKE_TOOLKIT(cusolverDnXgetrf_bufferSize)(SolverHandle handle, SolverParams, int64_t, int64_t,
                                          DataType, const void*, int64_t, DataType, size_t* device,
                                          size_t* host) {
  return tell_sizes(__func__, handle, device, host);
}
FAKE_TOOLKIT(cusolverDnXgetrf)(SolverHandle handle, SolverParams params, int64_t m, int64_t n,
                               DataType type, void* a, int64_t lda, int64_t* pivots, DataType,
                               void* device, size_t device_bytes, void* host, size_t host_bytes,
                               int* info) {
  Call call(__func__);
  const size_t t = type_index(type);
  check(call, handle, params, {device, device_bytes, host, host_bytes}, info)
      .reads(a, matrix_bytes(t, m, n, lda))
      .reads(pivots, pivots ? static_cast<size_t>(8 * std::min(m, n)) : 0)
      .needs(lda == m, "lda");
  call.give(handle, [=] {
    if (pivots)
      getrf(t, as_int(m), as_int(n), a, pivots, info);
    else
      getrf_as_it_is(t, as_int(m), as_int(n), a, info);
  });
  return call.status;
}
FAKE_TOOLKIT(cusolverDnXpotrf_bufferSize)(SolverHandle handle, SolverParams, BlasFill, int64_t,
                                          DataType, const void*, int64_t, DataType, size_t* device,
                                          size_t* host) {
  return tell_sizes(__func__, handle, device, host);
}
FAKE_TOOLKIT(cusolverDnXpotrf)(SolverHandle handle, SolverParams params, BlasFill fill, int64_t n,
                               DataType type, void* a, int64_t lda, DataType, void* device,
                               size_t device_bytes, void* host, size_t host_bytes, int* info) {
  Call call(__func__);
  const size_t t = type_index(type);
  check(call, handle, params, {device, device_bytes, host, host_bytes}, info)
      .reads(a, matrix_bytes(t, n, n, lda));
  call.give(handle, [=, n = as_int(n), lda = as_int(lda)] {
    host_lapack::call(t, "potrf", "potrf", kUplo[fill], &n, a, &lda, info);
  });
  return call.status;
}
FAKE_TOOLKIT(cusolverDnXgeqrf_bufferSize)(SolverHandle handle, SolverParams, int64_t, int64_t,
                                          DataType, const void*, int64_t, DataType, const void*,
                                          DataType, size_t* device, size_t* host) {
  return tell_sizes(__func__, handle, device, host);
}
FAKE_TOOLKIT(cusolverDnXgeqrf)(SolverHandle handle, SolverParams params, int64_t m, int64_t n,
                               DataType type, void* a, int64_t lda, DataType, void* tau, DataType,
                               void* device, size_t device_bytes, void* host, size_t host_bytes,
                               int* info) {
  Call call(__func__);
  const size_t t = type_index(type);
  check(call, handle, params, {device, device_bytes, host, host_bytes}, info)
      .reads(a, matrix_bytes(t, m, n, lda))
      .reads(tau, kBytes[t] * static_cast<size_t>(std::min(m, n)));
  call.give(handle, [=, m = as_int(m), n = as_int(n), lda = as_int(lda)] {
    Room room(t, m, n);
    host_lapack::call(t, "geqrf", "geqrf", &m, &n, a, &lda, tau, room.work.data(), &room.elements,
                      info);
  });
  return call.status;
}
FAKE_TOOLKIT(cusolverDnXsyevd_bufferSize)(SolverHandle handle, SolverParams, SolverVectors,
                                          BlasFill, int64_t, DataType, const void*, int64_t,
                                          DataType, const void*, DataType, size_t* device,
                                          size_t* host) {
  return tell_sizes(__func__, handle, device, host);
}
FAKE_TOOLKIT(cusolverDnXsyevd)(SolverHandle handle, SolverParams params, SolverVectors vectors,
                               BlasFill fill, int64_t n, DataType type, void* a, int64_t lda,
                               DataType, void* values, DataType, void* device, size_t device_bytes,
                               void* host, size_t host_bytes, int* info) {
  Call call(__func__);
  const size_t t = type_index(type);
  check(call, handle, params, {device, device_bytes, host, host_bytes}, info)
      .reads(a, matrix_bytes(t, n, n, lda))
      .reads(values, kRealBytes[t] * static_cast<size_t>(n));
  call.give(handle, [=] { syev(t, vectors ? "V" : "N", fill, as_int(n), a, values, info); });
  return call.status;
}
FAKE_TOOLKIT(cusolverDnXsyevBatched_bufferSize)(SolverHandle handle, SolverParams, SolverVectors,
                                                BlasFill, int64_t, DataType, const void*, int64_t,
                                                DataType, const void*, DataType, size_t* device,
                                                size_t* host, int64_t) {
  return tell_sizes(__func__, handle, device, host);
}
FAKE_TOOLKIT(cusolverDnXsyevBatched)(SolverHandle handle, SolverParams params,
                                     SolverVectors vectors, BlasFill fill, int64_t n, DataType type,
                                     void* a, int64_t lda, DataType, void* values, DataType,
                                     void* device, size_t device_bytes, void* host,
                                     size_t host_bytes, int* info, int64_t batch) {
  Call call(__func__);
  const size_t t = type_index(type);
  check(call, handle, params, {device, device_bytes, host, host_bytes}, info)
      .reads(a, matrix_bytes(t, n, n * batch, lda))
      .reads(values, kRealBytes[t] * static_cast<size_t>(n * batch))
      .reads(info, static_cast<size_t>(4 * batch));
  call.give(handle, [=] {
    for (int64_t i = 0; i < batch; ++i)
      syev(t, vectors ? "V" : "N", fill, as_int(n),
           static_cast<char*>(a) + kBytes[t] * static_cast<size_t>(i * n * n),
           static_cast<char*>(values) + kRealBytes[t] * static_cast<size_t>(i * n), info + i);
  });
  return call.status;
}
FAKE_TOOLKIT(cusolverDnXgesvd_bufferSize)(SolverHandle handle, SolverParams, signed char,
                                          signed char, int64_t, int64_t, DataType, const void*,
                                          int64_t, DataType, const void*, DataType, const void*,
                                          int64_t, DataType, const void*, int64_t, DataType,
                                          size_t* device, size_t* host) {
  return tell_sizes(__func__, handle, device, host);
}
FAKE_TOOLKIT(cusolverDnXgesvd)(SolverHandle handle, SolverParams params, signed char left,
                               signed char right, int64_t m, int64_t n, DataType type, void* a,
                               int64_t lda, DataType, void* s, DataType, void* u, int64_t ldu,
                               DataType, void* vt, int64_t ldvt, DataType, void* device,
                               size_t device_bytes, void* host, size_t host_bytes, int* info) {
  Call call(__func__);
  const size_t t = type_index(type);
  check(call, handle, params, {device, device_bytes, host, host_bytes}, info)
      .reads(a, matrix_bytes(t, m, n, lda))
      .reads(s, kRealBytes[t] * static_cast<size_t>(n))
      .reads(u, left == 'N' ? 0 : matrix_bytes(t, m, left == 'A' ? m : n, ldu))
      .reads(vt, right == 'N' ? 0 : matrix_bytes(t, n, n, ldvt))
      .needs(m >= n, "more columns than rows");
  call.give(handle, [=] {
    const char jobs[2][2] = {{static_cast<char>(left), 0}, {static_cast<char>(right), 0}};
    gesvd(t, jobs[0], jobs[1], as_int(m), as_int(n), a, s, u, as_int(ldu), vt, as_int(ldvt), info);
  });
  return call.status;
}
FAKE_TOOLKIT(cusolverDnXgeev_bufferSize)(SolverHandle handle, SolverParams, SolverVectors,
                                         SolverVectors, int64_t, DataType, const void*, int64_t,
                                         DataType, const void*, DataType, const void*, int64_t,
                                         DataType, const void*, int64_t, DataType, size_t* device,
                                         size_t* host) {
  return tell_sizes(__func__, handle, device, host);
}
FAKE_TOOLKIT(cusolverDnXgeev)(SolverHandle handle, SolverParams params, SolverVectors left,
                              SolverVectors right, int64_t n, DataType type, void* a, int64_t lda,
                              DataType value_type, void* values, DataType, void*, int64_t, DataType,
                              void* vr, int64_t, DataType, void* device, size_t device_bytes,
                              void* host, size_t host_bytes, int* info) {
  Call call(__func__);
  const size_t t = type_index(type);
  const bool complex_values = value_type == DataType::c64 || value_type == DataType::c128;
  check(call, handle, params, {device, device_bytes, host, host_bytes}, info)
      .reads(a, matrix_bytes(t, n, n, lda))
      .reads(values, 2 * kRealBytes[t] * static_cast<size_t>(n))
      .reads(vr, right ? matrix_bytes(t, n, n, n) : 0)
      .needs(left == kNoVectors, "the library has no left vectors")
      .needs(complex_values, "eigenvalues are complex");
  call.give(handle, [=] { geev(t, right ? "V" : "N", as_int(n), a, values, vr, info); });
  return call.status;
}

// --- functions for one type ----------------------------------------------------------------------

namespace fake_toolkit {
namespace {

int tell_elements(const char* name, SolverHandle handle, int* elements) {
  Call call(name, false);
  call.takes(kKind, handle);
  *elements = kElements;
  return call.status;
}

Call& check_typed(Call& call, size_t type, SolverHandle handle, const void* work, int elements) {
  return call.takes(kKind, handle)
      .needs(elements >= kElements, "less memory than was asked for")
      .reads(work, kBytes[type] * kElements);
}

int orgqr(const char* name, size_t type, SolverHandle handle, int m, int n, int k, void* a, int lda,
          const void* tau, const void* work, int elements, int* info) {
  Call call(name);
  check_typed(call, type, handle, work, elements)
      .reads(a, matrix_bytes(type, m, n, lda))
      .reads(tau, kBytes[type] * static_cast<size_t>(k))
      .reads(info, 4);
  call.give(handle, [=] {
    Room room(type, m, n);
    host_lapack::call(type, "orgqr", "ungqr", &m, &n, &k, a, &lda, tau, room.work.data(),
                      &room.elements, info);
  });
  return call.status;
}

int ormqr(const char* name, size_t type, SolverHandle handle, BlasSide side, BlasOperation op,
          int m, int n, int k, const void* a, int lda, const void* tau, void* c, int ldc,
          const void* work, int elements, int* info) {
  Call call(name);
  check_typed(call, type, handle, work, elements)
      .reads(a, matrix_bytes(type, side == kFromLeft ? m : n, k, lda))
      .reads(tau, kBytes[type] * static_cast<size_t>(k))
      .reads(c, matrix_bytes(type, m, n, ldc))
      .reads(info, 4);
  call.give(handle, [=] {
    Room room(type, m, n);
    host_lapack::call(type, "ormqr", "unmqr", kSideNames[side], kOpNames[op], &m, &n, &k, a, &lda,
                      tau, c, &ldc, room.work.data(), &room.elements, info);
  });
  return call.status;
}

int rotations(const char* name, size_t type, SolverHandle handle, SolverVectors vectors,
              bool economy, int m, int n, void* a, void* s, void* u, int ldu, void* v, int ldv,
              const void* work, int elements, int* info, JacobiParams params, int batch,
              int largest) {
  Call call(name);
  const int k = std::min(m, n), us = economy ? k : m, vs = economy ? k : n;
  check_typed(call, type, handle, work, elements)
      .takes(kJacobi, params)
      .reads(a, matrix_bytes(type, m, n * batch, m))
      .reads(s, kRealBytes[type] * static_cast<size_t>(k * batch))
      // In a batch it writes vectors, whether they are asked for or not.
      .reads(u, vectors || !economy ? matrix_bytes(type, m, us * batch, ldu) : 0)
      .reads(v, vectors || !economy ? matrix_bytes(type, n, vs * batch, ldv) : 0)
      .reads(info, 4 * static_cast<size_t>(batch))
      .needs(ldu == m && ldv == n, "leading dims")
      .needs(std::max(m, n) <= largest, "matrices too large for a batch");
  call.give(handle, [=] {
    const auto at = [&](void* p, size_t bytes, int elements_each, int i) {
      return static_cast<char*>(p) +
             bytes * static_cast<size_t>(elements_each) * static_cast<size_t>(i);
    };
    for (int i = 0; i < batch; ++i)
      gesvdj(type, vectors != 0, economy, m, n, at(a, kBytes[type], m * n, i),
             at(s, kRealBytes[type], k, i), at(u, kBytes[type], m * us, i),
             at(v, kBytes[type], n * vs, i), info + i);
  });
  return call.status;
}

int eigh_rotations(const char* name, size_t type, SolverHandle handle, SolverVectors vectors,
                   BlasFill fill, int n, void* a, int lda, void* values, const void* work,
                   int elements, int* info, EighJacobiParams params, int batch) {
  Call call(name);
  check_typed(call, type, handle, work, elements)
      .takes(kEighJacobi, params)
      .reads(a, matrix_bytes(type, n, n * batch, lda))
      .reads(values, kRealBytes[type] * static_cast<size_t>(n * batch))
      .reads(info, 4 * static_cast<size_t>(batch))
      .needs(lda == n, "leading dim");
  call.give(handle, [=] {
    for (int i = 0; i < batch; ++i)
      syev(type, vectors ? "V" : "N", fill, n,
           static_cast<char*>(a) + kBytes[type] * static_cast<size_t>(n * n * i),
           static_cast<char*>(values) + kRealBytes[type] * static_cast<size_t>(n * i), info + i);
  });
  return call.status;
}

int potrf_batched(const char* name, size_t type, SolverHandle handle, BlasFill fill, int n,
                  void* const* a, int lda, int* info, int batch) {
  Call call(name);
  const auto count = static_cast<size_t>(batch);
  call.takes(kKind, handle).reads(a, 8 * count).reads(info, 4 * count);
  call.give(handle, [=] {
    for (int i = 0; i < batch; ++i)
      host_lapack::call(type, "potrf", "potrf", kUplo[fill], &n, a[i], &lda, info + i);
  });
  return call.status;
}

constexpr int kAnySize = 1 << 30;

}  // namespace
}  // namespace fake_toolkit

#define FAKE_CUSOLVER(letter, q, sy, type)                                                         \
  FAKE_TOOLKIT(cusolverDn##letter##q##gqr_bufferSize)                                              \
  (SolverHandle handle, int, int, int, const void*, int, const void*, int* elements) {             \
    return tell_elements(__func__, handle, elements);                                              \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##q##gqr)                                                         \
  (SolverHandle handle, int m, int n, int k, void* a, int lda, const void* tau, void* work,        \
   int elements, int* info) {                                                                      \
    return orgqr(__func__, type, handle, m, n, k, a, lda, tau, work, elements, info);              \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##q##mqr_bufferSize)                                              \
  (SolverHandle handle, BlasSide, BlasOperation, int, int, int, const void*, int, const void*,     \
   const void*, int, int* elements) {                                                              \
    return tell_elements(__func__, handle, elements);                                              \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##q##mqr)                                                         \
  (SolverHandle handle, BlasSide side, BlasOperation op, int m, int n, int k, const void* a,       \
   int lda, const void* tau, void* c, int ldc, void* work, int elements, int* info) {              \
    return ormqr(__func__, type, handle, side, op, m, n, k, a, lda, tau, c, ldc, work, elements,   \
                 info);                                                                            \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##gesvdj_bufferSize)                                              \
  (SolverHandle handle, SolverVectors, int, int, int, const void*, int, const void*, const void*,  \
   int, const void*, int, int* elements, JacobiParams) {                                           \
    return tell_elements(__func__, handle, elements);                                              \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##gesvdj)                                                         \
  (SolverHandle handle, SolverVectors vectors, int economy, int m, int n, void* a, int, void* s,   \
   void* u, int ldu, void* v, int ldv, void* work, int elements, int* info, JacobiParams params) { \
    return rotations(__func__, type, handle, vectors, economy != 0, m, n, a, s, u, ldu, v, ldv,    \
                     work, elements, info, params, 1, kAnySize);                                   \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##gesvdjBatched_bufferSize)                                       \
  (SolverHandle handle, SolverVectors, int, int, const void*, int, const void*, const void*, int,  \
   const void*, int, int* elements, JacobiParams, int) {                                           \
    return tell_elements(__func__, handle, elements);                                              \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##gesvdjBatched)                                                  \
  (SolverHandle handle, SolverVectors vectors, int m, int n, void* a, int, void* s, void* u,       \
   int ldu, void* v, int ldv, void* work, int elements, int* info, JacobiParams params,            \
   int batch) {                                                                                    \
    return rotations(__func__, type, handle, vectors, false, m, n, a, s, u, ldu, v, ldv, work,     \
                     elements, info, params, batch, 32);                                           \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##sy##evjBatched_bufferSize)                                      \
  (SolverHandle handle, SolverVectors, BlasFill, int, const void*, int, const void*,               \
   int* elements, EighJacobiParams, int) {                                                         \
    return tell_elements(__func__, handle, elements);                                              \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##sy##evjBatched)                                                 \
  (SolverHandle handle, SolverVectors vectors, BlasFill fill, int n, void* a, int lda,             \
   void* values, void* work, int elements, int* info, EighJacobiParams params, int batch) {        \
    return eigh_rotations(__func__, type, handle, vectors, fill, n, a, lda, values, work,          \
                          elements, info, params, batch);                                          \
  }                                                                                                \
  FAKE_TOOLKIT(cusolverDn##letter##potrfBatched)                                                   \
  (SolverHandle handle, BlasFill fill, int n, void** a, int lda, int* info, int batch) {           \
    return potrf_batched(__func__, type, handle, fill, n, a, lda, info, batch);                    \
  }
FAKE_CUSOLVER(S, or, sy, 0)
FAKE_CUSOLVER(D, or, sy, 1)
FAKE_CUSOLVER(C, un, he, 2)
FAKE_CUSOLVER(Z, un, he, 3)
