// Reflectors of small real matrices, in loops of our own: LAPACK's calls take longer than what they
// compute there. Columns are filled up with zeros to whole vectors and gone through from end to
// end, since a reflector's vector is zero before its own row.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_SMALL_QR_H_
#define PRIMSET_BACKENDS_CPU_LINALG_SMALL_QR_H_

#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/linalg/support.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

template <typename T>
class SmallMatrix {
 public:
  static constexpr int64_t kRows = 64, kColumns = 32, kLanes = 8;

  static bool holds(int64_t rows, int64_t columns) {
    return !kIsComplex<T> && rows <= kRows && columns <= kColumns;
  }

  // All zeros.
  SmallMatrix(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), stride_((rows + kLanes - 1) / kLanes * kLanes) {
    std::fill_n(data_, stride_ * columns, T{});
  }
  SmallMatrix(const StridedMatrices<T>& a, int64_t b) : SmallMatrix(a.rows, a.columns) {
    copy_columns(
        rows_, 0, columns_, [&](int64_t i, int64_t j) { return a.at(b, i, j); },
        [&](int64_t i, int64_t j) -> T& { return column(j)[i]; });
  }
  void copy_to(T* rows) const {
    copy_columns(
        rows_, 0, columns_, [&](int64_t i, int64_t j) { return column(j)[i]; },
        [&](int64_t i, int64_t j) -> T& { return rows[i * columns_ + j]; });
  }

  PRIMSET_INLINE T* column(int64_t j) { return data_ + j * stride_; }
  PRIMSET_INLINE const T* column(int64_t j) const { return data_ + j * stride_; }

  // The reflectors in place of their columns, and the upper triangle; false where a sum of squares
  // leaves the range of T.
  PRIMSET_INLINE bool factor(T* tau) {
    for (int64_t j = 0; j < std::min(rows_, columns_); ++j) {
      T v[kRows] = {};
      if (!make_reflector(column(j), j, v, tau[j])) return false;
      for (int64_t k = j + 1; k < columns_; ++k) reflect(v, tau[j], column(k));
    }
    return true;
  }

  // The first columns of the reflectors' product, of which this has the columns of the identity.
  PRIMSET_INLINE void form(const SmallMatrix& reflectors, const T* tau, int64_t count) {
    for (int64_t j = count; j-- > 0;) {
      T v[kRows] = {};
      std::copy(reflectors.column(j) + j, reflectors.column(j) + rows_, v + j);
      v[j] = 1;
      for (int64_t k = j; k < columns_; ++k) reflect(v, tau[j], column(k));
    }
  }

 private:
  PRIMSET_INLINE T product(const T* x, const T* y) const {
    T lanes[kLanes] = {};
    for (int64_t i = 0; i < stride_; i += kLanes)
      for (int64_t w = 0; w < kLanes; ++w) lanes[w] += x[i + w] * y[i + w];
    for (int64_t step = kLanes / 2; step > 0; step /= 2)
      for (int64_t w = 0; w < step; ++w) lanes[w] += lanes[w + step];
    return lanes[0];
  }

  // c becomes (1 - tau v v^T) c.
  PRIMSET_INLINE void reflect(const T* v, T tau, T* c) const {
    const T factor = tau * product(v, c);
    for (int64_t i = 0; i < stride_; ++i) c[i] -= factor * v[i];
  }

  // The reflector that leaves one number of a column from row j on. As of LAPACK it is 1 where no
  // other is there.
  PRIMSET_INLINE bool make_reflector(T* column, int64_t j, T* v, T& tau) const {
    std::copy(column + j, column + rows_, v + j);
    const T first = v[j];
    tau = 0;
    if (std::all_of(v + j + 1, v + rows_, [](T x) { return x == 0; })) return true;
    constexpr T kLeast = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    const T square = product(v, v);
    if (!(square > kLeast && square < 1 / kLeast)) return false;
    const T norm = std::copysign(std::sqrt(square), -first);
    tau = (norm - first) / norm;
    const T scale = 1 / (first - norm);
    for (int64_t i = 0; i < stride_; ++i) v[i] *= scale;
    v[j] = 1;
    column[j] = norm;
    std::copy(v + j + 1, v + rows_, column + j + 1);
    return true;
  }

  alignas(64) T data_[kRows * kColumns];
  const int64_t rows_, columns_, stride_;
};

// False where that is left to LAPACK.
template <typename T>
bool factor_small(const StridedMatrices<T>& a, int64_t b, T* v, T* tau) {
  if constexpr (kIsComplex<T>) {
    return false;
  } else {
    if (!SmallMatrix<T>::holds(a.rows, a.columns)) return false;
    SmallMatrix<T> m(a, b);
    bool done = false;
    vector_code([](SmallMatrix<T>* matrix, T* to, bool* ok)
                    PRIMSET_INLINE_LAMBDA { *ok = matrix->factor(to); },
                &m, tau, &done);
    if (done) m.copy_to(v);
    return done;
  }
}

template <typename T>
bool form_small(const StridedMatrices<T>& v, int64_t b, const std::vector<T>& tau, T* q) {
  if constexpr (kIsComplex<T>) {
    return false;
  } else {
    if (!SmallMatrix<T>::holds(v.rows, v.columns)) return false;
    const SmallMatrix<T> reflectors(v, b);
    SmallMatrix<T> product(v.rows, v.columns);
    for (int64_t j = 0; j < v.columns; ++j) product.column(j)[j] = 1;
    vector_code(
        [](SmallMatrix<T>* to, const SmallMatrix<T>* from, const std::vector<T>* factors)
            PRIMSET_INLINE_LAMBDA {
              to->form(*from, factors->data(), static_cast<int64_t>(factors->size()));
            },
        &product, &reflectors, &tau);
    product.copy_to(q);
    return true;
  }
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_SMALL_QR_H_
