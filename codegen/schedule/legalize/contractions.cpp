#include "codegen/schedule/legalize/contractions.h"

#include <algorithm>
#include <numeric>

#include "codegen/schedule/tuning/contraction_tiles.h"
#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::SymInt;
using prims::SymInts;

namespace {

// The dims of a product as one domain: [batch, rows, contracted, columns]. Where one operand is a
// vector a CPU has the contracted dims last: their sum is then that of rows, which may lie along
// memory or side by side.
struct ProductDomain {
  SymInts shape;
  Ints a_dims, b_dims;  // by operand dimension: which of the domain
  Ints contracted;      // of the domain
  SymInt products = 1;  // that a matrix takes
  bool one_row = false, one_column = false;
};

// `dims` of an operand become the domain's next ones.
void append_dims(ProductDomain& domain, const SymInts& shape, const Ints& dims, Ints& domain_dims) {
  for (int64_t d : dims) {
    domain_dims[static_cast<size_t>(d)] = static_cast<int64_t>(domain.shape.size());
    domain.shape.push_back(shape[static_cast<size_t>(d)]);
  }
}

// `dims` of an operand are the domain's from `first` on.
void map_dims(const Ints& dims, size_t first, Ints& domain_dims) {
  for (size_t k = 0; k < dims.size(); ++k)
    domain_dims[static_cast<size_t>(dims[k])] = static_cast<int64_t>(first + k);
}

ProductDomain product_domain(const Op& op, const SymInts& a, const SymInts& b, bool simt) {
  const ContractionRoles ar = contraction_roles(op.node, 0, a.size()),
                         br = contraction_roles(op.node, 1, b.size());
  ProductDomain d;
  d.a_dims.resize(a.size());
  d.b_dims.resize(b.size());
  append_dims(d, a, ar.batch, d.a_dims);
  map_dims(br.batch, 0, d.b_dims);
  append_dims(d, a, ar.free, d.a_dims);
  d.one_row = size_of(a, ar.free).same(SymInt(1));
  d.one_column = size_of(b, br.free).same(SymInt(1));
  const bool contracted_last = !simt && (d.one_row || d.one_column);
  if (contracted_last) append_dims(d, b, br.free, d.b_dims);
  d.contracted.resize(ar.contract.size());
  std::iota(d.contracted.begin(), d.contracted.end(), static_cast<int64_t>(d.shape.size()));
  map_dims(br.contract, d.shape.size(), d.b_dims);
  append_dims(d, a, ar.contract, d.a_dims);
  if (!contracted_last) append_dims(d, b, br.free, d.b_dims);
  d.products = prims::product(std::span<const SymInt>(d.shape).subspan(ar.batch.size()));
  return d;
}

// What products of `operands` are added up in where the primitive says `said`. Those of narrower
// operands are rounded to fewer digits anyway.
DType product_dtype(Legalizer& l, DType said, DType operands, const SymInt& products) {
  const bool single = said == operands && (said == DType::f32 || said == DType::c64);
  if (!single || !l.target().fast_f64() || !(products < SymInt(kFewProducts))) return said;
  return is_complex(said) ? DType::c128 : DType::f64;
}

// An operand over the whole domain. broadcast_in_dim wants rising dims: the operand's are brought
// into the domain's order first.
ValueId over_domain(Builder& b, ValueId v, DType dtype, const Ints& dims, const SymInts& shape) {
  Ints order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) { return dims[static_cast<size_t>(i)]; });
  Ints rising;
  for (int64_t d : order) rising.push_back(dims[static_cast<size_t>(d)]);
  return b.broadcast_in_dim(b.transpose(b.convert(v, dtype), order), shape, rising);
}

// Products of complex numbers are four of reals.
ValueId sum_of_products(Legalizer& l, ValueId x, ValueId y, const Ints& dims) {
  Builder& b = l.builder();
  if (!is_complex(b.dtype(x))) return l.reduce_sum(b.binary(Prim::mul, x, y), dims);
  const ValueId xr = b.real(x), xi = b.imag(x), yr = b.real(y), yi = b.imag(y);
  const ValueId re = b.binary(Prim::sub, b.binary(Prim::mul, xr, yr), b.binary(Prim::mul, xi, yi));
  const ValueId im = b.binary(Prim::add, b.binary(Prim::mul, xr, yi), b.binary(Prim::mul, xi, yr));
  const ValueId re_sum = l.reduce_sum(re, dims);
  return b.complex(re_sum, l.reduce_sum(im, dims));
}

}  // namespace

std::optional<Values> expand_contraction(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::dot_general) return std::nullopt;
  Builder& b = l.builder();
  const ValueId x = op.operands[0], y = op.operands[1];
  if (tiles_contraction(op.node, b.shape(x), b.shape(y), l.machine())) {
    // Each operand is read once for every tile that the other one has.
    l.note_reused(x);
    l.note_reused(y);
    return std::nullopt;
  }
  const ProductDomain d = product_domain(op, b.shape(x), b.shape(y), l.target().simt);
  const DType said = op.attr<DType>("accumulate");
  const DType accumulate = product_dtype(l, said, b.dtype(x), d.products);
  if (!d.one_column) l.note_reused(x);
  if (!d.one_row) l.note_reused(y);
  const ValueId left = over_domain(b, x, accumulate, d.a_dims, d.shape);
  const ValueId right = over_domain(b, y, accumulate, d.b_dims, d.shape);
  return Values{b.convert(sum_of_products(l, left, right, d.contracted), said)};
}

}  // namespace primset::schedule
