#include "backends/cpu/contraction.h"

#include <cstring>
#include <optional>

#include "backends/cpu/objects.h"

namespace primset_cpu {
namespace {

using primset_backend::Dims;
using primset_backend::offsets_of;

size_t element_bytes(uint32_t dtype) {
  return dtype == PRIMSET_BF16 ? 2 : 4;
}

const char* data_of(const primset_tensor& t) {
  return t.buffer ? t.buffer->address + t.offset : nullptr;
}

// Copies into batches of contiguous rows x cols matrices.
void pack(const primset_tensor& t, const Dims& rows, const Dims& cols, MatrixBatch& m) {
  const size_t bytes = element_bytes(t.dtype);
  const std::vector<int64_t> row_offsets = offsets_of(t, rows), col_offsets = offsets_of(t, cols);
  const auto matrix = static_cast<int64_t>(row_offsets.size() * col_offsets.size());
  m.packed.reset(new char[m.offsets.size() * static_cast<size_t>(matrix) * bytes]);
  char* to = m.packed.get();
  for (int64_t& batch : m.offsets) {
    const int64_t start = (to - m.packed.get()) / static_cast<int64_t>(bytes);
    for (int64_t r : row_offsets)
      for (int64_t c : col_offsets) {
        std::memcpy(to, m.data + (batch + r + c) * static_cast<int64_t>(bytes), bytes);
        to += bytes;
      }
    batch = start;
  }
  m.data = m.packed.get();
  m.rows = static_cast<int64_t>(col_offsets.size());
  m.cols = 1;
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
