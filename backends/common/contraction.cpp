#include "backends/common/contraction.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "backends/common/call_attributes.h"

namespace primset_backend {
namespace {

std::optional<Dims> dims_attr(const primset_primitive_call& call, std::string_view name,
                              uint32_t rank) {
  const primset_attr* attr = find_attribute(call, name);
  if (!attr) return Dims{};
  if (attr->kind != PRIMSET_ATTR_INTS) return std::nullopt;
  Dims dims;
  for (const int64_t dim : std::span(attr->value.ints, attr->count)) {
    if (dim < 0 || dim >= rank) return std::nullopt;
    dims.push_back(static_cast<uint32_t>(dim));
  }
  return dims;
}

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

struct Range {
  int64_t size, stride;
};

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

}  // namespace

std::optional<ContractionDims> contraction_dims(const primset_primitive_call& call) {
  if (call.operand_count != 2 || call.result_count != 1) return std::nullopt;
  const primset_tensor &a = call.operands[0], &b = call.operands[1];
  if (a.dtype != b.dtype) return std::nullopt;
  auto ra = roles(call, 0), rb = roles(call, 1);
  if (!ra || !rb || ra->batch.size() != rb->batch.size() ||
      ra->contract.size() != rb->contract.size())
    return std::nullopt;
  ContractionDims c{std::move(*ra), std::move(*rb)};
  c.m = size_of(a, c.a.free);
  c.n = size_of(b, c.b.free);
  c.k = size_of(a, c.a.contract);
  return c;
}

std::optional<ContractionDims> matmul_dims(const primset_primitive_call& call) {
  if (call.operand_count < 2 || call.operand_count > 3 || call.result_count != 1)
    return std::nullopt;
  const primset_tensor &a = call.operands[0], &b = call.operands[1];
  if (a.dtype != b.dtype || a.rank != b.rank || a.rank < 2) return std::nullopt;
  Dims batch(a.rank - 2);
  std::iota(batch.begin(), batch.end(), 0);
  const uint32_t rows = a.rank - 2, cols = a.rank - 1;
  ContractionDims c{{batch, {cols}, {rows}}, {batch, {rows}, {cols}}};
  c.m = a.sizes[rows];
  c.n = b.sizes[cols];
  c.k = a.sizes[cols];
  return c;
}

int64_t size_of(const primset_tensor& t, const Dims& dims) {
  int64_t n = 1;
  for (uint32_t d : dims) n *= t.sizes[d];
  return n;
}

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

std::optional<MatrixStrides> matrix_strides(const primset_tensor& t, const Dims& rows,
                                            const Dims& cols) {
  const std::optional<Range> r = as_one(t, rows), c = as_one(t, cols);
  if (!r || !c) return std::nullopt;
  MatrixStrides m;
  m.rows = r->size == 1 ? (c->stride == 1 ? c->size : 1) : r->stride;
  m.cols = c->size == 1 ? (m.rows == 1 ? r->size : 1) : c->stride;
  const bool by_rows = m.cols == 1 && m.rows >= c->size;
  const bool by_cols = m.rows == 1 && m.cols >= r->size;
  return by_rows || by_cols ? std::optional(m) : std::nullopt;
}

}  // namespace primset_backend
