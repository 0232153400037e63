// Products of vectors.
#include "decomps/operators/linalg.h"

#include <fmt/format.h>

#include <array>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

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
  require_floating_or_complex("linalg.vecdot", x);
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
