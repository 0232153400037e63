// Operators on the parts of sparse tensors.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/sparse.h"
#include "decomps/operators/sparse_parts.h"

namespace primset::decomps {
namespace {

DType index_type(bool out_int32) {
  return out_int32 ? DType::i32 : DType::i64;
}

void require_index(const char* op, const char* argument, const Val& x) {
  require(is_index(x.dtype()), ErrorCode::runtime,
          fmt::format("{}: expected {} of dtype int32 or int64, but got {}", op, argument,
                      info(x.dtype()).torch_name));
}

// Indices of any signed integer, and u8, as ATen's conversions take them; i64 if not i32.
Val converted_indices(const char* op, const char* argument, const Val& x) {
  const DType type = x.dtype();
  require(is_signed_integer(type) || type == DType::u8, ErrorCode::runtime,
          fmt::format("{}: expected {} of uint8, int8, int16, int32 or int64, but got {}", op,
                      argument, info(type).torch_name));
  return is_index(type) ? x : convert(x, DType::i64);
}

// A matrix in rows: its values, where each row begins, and the entries' columns.
void require_rows(const char* op, const Val& values, const Val& pointers, const Val& columns) {
  require_index(op, "pointers", pointers);
  require_index(op, "columns", columns);
  const bool vectors = values.rank() == 1 && pointers.rank() == 1 && columns.rank() == 1;
  require(
      vectors && values.size(0) == columns.size(0) && !pointers.is_empty(), ErrorCode::runtime,
      fmt::format("{}: expected vectors of values and columns of one size, and pointers, but got "
                  "{}, {} and {}",
                  op, shape_text(values.shape()), shape_text(columns.shape()),
                  shape_text(pointers.shape())));
}

void require_matrix(const char* op, const Val& x, const Val& like) {
  require((x.rank() == 1 || x.rank() == 2) && x.dtype() == like.dtype(), ErrorCode::runtime,
          fmt::format("{}: expected a matrix of dtype {}, but got {} of {}", op,
                      info(like.dtype()).torch_name, shape_text(x.shape()),
                      info(x.dtype()).torch_name));
}

void require_size(const char* op, const SymInt& size, const SymInt& expected) {
  require(size == expected, ErrorCode::runtime,
          fmt::format("{}: expected a size of {}, but got {}", op, expected.hint(), size.hint()));
}

// The first `count` along dim, a number known at run time only.
Val cut(const Val& x, const Val& count, int64_t dim) {
  return x.tracer().wrap(x.tracer().builder().set_dim(x.id(), count.id(), dim));
}

// Compared as a symbol, so that each call is held to it and not only the one that makes the plan.
void require_number(const char* op, const char* argument, const SymInt& n) {
  require(n >= SymInt(0) && n <= SymInt(int64_t{1} << 40), ErrorCode::runtime,
          fmt::format("{}: expected {} of 0 to 2^40, but got {}", op, argument, n.hint()));
}

// Pointers to rows begin with 0 and end with the number of entries, and none is beyond.
void require_ends(const char* op, const Val& pointers, const Val& columns) {
  const int64_t dim = pointers.rank() - 1;
  const SymInt entries = columns.size(dim);
  if (pointers.is_empty()) {
    require(columns.is_empty(), ErrorCode::runtime,
            fmt::format("{}: expected crow_indices of one pointer at least, but got {}", op,
                        shape_text(pointers.shape())));
    return;
  }
  check(ge(pointers, Scalar(0)) & le(pointers, full_like(pointers, entries)), pointers,
        ErrorCode::index, "crow_indices points behind the entries");
  const Val first = select(pointers, dim, SymInt(0));
  const Val last = select(pointers, dim, pointers.size(dim) - SymInt(1));
  check(eq(first, Scalar(0)) & eq(last, full_like(last, entries)), last, ErrorCode::index,
        "crow_indices must begin with 0 and end with the number of entries");
}

}  // namespace

Val _convert_indices_from_coo_to_csr::decompose(Tracer& t, const Val& given, int64_t size,
                                                bool out_int32) {
  const Val self = converted_indices("_convert_indices_from_coo_to_csr", "self", given);
  require(
      self.rank() <= 1, ErrorCode::runtime,
      fmt::format("Input is supposed to be a vector, but got {} dimensional tensor.", self.rank()));
  require(size >= 0, ErrorCode::runtime,
          fmt::format("_convert_indices_from_coo_to_csr: expected a size of at least 0, but got {}",
                      size));
  check(ge(self, Scalar(0)) & lt(self, full_like(self, SymInt(size))), self, ErrorCode::index,
        "an index of a row is out of range");
  const Val pointers =
      t.prim1(Prim::compress_rows, {reshape(self, {self.numel()})}, {{"count", SymInt(size)}});
  return convert(pointers, index_type(out_int32));
}

// Indices [batch dims + 2, entries]: of each entry the matrix, the row and the column.
Val _convert_indices_from_csr_to_coo::decompose(Tracer& t, const Val& rows_given,
                                                const Val& columns_given, bool out_int32,
                                                bool transpose) {
  constexpr const char* kOp = "_convert_indices_from_csr_to_coo";
  const Val crow_indices = converted_indices(kOp, "crow_indices", rows_given),
            col_indices = converted_indices(kOp, "col_indices", columns_given);
  require(crow_indices.rank() >= 1 && crow_indices.rank() == col_indices.rank(), ErrorCode::runtime,
          fmt::format("crow_indices and col_indices are supposed to be of the same dimensionality, "
                      "but got {} and {} dimensional tensors, respectively.",
                      crow_indices.rank(), col_indices.rank()));
  for (int64_t d = 0; d + 1 < col_indices.rank(); ++d)
    require(crow_indices.size(d) == col_indices.size(d), ErrorCode::runtime,
            fmt::format("{}: batch dims of crow_indices and col_indices differ at dim {}", kOp, d));
  const DType type = index_type(out_int32);
  const SymInts shape = col_indices.shape();
  require_ends(kOp, crow_indices, col_indices);
  const Val rows = t.prim1(Prim::expand_rows, {crow_indices}, {{"entries", shape.back()}});
  std::vector<Val> lines;
  for (int64_t d = 0; d + 1 < col_indices.rank(); ++d) lines.push_back(t.iota(shape, d, type));
  lines.push_back(convert(transpose ? col_indices : rows, type));
  lines.push_back(convert(transpose ? rows : col_indices, type));
  for (Val& line : lines) line = reshape(line, {1, prims::product(shape)});
  return concatenate(lines, 0);
}

std::tuple<Val, Val> _coo_coalesce::decompose(Tracer& t, const Val& indices, const Val& values,
                                              const SymInts& sizes) {
  constexpr const char* kOp = "_coo_coalesce";
  require(indices.dtype() == DType::i64 && indices.rank() == 2 && values.rank() >= 1,
          ErrorCode::runtime,
          fmt::format("{}: expected indices of dtype int64 and rank 2 and values of rank 1 at "
                      "least, but got {} of rank {} and values of rank {}",
                      kOp, info(indices.dtype()).torch_name, indices.rank(), values.rank()));
  require(indices.size(0) == SymInt(static_cast<int64_t>(sizes.size())) &&
              indices.size(1) == values.size(0),
          ErrorCode::runtime,
          fmt::format("{}: indices {} and values {} do not fit {} sizes", kOp,
                      shape_text(indices.shape()), shape_text(values.shape()), sizes.size()));
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Val index = select(indices, 0, static_cast<int64_t>(d));
    check(ge(index, Scalar(0)) & lt(index, full_like(index, sizes[d])), index, ErrorCode::index,
          "size is inconsistent with indices: an index is out of range");
  }
  // Sums of float8 are computed in f32.
  const Val summands = is_float8(values.dtype()) ? opmath(values) : values;
  const auto merged = t.prim(Prim::coo_coalesce, {indices, summands}, {{"sizes", sizes}});
  return {cut(merged[0], merged[2], 1), convert(cut(merged[1], merged[2], 0), values.dtype())};
}

Val _csr_matmul::decompose(Tracer& t, const Val& values, const Val& pointers, const Val& columns,
                           const Val& dense, SymInt size, bool transpose,
                           const std::string& reduce) {
  constexpr const char* kOp = "_csr_matmul";
  require_rows(kOp, values, pointers, columns);
  require_matrix(kOp, dense, values);
  require_size(kOp, dense.size(0), transpose ? pointers.size(0) - 1 : size);
  const bool known = reduce == "sum" || reduce == "mean" || reduce == "amax" || reduce == "amin";
  require(known && (reduce == "sum" || (!transpose && is_floating(values.dtype()))),
          ErrorCode::runtime,
          fmt::format("{}: expected sum, or of floating dtypes and not transposed mean, amax or "
                      "amin, but got {}",
                      kOp, reduce));
  require_number(kOp, "size", size);
  const Val y = t.prim1(Prim::sparse_matmul, {opmath(values), pointers, columns, opmath(dense)},
                        {{"size", size}, {"transpose", transpose}, {"reduce", reduce}});
  return convert(y, values.dtype());
}

Val _csr_sampled_matmul::decompose(Tracer& t, const Val& a, const Val& b, const Val& pointers,
                                   const Val& columns) {
  constexpr const char* kOp = "_csr_sampled_matmul";
  require_index(kOp, "pointers", pointers);
  require_index(kOp, "columns", columns);
  require_matrix(kOp, b, a);
  require(a.rank() == 2 && b.rank() == 2 && pointers.rank() == 1 && columns.rank() == 1,
          ErrorCode::runtime, fmt::format("{}: expected two matrices and two vectors", kOp));
  require_size(kOp, a.size(1), b.size(0));
  require_size(kOp, pointers.size(0), a.size(0) + 1);
  const Val y = t.prim1(Prim::sampled_matmul, {opmath(a), opmath(b), pointers, columns});
  return convert(y, a.dtype());
}

std::tuple<Val, Val, Val> _csr_csr_matmul::decompose(Tracer& t, const Val& a, const Val& a_pointers,
                                                     const Val& a_columns, const Val& b,
                                                     const Val& b_pointers, const Val& b_columns,
                                                     SymInt size, SymInt products, SymInt entries) {
  constexpr const char* kOp = "_csr_csr_matmul";
  require_rows(kOp, a, a_pointers, a_columns);
  require_rows(kOp, b, b_pointers, b_columns);
  require_matrix(kOp, b, a);
  require_number(kOp, "size", size);
  require_number(kOp, "products", products);
  require_number(kOp, "entries", entries);
  const auto made = t.prim(Prim::sparse_sparse_matmul,
                           {opmath(a), a_pointers, a_columns, opmath(b), b_pointers, b_columns},
                           {{"size", size}, {"products", products}, {"entries", entries}});
  const Val count = select(made[1], 0, made[1].size(0) - 1);
  return {convert(cut(made[0], count, 0), a.dtype()), made[1], cut(made[2], count, 0)};
}

Val _compress_rows::decompose(Tracer& t, const Val& rows, SymInt count) {
  require_index("_compress_rows", "rows", rows);
  require(
      rows.rank() == 1, ErrorCode::runtime,
      fmt::format("_compress_rows: expected rows to be a vector, but got rank {}", rows.rank()));
  require_number("_compress_rows", "count", count);
  return t.prim1(Prim::compress_rows, {rows}, {{"count", count}});
}

// Of each row that has entries the sum or product, where rows begin, and the only column.
std::tuple<Val, Val, Val> _csr_rows_reduced::decompose(Tracer& t, const Val& values,
                                                       const Val& pointers,
                                                       const std::string& reduce) {
  constexpr const char* kOp = "_csr_rows_reduced";
  require_index(kOp, "pointers", pointers);
  require(values.rank() == 1 && pointers.rank() == 1 && !pointers.is_empty(), ErrorCode::runtime,
          fmt::format("{}: expected vectors of values and pointers, but got {} and {}", kOp,
                      shape_text(values.shape()), shape_text(pointers.shape())));
  require(reduce == "sum" || reduce == "prod", ErrorCode::runtime,
          fmt::format("{}: expected to reduce by sum or prod, but got {}", kOp, reduce));
  const SymInt rows = pointers.size(0) - 1;
  const DType index = pointers.dtype();
  const Val all = t.prim1(Prim::segment_reduce, {opmath(values), pointers}, {{"reduce", reduce}});
  const Val some = gt(slice(pointers, 0, 1, rows + 1, 1), slice(pointers, 0, 0, rows, 1));
  const auto packed = t.prim(Prim::compact, {convert(all, values.dtype()), some});
  const Val ends = t.wrap(t.builder().scan(Prim::scan_sum, convert(some, index).id(), 0)[0]);
  return {cut(packed[0], packed[1], 0), concatenate({t.constant(0, index, {1}), ends}, 0),
          cut(zeros(t, {rows}, index), packed[1], 0)};
}

Val _coo_softmax::decompose(Tracer& t, const Val& indices, const Val& values, const SymInts& sizes,
                            int64_t dim, bool log) {
  constexpr const char* kOp = "_coo_softmax";
  const auto dims = static_cast<int64_t>(sizes.size());
  require(indices.dtype() == DType::i64 && indices.rank() == 2 && values.rank() >= 1,
          ErrorCode::runtime,
          fmt::format("{}: expected indices of dtype int64 and rank 2 and values of rank 1 at "
                      "least, but got {} of rank {} and values of rank {}",
                      kOp, info(indices.dtype()).torch_name, indices.rank(), values.rank()));
  require(indices.size(0) == SymInt(dims) && indices.size(1) == values.size(0), ErrorCode::runtime,
          fmt::format("{}: indices {} and values {} do not fit {} sizes", kOp,
                      shape_text(indices.shape()), shape_text(values.shape()), dims));
  require(dim >= 0 && dim < dims, ErrorCode::index,
          fmt::format("{}: expected a dim of 0 to {}, but got {}", kOp, dims - 1, dim));
  return t.prim1(Prim::sparse_softmax, {indices, values},
                 {{"sizes", sizes}, {"dim", dim}, {"log", log}});
}

}  // namespace primset::decomps
