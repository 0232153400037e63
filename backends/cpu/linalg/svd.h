// The primitive svd. A row-major A is, read column-major, A^T = (V*)^T S U^T: LAPACK's left vectors
// of it are, read by rows, V*, and its right ones U.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_SVD_H_
#define PRIMSET_BACKENDS_CPU_LINALG_SVD_H_

#include <cmath>
#include <vector>

#include "backends/cpu/linalg/lapack_api.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

template <typename T>
class SvdCall {
 public:
  using Real = Part<T>;

  explicit SvdCall(const primset_primitive_call& call)
      : a_(call.operands[0]),
        u_(data_at<T>(call.results[0])),
        s_(data_at<Real>(call.results[1])),
        vh_(data_at<T>(call.results[2])),
        info_(data_at<int32_t>(call.results[3])),
        full_(flag(call, "full")),
        vectors_(flag(call, "vectors")) {}

  void run(ThreadPool& pool) {
    const int64_t room = best_work();
    in_parallel(pool, a_.count(), [&](int64_t first, int64_t end) {
      Scratch scratch(*this, room);
      for (int64_t b = first; b < end; ++b) factor(b, scratch);
    });
  }

 private:
  int64_t least() const { return std::min(a_.rows, a_.columns); }
  const char* job() const { return !vectors_ ? "N" : full_ ? "A" : "S"; }

  struct Scratch {
    std::vector<T> a, work;
    std::vector<Real> rwork;
    std::vector<int> iwork;

    Scratch(const SvdCall& of, int64_t room)
        : a(static_cast<size_t>(of.a_.rows * of.a_.columns)), work(static_cast<size_t>(room)) {
      const int64_t k = of.least(), most = std::max(of.a_.rows, of.a_.columns);
      // As gesdd's documentation has it.
      if (kIsComplex<T>)
        rwork.resize(
            static_cast<size_t>(std::max(5 * k * k + 5 * k, 2 * most * k + 2 * k * k + k)));
      iwork.resize(static_cast<size_t>(8 * k));
    }
  };

  int gesdd(T* a, Real* s, T* u, T* vh, T* work, int lwork, Real* rwork, int* iwork) const {
    // Rows and columns are those of A^T.
    const int m = as_int(a_.columns), n = as_int(a_.rows), k = as_int(least());
    const int ldvh = full_ ? n : k;
    int info = 0;
    if constexpr (kIsComplex<T>)
      lapack<T>().gesdd(job(), &m, &n, a, &m, s, u, &m, vh, &ldvh, work, &lwork, rwork, iwork,
                        &info);
    else
      lapack<T>().gesdd(job(), &m, &n, a, &m, s, u, &m, vh, &ldvh, work, &lwork, iwork, &info);
    return info;
  }

  int64_t best_work() const {
    T size{}, unused{};
    Real none = 0;
    int integer = 0;
    gesdd(&unused, &none, &unused, &unused, &size, -1, &none, &integer);
    return size_from(size);
  }

  void factor(int64_t b, Scratch& scratch) const {
    T* const a = scratch.a.data();
    copy_columns(
        a_.rows, 0, a_.columns, [&](int64_t i, int64_t j) { return a_.at(b, i, j); },
        [&](int64_t i, int64_t j) -> T& { return a[i * a_.columns + j]; });
    const Contents contents = contents_of(a, a_.rows * a_.columns);
    Real* const s = s_ + b * least();
    if (contents != Contents::finite) {
      std::fill_n(s, least(), std::numeric_limits<Real>::quiet_NaN());
      info_[b] = contents == Contents::nan ? 1 : 0;
      if (vectors_) fill_vectors(b);
      return;
    }
    const int info = gesdd(a, s, vh_ + b * vh_size(), u_ + b * u_size(), scratch.work.data(),
                           as_int(static_cast<int64_t>(scratch.work.size())), scratch.rwork.data(),
                           scratch.iwork.data());
    info_[b] = info > 0 ? info + 1 : 0;  // 1 is NaN's
  }

  int64_t u_size() const { return !vectors_ ? 0 : a_.rows * (full_ ? a_.rows : least()); }
  int64_t vh_size() const { return !vectors_ ? 0 : a_.columns * (full_ ? a_.columns : least()); }
  void fill_vectors(int64_t b) const {
    std::fill_n(u_ + b * u_size(), u_size(), not_a_number<T>());
    std::fill_n(vh_ + b * vh_size(), vh_size(), not_a_number<T>());
  }

  const StridedMatrices<T> a_;
  T* const u_;
  Real* const s_;
  T* const vh_;
  int32_t* const info_;
  const bool full_, vectors_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_SVD_H_
