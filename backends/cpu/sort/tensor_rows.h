#ifndef PRIMSET_BACKENDS_CPU_SORT_TENSOR_ROWS_H_
#define PRIMSET_BACKENDS_CPU_SORT_TENSOR_ROWS_H_

#include <vector>

#include "backends/cpu/sparse/sparse_rows.h"

namespace primset_cpu {

// A tensor as rows along a dim: element i of row r at data[(offsets[r] + i stride) * bytes].
struct TensorRows {
  char* data;
  std::vector<int64_t> offsets;
  int64_t stride;

  TensorRows(const primset_tensor& t, uint32_t dim)
      : data(data_at<char>(t)), stride(t.strides[dim]) {
    primset_backend::Dims others;
    for (uint32_t d = 0; d < t.rank; ++d)
      if (d != dim) others.push_back(d);
    offsets = primset_backend::offsets_of(t, others);
  }
  int64_t count() const { return static_cast<int64_t>(offsets.size()); }
  template <typename U>
  U* row(int64_t r) const {
    return reinterpret_cast<U*>(data) + offsets[static_cast<size_t>(r)];
  }
};

// Whether a call's first operand has the dim that the call names, and rows that RowOrder's counts
// of 32 bits fit.
inline bool fits_row_order(const primset_primitive_call& call) {
  const primset_tensor& t = call.operands[0];
  const int64_t dim = integer(call, "dim");
  return dim >= 0 && dim < t.rank && t.sizes[dim] <= INT32_MAX;
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_TENSOR_ROWS_H_
