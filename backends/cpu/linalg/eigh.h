// The primitive eigh. The lower triangle of a row-major A is, read column-major, the upper one of
// A^T, which is conj(A) and has the conjugates of A's eigenvectors.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_EIGH_H_
#define PRIMSET_BACKENDS_CPU_LINALG_EIGH_H_

#include <vector>

#include "backends/cpu/linalg/lapack_api.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

template <typename T>
class EighCall {
 public:
  using Real = Part<T>;

  explicit EighCall(const primset_primitive_call& call)
      : a_(call.operands[0]),
        values_(data_at<Real>(call.results[0])),
        vectors_(data_at<T>(call.results[1])),
        info_(data_at<int32_t>(call.results[2])),
        wanted_(flag(call, "vectors")) {}

  void run(ThreadPool& pool) {
    const Sizes sizes = best_sizes();
    in_parallel(pool, a_.count(), [&](int64_t first, int64_t end) {
      Scratch scratch(a_.rows, sizes);
      for (int64_t b = first; b < end; ++b) factor(b, scratch);
    });
  }

 private:
  struct Sizes {
    int64_t work, rwork, iwork;
  };
  struct Scratch {
    std::vector<T> a, work;
    std::vector<Real> rwork;
    std::vector<int> iwork;

    Scratch(int64_t n, const Sizes& s)
        : a(static_cast<size_t>(n * n)),
          work(static_cast<size_t>(s.work)),
          rwork(static_cast<size_t>(s.rwork)),
          iwork(static_cast<size_t>(s.iwork)) {}
  };

  int heevd(T* a, Real* values, T* work, int lwork, Real* rwork, int lrwork, int* iwork,
            int liwork) const {
    const int n = as_int(a_.rows);
    const char* job = wanted_ ? "V" : "N";
    int info = 0;
    if constexpr (kIsComplex<T>)
      lapack<T>().heevd(job, "U", &n, a, &n, values, work, &lwork, rwork, &lrwork, iwork, &liwork,
                        &info);
    else
      lapack<T>().heevd(job, "U", &n, a, &n, values, work, &lwork, iwork, &liwork, &info);
    return info;
  }

  Sizes best_sizes() const {
    T a{}, work{};
    Real value = 0, rwork = 0;
    int iwork = 0;
    heevd(&a, &value, &work, -1, &rwork, -1, &iwork, -1);
    return {size_from(work), kIsComplex<T> ? size_from(rwork) : 0, iwork};
  }

  void factor(int64_t b, Scratch& s) const {
    const int64_t n = a_.rows;
    Real* const values = values_ + b * n;
    T* const a = s.a.data();
    copy_lower_triangle(b, a);
    if (contents_of(a, n * n) != Contents::finite) {
      std::fill_n(values, n, std::numeric_limits<Real>::quiet_NaN());
      std::fill_n(a, n * n, not_a_number<T>());
      info_[b] = static_cast<int32_t>(std::max<int64_t>(n - 1, 0));  // as LAPACK counts them
    } else {
      info_[b] = heevd(a, values, s.work.data(), as_int(static_cast<int64_t>(s.work.size())),
                       s.rwork.data(), as_int(static_cast<int64_t>(s.rwork.size())), s.iwork.data(),
                       as_int(static_cast<int64_t>(s.iwork.size())));
    }
    if (!wanted_) return;
    T* const to = vectors_ + b * n * n;
    copy_columns(
        n, 0, n, [&](int64_t i, int64_t j) { return conjugate(a[i + j * n]); },
        [&](int64_t i, int64_t j) -> T& { return to[i * n + j]; });
  }

  // By rows; a diagonal is real.
  void copy_lower_triangle(int64_t b, T* to) const {
    for (int64_t i = 0; i < a_.rows; ++i) {
      T* const row = to + i * a_.rows;
      for (int64_t j = 0; j <= i; ++j) row[j] = a_.at(b, i, j);
      if constexpr (kIsComplex<T>) row[i].im = 0;
      std::fill(row + i + 1, row + a_.rows, T{});
    }
  }

  const StridedMatrices<T> a_;
  Real* const values_;
  T* const vectors_;
  int32_t* const info_;
  const bool wanted_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_EIGH_H_
