// Norms of vectors and matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/spectra.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/reduction.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

// The dtype asked for holds what the input holds.
void require_wider(const char* op, DType from, DType to) {
  require(
      is_floating(to) || is_complex(to), ErrorCode::runtime,
      fmt::format("{}: dtype should be floating point or complex, but got {}", op, aten_name(to)));
  require(is_complex(from) == is_complex(to), ErrorCode::runtime,
          fmt::format("{}: dtype should be {} for {} inputs, but got {}", op,
                      is_complex(from) ? "complex" : "real", is_complex(from) ? "complex" : "real",
                      aten_name(to)));
  require(promote_types(from, to) == to, ErrorCode::runtime,
          fmt::format("{}: the dtype of the input ({}) should be convertible without narrowing to "
                      "the specified dtype ({})",
                      op, aten_name(from), aten_name(to)));
}

// Norms of order infinity and below 0 have no value for nothing.
void require_some(const Val& x, const Dims& dims, double ord) {
  if (!(std::isinf(ord) || ord < 0)) return;
  const char* name = std::isinf(ord) ? (ord > 0 ? "inf" : "-inf") : nullptr;
  for (int64_t d : dims) {
    require(!(x.size(d) == SymInt(0)), ErrorCode::runtime,
            fmt::format("linalg.vector_norm cannot compute the {} norm on {} because the operation "
                        "does not have an identity",
                        name ? name : fmt::format("{}", ord),
                        static_cast<int64_t>(dims.size()) == x.rank()
                            ? "an empty tensor"
                            : fmt::format("the dimension {}", d)));
  }
}

}  // namespace

Val linalg_vector_norm::decompose(Tracer& t, const Val& self, const ScalarArg& ord,
                                  const std::optional<std::vector<int64_t>>& dim, bool keepdim,
                                  const std::optional<DType>& dtype) {
  require_floating_or_complex("linalg.vector_norm", self);
  if (dtype) require_wider("linalg.vector_norm", self.dtype(), *dtype);
  const Dims dims = wrap_dims(dim.value_or(Dims{}), self.rank(), true);
  const double order = ord.known().to_double();
  require_some(self, dims, order);
  const Val v = dtype ? convert(self, *dtype) : self;
  const Val a = is_complex(v.dtype()) ? unary(Prim::abs, v) : v;
  const Val r = t.prim1(Prim::vector_norm, {a}, {{"p", Scalar(order)}, {"dims", dims}});
  return keepdim ? restore_dims(r, self.shape(), dims) : r;
}

namespace {

struct MatrixDims {
  int64_t rows, columns;
};

MatrixDims matrix_dims(const Val& a, const Dims& dim) {
  require_matrices("linalg.matrix_norm", a);
  require(dim.size() == 2, ErrorCode::runtime,
          fmt::format("linalg.matrix_norm: dim must be a 2-tuple. Got {}", fmt::join(dim, " ")));
  const MatrixDims d = {wrap_dim(dim[0], a.rank()), wrap_dim(dim[1], a.rank())};
  require(d.rows != d.columns, ErrorCode::runtime,
          fmt::format("linalg.matrix_norm: dims must be different. Got ({}, {})", dim[0], dim[1]));
  return d;
}

Val typed_matrix(const Val& a, const std::optional<DType>& dtype) {
  require_floating_or_complex("linalg.matrix_norm", a);
  if (!dtype) return a;
  require_wider("linalg.matrix_norm", a.dtype(), *dtype);
  return convert(a, *dtype);
}

// The greatest, or least, of the sums along a dim: of columns for the orders 1 and -1, of rows for
// the infinite ones.
Val extreme_of_sums(Tracer& t, const Val& a, double ord, const MatrixDims& d, bool keepdim) {
  const bool by_column = std::fabs(ord) == 1;
  const int64_t summed = by_column ? d.rows : d.columns, left = by_column ? d.columns : d.rows;
  const Val sums = t.call1("linalg_vector_norm", {a, t.literal(Scalar(1)), Dims{summed}, true});
  const Val extreme = t.call1(ord > 0 ? "amax" : "amin", {sums, Dims{left}, true});
  if (keepdim) return extreme;
  SymInts shape = extreme.shape();
  for (int64_t dim : {std::max(summed, left), std::min(summed, left)})
    shape.erase(shape.begin() + dim);
  return reshape(extreme, shape);
}

bool is_zero_by_convention(double ord, const Val& a, const MatrixDims& d) {
  const int64_t left = std::fabs(ord) == 1 ? d.columns : d.rows;
  return ord > 0 && a.size(left) == SymInt(0);
}

// The greatest singular value, the least, or the sum of all.
Val norm_by_singular_values(Tracer& t, const Val& a, const char* reduction, const MatrixDims& d,
                            bool keepdim) {
  Dims order;
  for (int64_t i = 0; i < a.rank(); ++i) {
    if (i != d.rows && i != d.columns) order.push_back(i);
  }
  order.push_back(d.rows);
  order.push_back(d.columns);
  const Val s = singular_values(t, transpose(a, order));
  const bool nothing = std::string_view(reduction) == "amax" && s.size(-1) == SymInt(0);
  const Val norm = nothing ? reduce(Prim::reduce_sum, s, {s.rank() - 1}, false)
                           : t.call1(reduction, {s, Dims{-1}, false});
  if (!keepdim) return norm;
  return restore_dims(norm, a.shape(), {std::min(d.rows, d.columns), std::max(d.rows, d.columns)});
}

Val matrix_norm_of_order(Tracer& t, const Val& self, double ord, const Dims& dim, bool keepdim,
                         const std::optional<DType>& dtype) {
  const double size = std::fabs(ord);
  require(size == 1 || size == 2 || std::isinf(ord), ErrorCode::runtime,
          fmt::format("linalg.matrix_norm: Order {} not supported.", ord));
  const MatrixDims d = matrix_dims(self, dim);
  if (size == 2) {
    require_full_precision("linalg.matrix_norm", self);
    return norm_by_singular_values(t, typed_matrix(self, dtype), ord > 0 ? "amax" : "amin", d,
                                   keepdim);
  }
  const Val a = typed_matrix(self, dtype);
  if (is_zero_by_convention(ord, a, d)) {
    const Val sums =
        t.call1("linalg_vector_norm", {a, t.literal(Scalar(1)), Dims{d.rows, d.columns}, keepdim});
    return full_like(sums, Scalar(0));
  }
  return extreme_of_sums(t, a, ord, d, keepdim);
}

Val named_matrix_norm(Tracer& t, const Val& self, const std::string& ord, const Dims& dim,
                      bool keepdim, const std::optional<DType>& dtype) {
  require(ord == "fro" || ord == "nuc", ErrorCode::runtime,
          fmt::format("linalg.matrix_norm: Order {} not supported.", ord));
  const MatrixDims d = matrix_dims(self, dim);
  const Val a = typed_matrix(self, dtype);
  if (ord == "nuc") {
    require_full_precision("linalg.matrix_norm", self);
    return norm_by_singular_values(t, a, "sum.dim_IntList", d, keepdim);
  }
  return t.call1("linalg_vector_norm", {a, t.literal(Scalar(2)), Dims{d.rows, d.columns}, keepdim});
}

// Without an order all elements count, or those along the dims; else one dim is a vector's, and two
// are a matrix's.
void require_norm_dims(const Val& x, const std::optional<Dims>& dim, bool has_order) {
  if (dim) {
    require(dim->size() == 1 || dim->size() == 2, ErrorCode::runtime,
            fmt::format("linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{}]",
                        fmt::join(*dim, ", ")));
  } else if (has_order) {
    require(x.rank() == 1 || x.rank() == 2, ErrorCode::runtime,
            fmt::format("linalg.norm: If dim is not specified but ord is, the input must be 1D or "
                        "2D. Got {}D.",
                        x.rank()));
  }
}

}  // namespace

Val linalg_matrix_norm::decompose(Tracer& t, const Val& self, const ScalarArg& ord,
                                  const std::vector<int64_t>& dim, bool keepdim,
                                  const std::optional<DType>& dtype) {
  return matrix_norm_of_order(t, self, ord.known().to_double(), dim, keepdim, dtype);
}

Val linalg_matrix_norm_str_ord::decompose(Tracer& t, const Val& self, const std::string& ord,
                                          const std::vector<int64_t>& dim, bool keepdim,
                                          const std::optional<DType>& dtype) {
  return named_matrix_norm(t, self, ord, dim, keepdim, dtype);
}

Val linalg_norm::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& ord,
                           const std::optional<std::vector<int64_t>>& dim, bool keepdim,
                           const std::optional<DType>& dtype) {
  require_norm_dims(self, dim, ord.has_value());
  const bool matrix = ord && (dim ? dim->size() == 2 : self.rank() == 2);
  if (!matrix) {
    const ScalarArg order = ord ? *ord : t.literal(Scalar(2));
    return linalg_vector_norm::decompose(t, self, order, dim, keepdim, dtype);
  }
  return matrix_norm_of_order(t, self, ord->known().to_double(), dim.value_or(Dims{0, 1}), keepdim,
                              dtype);
}

Val linalg_norm_ord_str::decompose(Tracer& t, const Val& self, const std::string& ord,
                                   const std::optional<std::vector<int64_t>>& dim, bool keepdim,
                                   const std::optional<DType>& dtype) {
  require_norm_dims(self, dim, true);
  return named_matrix_norm(t, self, ord, dim.value_or(Dims{0, 1}), keepdim, dtype);
}

Val nuclear_norm::decompose(Tracer& t, const Val& self, bool keepdim) {
  return named_matrix_norm(t, self, "nuc", {-2, -1}, keepdim, {});
}

Val nuclear_norm_dim::decompose(Tracer& t, const Val& self, const std::vector<int64_t>& dim,
                                bool keepdim) {
  return named_matrix_norm(t, self, "nuc", dim, keepdim, {});
}

}  // namespace primset::decomps
