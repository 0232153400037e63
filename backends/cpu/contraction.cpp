#include "backends/cpu/contraction.h"

#include <optional>

#include "backends/common/element_bytes.h"
#include "backends/cpu/objects.h"

namespace primset_cpu {
namespace {

using primset_backend::Dims;
using primset_backend::offsets_of;

const char* data_of(const primset_tensor& t) {
  return t.buffer ? t.buffer->address + t.offset : nullptr;
}

bool has_unit_stride(const std::vector<int64_t>& offsets) {
  return offsets.size() > 1 && offsets[1] - offsets[0] == 1;
}

template <typename T>
void copy_matrix(const char* data, const std::vector<int64_t>& outer,
                 const std::vector<int64_t>& inner, T* to) {
  const T* from = reinterpret_cast<const T*>(data);
  for (int64_t o : outer)
    for (int64_t i : inner) *to++ = from[o + i];
}

// Copies into batches of matrices without gaps, along the dim that the elements lie along.
void pack(const primset_tensor& t, const Dims& rows, const Dims& cols, MatrixBatch& m) {
  const size_t bytes = primset_backend::element_bytes(t.dtype);
  const std::vector<int64_t> row_offsets = offsets_of(t, rows), col_offsets = offsets_of(t, cols);
  const size_t matrix = row_offsets.size() * col_offsets.size();
  const bool along_rows = has_unit_stride(row_offsets) && !has_unit_stride(col_offsets);
  const auto& outer = along_rows ? col_offsets : row_offsets;
  const auto& inner = along_rows ? row_offsets : col_offsets;
  m.packed.reset(new char[m.offsets.size() * matrix * bytes]);
  for (size_t batch = 0; batch < m.offsets.size(); ++batch) {
    const char* from = m.data + m.offsets[batch] * static_cast<int64_t>(bytes);
    char* to = m.packed.get() + batch * matrix * bytes;
    if (bytes == 1)
      copy_matrix(from, outer, inner, reinterpret_cast<uint8_t*>(to));
    else if (bytes == 2)
      copy_matrix(from, outer, inner, reinterpret_cast<uint16_t*>(to));
    else
      copy_matrix(from, outer, inner, reinterpret_cast<uint32_t*>(to));
    m.offsets[batch] = static_cast<int64_t>(batch * matrix);
  }
  m.data = m.packed.get();
  m.rows = along_rows ? 1 : static_cast<int64_t>(col_offsets.size());
  m.cols = along_rows ? static_cast<int64_t>(row_offsets.size()) : 1;
}

MatrixBatch place_matrix(const primset_tensor& t, const Dims& batch, const Dims& rows,
                         const Dims& cols) {
  MatrixBatch m;
  m.data = data_of(t);
  m.offsets = offsets_of(t, batch);
  if (const auto strides = primset_backend::matrix_strides(t, rows, cols)) {
    m.rows = strides->rows;
    m.cols = strides->cols;
  } else {
    pack(t, rows, cols, m);
  }
  return m;
}

}  // namespace

Contraction place_contraction(const primset_primitive_call& call,
                              const primset_backend::ContractionDims& dims) {
  const primset_tensor &a = call.operands[0], &b = call.operands[1], &c = call.results[0];
  Contraction x;
  x.dtype = a.dtype;
  x.m = dims.m;
  x.n = dims.n;
  x.k = dims.k;
  x.c = c.buffer ? c.buffer->address + c.offset : nullptr;
  if (x.m == 0 || x.n == 0 || x.k == 0) {
    x.a.offsets = offsets_of(a, dims.a.batch);
    return x;
  }
  x.a = place_matrix(a, dims.a.batch, dims.a.free, dims.a.contract);
  x.b = place_matrix(b, dims.b.batch, dims.b.contract, dims.b.free);
  return x;
}

}  // namespace primset_cpu
