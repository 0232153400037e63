// The primitive sampled_matmul: for each entry of a sparse matrix a row of a times a column of b.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_SAMPLED_MATMUL_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_SAMPLED_MATMUL_H_

#include "backends/cpu/linalg/blas_api.h"
#include "backends/cpu/sparse/sparse_rows.h"

namespace primset_cpu {

template <typename T>
PRIMSET_INLINE void add_product(T& sum, T x, T y) {
  sum = sum_with_product(sum, x, y);
}
template <typename Real>
PRIMSET_INLINE void add_product(Complex<Real>& sum, Complex<Real> x, Complex<Real> y) {
  sum.re += x.re * y.re - x.im * y.im;
  sum.im += x.re * y.im + x.im * y.re;
}
template <typename T>
PRIMSET_INLINE void add_to(T& sum, T x) {
  sum = static_cast<T>(sum + x);
}
template <typename Real>
PRIMSET_INLINE void add_to(Complex<Real>& sum, Complex<Real> x) {
  sum.re += x.re, sum.im += x.im;
}

template <typename T, typename Index>
class SampledMatmulCall {
 public:
  explicit SampledMatmulCall(const primset_primitive_call& call)
      : call_(call), inner_(call.operands[0].sizes[1]), columns_(call.operands[1].sizes[1]) {}

  void run(ThreadPool& pool) {
    const DenseVector<Index> at(call_.operands[3]);
    const std::vector<int64_t> pointers = row_pointers(call_.operands[2], at.size());
    T* const values = data_at<T>(call_.results[0]);
    const bool nothing = inner_ == 0 || columns_ == 0;
    if (nothing) return void(std::fill_n(values, at.size(), T{}));
    std::vector<T> a_copy, b_copy;
    const T* const a = packed(call_.operands[0], 0, a_copy);
    const T* const b = packed(call_.operands[1], 1, b_copy);
    std::fill_n(values, pointers.front(), T{});
    std::fill(values + pointers.back(), values + at.size(), T{});
    const int64_t shares = std::clamp<int64_t>(at.size() * inner_ / 32768, 1, 64);
    const std::vector<int64_t> cuts = row_shares(pointers, shares);
    in_parallel(pool, shares, [&](int64_t first, int64_t end) {
      const Rows rows{pointers.data(),
                      at.data(),
                      a,
                      b,
                      values,
                      inner_,
                      columns_,
                      cuts[static_cast<size_t>(first)],
                      cuts[static_cast<size_t>(end)]};
      vector_code([](const Rows& r) PRIMSET_INLINE_LAMBDA { multiply(r); }, rows);
    });
  }

 private:
  struct Rows {
    const int64_t* pointers;
    const Index* columns;
    const T *a, *b;
    T* values;
    int64_t inner, size, first, end;
  };

  // Lines along the contracted dim without gaps: as they are, or a copy.
  const T* packed(const primset_tensor& t, uint32_t line, std::vector<T>& copy) const {
    const T* const data = data_at<const T>(t);
    const int64_t lines = t.sizes[line], along = t.strides[1 - line], across = t.strides[line];
    if (along == 1 && across == inner_) return data;
    copy.resize(static_cast<size_t>(lines * inner_));
    copy_columns(
        lines, 0, inner_, [&](int64_t i, int64_t j) { return data[i * across + j * along]; },
        [&](int64_t i, int64_t j) -> T& { return copy[static_cast<size_t>(i * inner_ + j)]; });
    return copy.data();
  }

  PRIMSET_INLINE static void multiply(const Rows& r) {
    constexpr int kSums = std::max<int>(128 / static_cast<int>(sizeof(T)), 1);
    for (int64_t row = r.first; row < r.end; ++row) {
      const T* const x = r.a + row * r.inner;
      for (int64_t e = r.pointers[row]; e < r.pointers[row + 1]; ++e) {
        const T* const y = r.b + bounded(r.columns[e], r.size) * r.inner;
        T sums[kSums] = {};
        int64_t k = 0;
        for (; k + kSums <= r.inner; k += kSums)
          for (int w = 0; w < kSums; ++w) add_product(sums[w], x[k + w], y[k + w]);
        for (; k < r.inner; ++k) add_product(sums[0], x[k], y[k]);
        for (int step = kSums / 2; step > 0; step /= 2)
          for (int w = 0; w < step; ++w) add_to(sums[w], sums[w + step]);
        r.values[e] = sums[0];
      }
    }
  }

  const primset_primitive_call& call_;
  const int64_t inner_, columns_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_SAMPLED_MATMUL_H_
