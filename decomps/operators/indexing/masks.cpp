// Masks: filling, selecting and scattering where they hold, and nonzero.
#include <fmt/format.h>

#include <array>

#include "decomps/engine/engine.h"
#include "decomps/operators/indexing.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/index_type.h"

namespace primset::decomps {
namespace {

Val filled(const Val& self, const Val& mask, const Val& value) {
  require(is_bool(mask.dtype()), ErrorCode::runtime,
          fmt::format("masked_fill_ only supports boolean masks, but got mask with dtype {}",
                      cpp_name(mask.dtype())));
  return where(mask, convert(real_number(value, self.dtype()), self.dtype()), self);
}

}  // namespace

Val masked_fill_scalar::decompose(Tracer& t, const Val& self, const Val& mask,
                                  const ScalarArg& value) {
  const bool complex = value.kind == Scalar::Kind::complex && is_complex(self.dtype());
  return filled(self, mask, complex ? value.value : t.fitting_scalar(value, self.dtype()));
}

Val masked_fill_tensor::decompose(Tracer& t, const Val& self, const Val& mask, const Val& value) {
  require(
      value.rank() == 0, ErrorCode::runtime,
      fmt::format("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                  "{} dimension(s).",
                  value.rank()));
  return filled(self, mask, value);
}

Val masked_select::decompose(Tracer& t, const Val& self, const Val& mask) {
  require(
      is_bool(mask.dtype()), ErrorCode::runtime,
      fmt::format("masked_select: expected BoolTensor for mask, but got {}", name(mask.dtype())));
  return t.prim(Prim::masked_select, {self, mask})[0];
}

Val masked_scatter::decompose(Tracer& t, const Val& self, const Val& mask, const Val& source) {
  require(self.dtype() == source.dtype(), ErrorCode::runtime,
          fmt::format("masked_scatter: expected self and source to have same dtypes but got{} and "
                      "{}",
                      aten_name(self.dtype()), aten_name(source.dtype())));
  require(is_bool(mask.dtype()), ErrorCode::runtime,
          fmt::format("masked_scatter_ only supports boolean masks, but got mask with dtype {}",
                      aten_name(mask.dtype())));
  return self.is_empty() ? self : t.prim1(Prim::masked_scatter, {self, mask, source});
}

Val masked_select_backward::decompose(Tracer& t, const Val& grad, const Val& input,
                                      const Val& mask) {
  const std::array<SymInts, 2> shapes = {input.shape(), mask.shape()};
  const SymInts shape = broadcast_shapes(shapes);
  return masked_scatter::decompose(t, zeros(t, shape, input.dtype()), broadcast_to(mask, shape),
                                   grad);
}

Val masked_scatter_backward::decompose(Tracer& t, const Val& grad_output, const Val& mask,
                                       const SymInts& sizes) {
  require(is_bool(mask.dtype()), ErrorCode::runtime,
          fmt::format("masked_scatter_backward only supports boolean masks, but got mask with "
                      "dtype {}",
                      aten_name(mask.dtype())));
  for (const SymInt& s : sizes) {
    require(!(s < SymInt(0)), ErrorCode::runtime,
            fmt::format("masked_scatter_backward: negative size in {}", shape_text(sizes)));
  }
  const std::array<SymInts, 2> shapes = {grad_output.shape(), mask.shape()};
  const SymInts shape = broadcast_shapes(shapes);
  const auto packed = t.prim(Prim::compact, {flattened(broadcast_to(grad_output, shape)),
                                             flattened(broadcast_to(mask, shape))});
  const SymInt size = prims::product(sizes);
  const Val front = resized_front(packed[0], size);
  // Zeros behind what the mask takes.
  const Val taken = lt(t.iota({size}, 0, DType::i64), packed[1]);
  return reshape(where(taken, front, full_like(front, 0)), sizes);
}

// --- nonzero ---

Val nonzero::decompose(Tracer& t, const Val& self) {
  return t.prim(Prim::nonzero, {self})[0];
}

Val argwhere::decompose(Tracer& t, const Val& self) {
  return nonzero::decompose(t, self);
}

std::vector<Val> nonzero_numpy::decompose(Tracer& t, const Val& self) {
  // Of a number as of a vector of one.
  const Val x = at_least_1d(self), rows = nonzero::decompose(t, x);
  std::vector<Val> columns;
  for (int64_t d = 0; d < x.rank(); ++d) columns.push_back(select(rows, 1, d));
  return columns;
}

Val nonzero_static::decompose(Tracer& t, const Val& self, SymInt size, int64_t fill_value) {
  require(size >= SymInt(0), ErrorCode::runtime,
          "nonzero_static: 'size' must be an non-negative integer");
  const SymInts shape = self.shape(), flat = {self.numel()};
  if (shape.empty()) return zeros(t, {size, 0}, DType::i64);
  const auto packed =
      t.prim(Prim::compact, {t.iota(flat, 0, place_type(flat[0])), logical(flattened(self))});
  SymInts sizes;  // of an empty tensor no place is taken apart
  for (const SymInt& s : shape) sizes.push_back(max(s, 1));
  const Val valid = lt(t.iota({size}, 0, DType::i64), packed[1]);
  const Val filler = t.constant(fill_value, DType::i64);
  std::vector<Val> columns = unraveled(resized_front(packed[0], size), sizes);
  for (Val& c : columns) c = reshape(where(valid, convert(c, DType::i64), filler), {size, 1});
  return concatenate(columns, 1);
}

}  // namespace primset::decomps
