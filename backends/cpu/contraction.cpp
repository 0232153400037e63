#include "backends/cpu/contraction.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "backends/cpu/objects.h"

namespace primset_cpu {
namespace {

using Dims = std::vector<uint32_t>;

struct Range {
  int64_t size, stride;
};

size_t element_bytes(uint32_t dtype) {
  return dtype == PRIMSET_BF16 ? 2 : 4;
}

std::optional<Dims> dims_attr(const primset_primitive_call& call, std::string_view name,
                              uint32_t rank) {
  for (uint32_t i = 0; i < call.attr_count; ++i) {
    const primset_attr& attr = call.attrs[i];
    if (attr.name != name) continue;
    if (attr.kind != PRIMSET_ATTR_INTS) return std::nullopt;
    Dims dims;
    for (uint32_t j = 0; j < attr.count; ++j) {
      const int64_t dim = attr.value.ints[j];
      if (dim < 0 || dim >= rank) return std::nullopt;
      dims.push_back(static_cast<uint32_t>(dim));
    }
    return dims;
  }
  return Dims{};
}

struct Roles {
  Dims batch, contract, free;
};

std::optional<Roles> roles(const primset_primitive_call& call, int operand) {
  const uint32_t rank = call.operands[operand].rank;
  const auto batch = dims_attr(call, operand == 0 ? "a_batch" : "b_batch", rank);
  const auto contract = dims_attr(call, operand == 0 ? "a_contract" : "b_contract", rank);
  if (!batch || !contract) return std::nullopt;
  Roles r{*batch, *contract, {}};
  for (uint32_t d = 0; d < rank; ++d) {
    const auto in = [d](const Dims& dims) {
      return std::find(dims.begin(), dims.end(), d) != dims.end();
    };
    if (!in(r.batch) && !in(r.contract)) r.free.push_back(d);
  }
  return r;
}

int64_t size_of(const primset_tensor& t, const Dims& dims) {
  int64_t n = 1;
  for (uint32_t d : dims) n *= t.sizes[d];
  return n;
}

// The dims as one dim, if their strides allow it.
std::optional<Range> as_one(const primset_tensor& t, const Dims& dims) {
  Range one{1, 1};
  bool first = true;
  for (auto it = dims.rbegin(); it != dims.rend(); ++it) {
    if (t.sizes[*it] == 1) continue;
    if (first)
      one.stride = t.strides[*it];
    else if (t.strides[*it] != one.size * one.stride)
      return std::nullopt;
    first = false;
    one.size *= t.sizes[*it];
  }
  return one;
}

// Offsets, in elements, of every index of the dims, the last one fastest.
std::vector<int64_t> offsets_of(const primset_tensor& t, const Dims& dims) {
  std::vector<int64_t> offsets{0};
  for (uint32_t d : dims) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(t.sizes[d]));
    for (int64_t base : offsets)
      for (int64_t i = 0; i < t.sizes[d]; ++i) next.push_back(base + i * t.strides[d]);
    offsets = std::move(next);
  }
  return offsets;
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

MatrixBatch read_matrix(const primset_tensor& t, const Dims& batch, const Dims& rows,
                        const Dims& cols) {
  MatrixBatch m;
  m.data = data_of(t);
  m.offsets = offsets_of(t, batch);
  const std::optional<Range> r = as_one(t, rows), c = as_one(t, cols);
  if (r && c) {
    // A dim of size 1 may have any stride: one that makes the other dim's rows dense.
    m.rows = r->size == 1 ? (c->stride == 1 ? c->size : 1) : r->stride;
    m.cols = c->size == 1 ? (m.rows == 1 ? r->size : 1) : c->stride;
    const bool by_rows = m.cols == 1 && m.rows >= c->size;
    const bool by_cols = m.rows == 1 && m.cols >= r->size;
    if (by_rows || by_cols) return m;
  }
  pack(t, rows, cols, m);
  return m;
}

}  // namespace

bool is_contraction(const primset_primitive_call& call) {
  if (call.operand_count != 2 || call.result_count != 1) return false;
  if (call.operands[0].dtype != call.operands[1].dtype) return false;
  const auto a = roles(call, 0), b = roles(call, 1);
  return a && b && a->batch.size() == b->batch.size() && a->contract.size() == b->contract.size();
}

Contraction read_contraction(const primset_primitive_call& call) {
  const primset_tensor &a = call.operands[0], &b = call.operands[1], &c = call.results[0];
  const Roles ra = roles(call, 0).value(), rb = roles(call, 1).value();
  Contraction x;
  x.dtype = a.dtype;
  x.m = size_of(a, ra.free);
  x.n = size_of(b, rb.free);
  x.k = size_of(a, ra.contract);
  x.c = c.buffer ? c.buffer->address + c.offset : nullptr;
  if (x.m == 0 || x.n == 0 || x.k == 0) {
    x.a.offsets = offsets_of(a, ra.batch);
    return x;
  }
  x.a = read_matrix(a, ra.batch, ra.free, ra.contract);
  x.b = read_matrix(b, rb.batch, rb.contract, rb.free);
  return x;
}

}  // namespace primset_cpu
