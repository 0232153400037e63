#include "decomps/primitives/shape.h"

#include <algorithm>

namespace primset::decomps::prim {

// One gather of L elements a matrix.
Val diagonal::decompose(Tracer& t, const Val& x, int64_t offset, int64_t dim1, int64_t dim2) {
  const SymInt rows = x.size(dim1), columns = x.size(dim2);
  const SymInt size =
      max(offset >= 0 ? min(rows, columns - offset) : min(rows + offset, columns), 0);
  const Val step = t.iota({size}, 0, DType::i64);
  const Val row = step + Scalar(offset < 0 ? -std::max(offset, -INT64_MAX) : 0);
  const Val column = step + Scalar(std::max<int64_t>(offset, 0));
  const Val y =
      t.wrap(t.builder().gather(x.id(), {row.id(), column.id()}, {dim1, dim2}, true, "index"));
  std::vector<int64_t> diagonal_last;
  for (int64_t d = 1; d < y.rank(); ++d) diagonal_last.push_back(d);
  diagonal_last.push_back(0);
  return transpose(y, diagonal_last);
}

namespace {

bool certainly(const SymInt& a, const SymInt& b) {
  return known_equal(a, b) == true;
}

// The dims that step through memory: all but those of size 1 and stride 0.
std::vector<size_t> stepping_dims(const SymInts& sizes, const SymInts& strides) {
  std::vector<size_t> dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!certainly(sizes[d], 1) && !certainly(strides[d], 0)) dims.push_back(d);
  }
  return dims;
}

bool dense(const SymInts& sizes, const SymInts& strides, const std::vector<size_t>& dims) {
  SymInt expected = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (!certainly(strides[dims[i]], expected)) return false;
    expected *= sizes[dims[i]];
  }
  return true;
}

// A part of memory without gaps, repeated along the other dims.
Val repeated_part(const Val& flat, const SymInts& sizes, const SymInt& offset,
                  const std::vector<size_t>& dims) {
  SymInts kept(sizes.size(), SymInt(1));
  for (size_t d : dims) kept[d] = sizes[d];
  const Val part = slice(flat, 0, offset, offset + prims::product(kept), 1);
  return broadcast_to(reshape(part, kept), sizes);
}

}  // namespace

Val as_strided::decompose(Tracer& t, const Val& x, const SymInts& sizes, const SymInts& strides,
                          SymInt offset) {
  const Val flat = reshape(x, {x.numel()});
  const std::vector<size_t> dims = stepping_dims(sizes, strides);
  if (dense(sizes, strides, dims)) return repeated_part(flat, sizes, offset, dims);
  Val place = t.constant(offset, DType::i64, sizes);
  for (size_t d : dims) {
    const Val step = t.iota(sizes, static_cast<int64_t>(d), DType::i64);
    place = place + step * full_like(step, strides[d]);
  }
  return t.wrap(t.builder().gather(flat.id(), {place.id()}, {0}, true, "index"));
}

}  // namespace primset::decomps::prim
