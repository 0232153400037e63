#include "decomps/operators/linalg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_number_type(const char* op, DType t, const char* rest = "") {
  require(is_floating(t) || is_complex(t), ErrorCode::runtime,
          fmt::format("{}: Expected a floating point or complex tensor as input. Got {}{}", op,
                      aten_name(t), rest));
}

// The dtype asked for holds what the input holds.
void require_wider(DType from, DType to) {
  require(is_floating(to) || is_complex(to), ErrorCode::runtime,
          fmt::format("linalg.vector_norm: dtype should be floating point or complex, but got {}",
                      aten_name(to)));
  require(is_complex(from) == is_complex(to), ErrorCode::runtime,
          fmt::format("linalg.vector_norm: dtype should be {} for {} inputs, but got {}",
                      is_complex(from) ? "complex" : "real", is_complex(from) ? "complex" : "real",
                      aten_name(to)));
  require(promote_types(from, to) == to, ErrorCode::runtime,
          fmt::format("linalg.vector_norm: the dtype of the input ({}) should be convertible "
                      "without narrowing to the specified dtype ({})",
                      aten_name(from), aten_name(to)));
}

// Norms of order infinity and below 0 have no value for nothing.
void require_some(const Val& x, const std::vector<int64_t>& dims, double ord) {
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
  require_number_type("linalg.vector_norm", self.dtype());
  if (dtype) require_wider(self.dtype(), *dtype);
  const std::vector<int64_t> dims =
      wrap_dims(dim.value_or(std::vector<int64_t>{}), self.rank(), true);
  const double order = ord.known().to_double();
  require_some(self, dims, order);
  const Val v = dtype ? convert(self, *dtype) : self;
  const Val a = is_complex(v.dtype()) ? unary(Prim::abs, v) : v;
  const Val r = t.prim1(Prim::vector_norm, {a}, {{"p", Scalar(order)}, {"dims", dims}});
  return keepdim ? restore_dims(r, self.shape(), dims) : r;
}

namespace {

// --- cholesky ---

void require_factorable(const char* op, const Val& a) {
  require(a.rank() >= 2, ErrorCode::runtime,
          fmt::format("{}: The input tensor A must have at least 2 dimensions.", op));
  require(a.size(-1) == a.size(-2), ErrorCode::runtime,
          fmt::format("{}: A must be batches of square matrices, but they are {} by {} matrices",
                      op, a.size(-2).hint(), a.size(-1).hint()));
  require_number_type(op, a.dtype());
  if (is_half(a.dtype())) not_implemented_for("cholesky_cpu", a.dtype());
}

void check_factored(const char* op, const Val& info) {
  const std::string where = info.rank() == 0 ? "" : "(Batch element) ";
  check(eq(info, Scalar(0)), convert(info, DType::i64), ErrorCode::linalg,
        fmt::format("{}: {}The factorization could not be completed because the input is not "
                    "positive-definite (the leading minor of order {{value}} is not "
                    "positive-definite).",
                    op, where));
}

struct Factored {
  Val factor, info;
};

Factored factored(Tracer& t, const char* op, const Val& a, bool upper) {
  require_factorable(op, a);
  const auto out = t.prim(Prim::cholesky, {a}, {{"upper", upper}});
  return {out[0], out[1]};
}

}  // namespace

std::tuple<Val, Val> linalg_cholesky_ex::decompose(Tracer& t, const Val& self, bool upper,
                                                   bool check_errors) {
  const Factored f = factored(t, "linalg.cholesky", self, upper);
  if (check_errors) check_factored("linalg.cholesky_ex", f.info);
  return {f.factor, f.info};
}

Val linalg_cholesky::decompose(Tracer& t, const Val& self, bool upper) {
  const Factored f = factored(t, "linalg.cholesky", self, upper);
  check_factored("linalg.cholesky", f.info);
  return f.factor;
}

Val cholesky::decompose(Tracer& t, const Val& self, bool upper) {
  if (self.is_empty()) return self;  // of any sizes
  const Factored f = factored(t, "cholesky", self, upper);
  check_factored("cholesky", f.info);
  return f.factor;
}

namespace {

// --- products of vectors ---

struct Vectors {
  Val a, b;
};

Vectors broadcast_vectors(const Val& a, const Val& b) {
  const std::array<PromotionOperand, 2> operands = {
      PromotionOperand{a.dtype(), PromotionOperand::Category::dimensioned},
      PromotionOperand{b.dtype(), PromotionOperand::Category::dimensioned}};
  const DType type = result_type(operands);
  const std::array<SymInts, 2> shapes = {a.shape(), b.shape()};
  const SymInts shape = broadcast_shapes(shapes);
  return {broadcast_to(convert(a, type), shape), broadcast_to(convert(b, type), shape)};
}

Val part(const Val& x, int64_t dim, int64_t index) {
  return slice(x, dim, SymInt(index), SymInt(index + 1), 1);
}

Val cross_product(const Val& self, const Val& other, int64_t dim) {
  require(self.rank() == other.rank(), ErrorCode::runtime,
          fmt::format("linalg.cross: inputs must have the same number of dimensions."));
  const int64_t d = wrap_dim(dim, self.rank());
  require(self.size(dim) == SymInt(3) && other.size(dim) == SymInt(3), ErrorCode::runtime,
          fmt::format("linalg.cross: inputs dimension {} must have length 3. Got {} and {}", dim,
                      self.size(dim).hint(), other.size(dim).hint()));
  const Vectors v = broadcast_vectors(self, other);
  // ATen rounds both products.
  std::vector<Val> rows;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3, k = (i + 2) % 3;
    rows.push_back(part(v.a, d, j) * part(v.b, d, k) - part(v.a, d, k) * part(v.b, d, j));
  }
  return concatenate(rows, d);
}

// What cumprod makes the powers of x: 1, x, x, ...
Val powers(Tracer& t, const Val& x, const SymInt& count) {
  SymInts shape = x.shape();
  shape.push_back(count);
  const Val base = broadcast_to(unsqueeze(x, -1), shape);
  const Val first = eq(t.iota(shape, x.rank(), DType::i64), Scalar(0));
  return where(first, full_like(base, Scalar(1)), base);
}

}  // namespace

Val linalg_cross::decompose(Tracer& t, const Val& self, const Val& other, int64_t dim) {
  return cross_product(self, other, dim);
}

Val linalg_vecdot::decompose(Tracer& t, const Val& x, const Val& y, int64_t dim) {
  require(is_floating(x.dtype()) || is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format("linalg.vecdot: Expected a floating point or complex tensor as input. Got {}",
                      aten_name(x.dtype())));
  const Vectors v = broadcast_vectors(x, y);
  const int64_t d = wrap_dim(dim, v.a.rank());
  const Val terms = opmath(conj(v.a)) * opmath(v.b);
  const Val sum = terms.rank() == 0 ? terms : reduce(Prim::reduce_sum, terms, {d}, false);
  return convert(sum, v.a.dtype());
}

// Without a dim the first of size 3.
Val cross::decompose(Tracer& t, const Val& self, const Val& other,
                     const std::optional<int64_t>& dim) {
  if (dim) return cross_product(self, other, *dim);
  for (int64_t d = 0; d < self.rank(); ++d) {
    if (self.size(d) == SymInt(3)) return cross_product(self, other, d);
  }
  fail(ErrorCode::runtime, "no dimension of size 3 in input");
}

// 1, x, x^2, ... as a new last dim.
Val linalg_vander::decompose(Tracer& t, const Val& x, const std::optional<SymInt>& n) {
  const bool takes = is_integral(x.dtype()) || ((is_floating(x.dtype()) || is_complex(x.dtype())) &&
                                                bits(x.dtype()) > 16 && x.dtype() != DType::c32);
  require(takes, ErrorCode::runtime,
          fmt::format("linalg.vander supports floating point, complex, and integer tensors, but "
                      "got {}",
                      aten_name(x.dtype())));
  const Val base = at_least_1d(x);
  const SymInt count = n.value_or(base.size(-1));
  require(count > SymInt(1), ErrorCode::runtime, "N must be greater than 1.");
  return t.call1("cumprod", {powers(t, base, count), int64_t{-1}});
}

}  // namespace primset::decomps
