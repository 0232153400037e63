// The primitive eig. Of real matrices LAPACK gives the real and the imaginary parts of a pair of
// eigenvectors in two columns.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_EIG_H_
#define PRIMSET_BACKENDS_CPU_LINALG_EIG_H_

#include <vector>

#include "backends/cpu/linalg/lapack_api.h"
#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

template <typename T>
class EigCall {
 public:
  using Real = Part<T>;
  using Number = Complex<Real>;

  explicit EigCall(const primset_primitive_call& call)
      : a_(call.operands[0]),
        values_(data_at<Number>(call.results[0])),
        vectors_(data_at<Number>(call.results[1])),
        info_(data_at<int32_t>(call.results[2])),
        wanted_(flag(call, "vectors")) {}

  void run(ThreadPool& pool) {
    const int64_t room = best_work();
    in_parallel(pool, a_.count(), [&](int64_t first, int64_t end) {
      Scratch scratch(a_.rows, wanted_, room);
      for (int64_t b = first; b < end; ++b) factor(b, scratch);
    });
  }

 private:
  struct Scratch {
    OwnedMatrix<T> a, vectors;
    std::vector<T> values, work;  // real and imaginary parts, of real matrices
    std::vector<Real> rwork;

    Scratch(int64_t n, bool wanted, int64_t room)
        : a(n, n),
          vectors(wanted ? n : 1, wanted ? n : 1),
          values(static_cast<size_t>(2 * n)),
          work(static_cast<size_t>(room)),
          rwork(static_cast<size_t>(2 * n)) {}
  };

  int geev(T* a, T* values, T* vectors, T* work, int lwork, Real* rwork) const {
    const int n = as_int(a_.rows), none = 1;
    const char* job = wanted_ ? "V" : "N";
    T unused{};
    int info = 0;
    if constexpr (kIsComplex<T>)
      lapack<T>().geev("N", job, &n, a, &n, values, &unused, &none, vectors, &n, work, &lwork,
                       rwork, &info);
    else
      lapack<T>().geev("N", job, &n, a, &n, values, values + n, &unused, &none, vectors, &n, work,
                       &lwork, &info);
    return info;
  }

  int64_t best_work() const {
    T size{};
    std::vector<T> values(static_cast<size_t>(2 * a_.rows));
    T unused{};
    Real none = 0;
    geev(&unused, values.data(), &unused, &size, -1, &none);
    return size_from(size);
  }

  void factor(int64_t b, Scratch& s) const {
    const int64_t n = a_.rows;
    Number *const values = values_ + b * n, *const vectors = vectors_ + b * n * n;
    copy_from<T>(a_, b, s.a);
    if (contents_of(s.a.data, n * n) != Contents::finite) {
      std::fill_n(values, n, not_a_number<Number>());
      if (wanted_) std::fill_n(vectors, n * n, not_a_number<Number>());
      info_[b] = static_cast<int32_t>(n);
      return;
    }
    info_[b] = geev(s.a.data, s.values.data(), s.vectors.data, s.work.data(),
                    as_int(static_cast<int64_t>(s.work.size())), s.rwork.data());
    for (int64_t i = 0; i < n; ++i) values[i] = value(s, i);
    if (!wanted_) return;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) vectors[i * n + j] = vector_entry(s, i, j);
  }

  Number value(const Scratch& s, int64_t i) const {
    const auto at = static_cast<size_t>(i);
    if constexpr (kIsComplex<T>)
      return s.values[at];
    else
      return {s.values[at], s.values[at + static_cast<size_t>(a_.rows)]};
  }

  // Of a pair the first eigenvalue is the one with the positive imaginary part.
  Number vector_entry(const Scratch& s, int64_t i, int64_t j) const {
    const T own = s.vectors.column(j)[i];
    if constexpr (kIsComplex<T>) {
      return own;
    } else {
      const Real im = value(s, j).im;
      if (im == 0) return {own, 0};
      if (im > 0) return {own, s.vectors.column(j + 1)[i]};
      return {s.vectors.column(j - 1)[i], -own};
    }
  }

  const StridedMatrices<T> a_;
  Number *const values_, *const vectors_;
  int32_t* const info_;
  const bool wanted_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_EIG_H_
