// Sparse matrices by their rows, as operands of native primitives have them.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_ROWS_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "backends/common/call_attributes.h"
#include "backends/cpu/linalg/support.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

// sum + x y. Short integers are multiplied in unsigned ones, which wrap.
template <typename T>
PRIMSET_INLINE T sum_with_product(T sum, T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::common_type_t<T, unsigned>;
    return static_cast<T>(static_cast<Wide>(sum) + static_cast<Wide>(x) * static_cast<Wide>(y));
  } else {
    return sum + x * y;
  }
}

using primset_backend::integer;
using primset_backend::text;

// Whether elements lie in row-major order without gaps.
inline bool is_dense(const primset_tensor& t) {
  int64_t stride = 1;
  for (uint32_t d = t.rank; d-- > 0; stride *= t.sizes[d])
    if (t.sizes[d] != 1 && t.strides[d] != stride) return false;
  return true;
}

// A vector in memory without gaps: where it lies, or a copy.
template <typename T>
class DenseVector {
 public:
  explicit DenseVector(const primset_tensor& t) : data_(data_at<T>(t)), size_(t.sizes[0]) {
    if (size_ < 2 || t.strides[0] == 1) return;
    for (int64_t i = 0; i < size_; ++i) copy_.push_back(data_[i * t.strides[0]]);
    data_ = copy_.data();
  }
  DenseVector(std::vector<T> values)
      : copy_(std::move(values)), data_(copy_.data()), size_(static_cast<int64_t>(copy_.size())) {}
  DenseVector(DenseVector&&) = default;
  DenseVector(const DenseVector&) = delete;

  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  std::vector<T> copy_;
  const T* data_;
  int64_t size_;
};

// Pointers as i64 that ascend within the entries, whatever the operand's do.
inline std::vector<int64_t> row_pointers(const primset_tensor& t, int64_t entries) {
  std::vector<int64_t> out(static_cast<size_t>(t.sizes[0]));
  for (int64_t i = 0; i < t.sizes[0]; ++i) {
    const int64_t at = i * t.strides[0];
    const int64_t p = t.dtype == PRIMSET_I32 ? data_at<int32_t>(t)[at] : data_at<int64_t>(t)[at];
    const int64_t least = i ? out[static_cast<size_t>(i) - 1] : 0;
    out[static_cast<size_t>(i)] = std::clamp(p, least, std::max(least, entries));
  }
  return out;
}

template <typename T, typename Index>
struct SparseRows {
  DenseVector<T> values;
  std::vector<int64_t> pointers;
  DenseVector<Index> columns;

  int64_t rows() const { return static_cast<int64_t>(pointers.size()) - 1; }
  int64_t begin(int64_t row) const { return pointers[static_cast<size_t>(row)]; }
  int64_t end(int64_t row) const { return pointers[static_cast<size_t>(row) + 1]; }
};

// From a call's operands, of which the values are `first`, and pointers and columns behind them.
template <typename T, typename Index>
SparseRows<T, Index> sparse_rows(const primset_primitive_call& call, uint32_t first) {
  const primset_tensor* t = call.operands + first;
  return {DenseVector<T>(t[0]), row_pointers(t[1], t[2].sizes[0]), DenseVector<Index>(t[2])};
}

// A column that is not below the size reads another one.
template <typename Index>
PRIMSET_INLINE int64_t bounded(Index column, int64_t size) {
  const auto c = static_cast<uint64_t>(static_cast<int64_t>(column));
  return static_cast<int64_t>(std::min(c, static_cast<uint64_t>(size) - 1));
}

// The transpose, by counting the entries of each column (Gustavson, Two fast algorithms for sparse
// matrices, 1978).
template <typename T, typename Index>
SparseRows<T, Index> transposed(const SparseRows<T, Index>& a, int64_t columns) {
  std::vector<int64_t> pointers(static_cast<size_t>(columns) + 1);
  std::vector<T> values(static_cast<size_t>(a.columns.size()));
  std::vector<Index> rows(values.size());
  if (columns == 0) return {DenseVector(std::move(values)), pointers, DenseVector(std::move(rows))};
  const int64_t first = a.pointers.front(), end = a.pointers.back();
  for (int64_t e = first; e < end; ++e)
    ++pointers[static_cast<size_t>(bounded(a.columns[e], columns)) + 1];
  for (size_t c = 0; c < static_cast<size_t>(columns); ++c) pointers[c + 1] += pointers[c];
  std::vector<int64_t> next(pointers.begin(), pointers.end() - 1);
  for (int64_t row = 0; row < a.rows(); ++row) {
    for (int64_t e = a.begin(row); e < a.end(row); ++e) {
      const auto at =
          static_cast<size_t>(next[static_cast<size_t>(bounded(a.columns[e], columns))]++);
      values[at] = a.values[e];
      rows[at] = static_cast<Index>(row);
    }
  }
  return {DenseVector(std::move(values)), std::move(pointers), DenseVector(std::move(rows))};
}

// Rows cut where about as much work is on either side; `work` ascends from row to row.
inline std::vector<int64_t> row_shares(const std::vector<int64_t>& work, int64_t count) {
  std::vector<int64_t> cuts;
  const int64_t first = work.front(), all = work.back() - first;
  for (int64_t i = 0; i <= count; ++i) {
    const int64_t before =
        first + static_cast<int64_t>(static_cast<double>(all) / static_cast<double>(count) *
                                     static_cast<double>(i));
    cuts.push_back(std::lower_bound(work.begin(), work.end(), before) - work.begin());
  }
  cuts.front() = 0, cuts.back() = static_cast<int64_t>(work.size()) - 1;
  return cuts;
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_ROWS_H_
