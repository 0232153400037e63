// Factorisations by orthogonal transformations.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

SymInts leading_dims(const Call& c) {
  return {c.shape(0).begin(), c.shape(0).end() - 2};
}

SymInts with(SymInts shape, std::initializer_list<SymInt> last) {
  shape.insert(shape.end(), last);
  return shape;
}

void require_square(const Call& c) {
  c.require_signature_dtypes();
  const size_t r = c.rank(0);
  c.require_shared(r >= 2 && c.shape(0)[r - 1] == c.shape(0)[r - 2], "_c1: matrices are square");
}

// Rows, columns, and the lesser of them.
struct Sizes {
  SymInt m, n, k;
};
Sizes sizes_of(const Call& c) {
  const size_t r = c.rank(0);
  c.require_shared(r >= 2, "_c1: a is a matrix or a batch of them");
  const SymInt &m = c.shape(0)[r - 2], &n = c.shape(0)[r - 1];
  return {m, n, min(m, n)};
}

Types qr(const Call& c) {
  c.require_signature_dtypes();
  const Sizes s = sizes_of(c);
  return {c.type(0), {c.dtype(0), with(leading_dims(c), {s.k})}};
}

// v is [..., m, n] and tau [..., k] with k <= n <= m.
void require_reflectors(const Call& c) {
  c.require_signature_dtypes();
  const Sizes s = sizes_of(c);
  const SymInts& tau = c.shape(1);
  c.require_shared(tau.size() + 1 == c.rank(0) &&
                       equal_shapes(SymInts(tau.begin(), tau.end() - 1), leading_dims(c)),
                   "_c2: tau has a row for each matrix");
  c.require_shared(s.n.hint() <= s.m.hint() && tau.back().hint() <= s.n.hint(),
                   "_c3: there are at most as many reflectors as columns, and columns as rows");
}

Types householder_product(const Call& c) {
  require_reflectors(c);
  return {c.type(0)};
}

Types apply_reflectors(const Call& c) {
  require_reflectors(c);
  const size_t r = c.rank(0);
  const SymInts& to = c.shape(2);
  c.require(to.size() == r && equal_shapes(SymInts(to.begin(), to.end() - 2), leading_dims(c)),
            "apply_reflectors_c4: c has the batch dims of v");
  c.require(to[c.attr<bool>("left") ? r - 2 : r - 1] == c.shape(0)[r - 2],
            "apply_reflectors_c5: c has the size of Q where they meet");
  return {c.type(2)};
}

Types svd(const Call& c) {
  c.require_signature_dtypes();
  const Sizes s = sizes_of(c);
  const SymInts batch = leading_dims(c);
  const bool full = c.attr<bool>("full"), vectors = c.attr<bool>("vectors");
  const SymInt columns = !vectors ? SymInt(0) : full ? s.m : s.k;
  const SymInt rows = !vectors ? SymInt(0) : full ? s.n : s.k;
  return {{c.dtype(0), with(batch, {s.m, columns})},
          {c.result_dtype(1), with(batch, {s.k})},
          {c.dtype(0), with(batch, {rows, s.n})},
          {DType::i32, batch}};
}

// eigh, eig
Types eigen(const Call& c) {
  require_square(c);
  const SymInts batch = leading_dims(c);
  const SymInt& n = c.shape(0).back();
  const SymInt columns = c.attr<bool>("vectors") ? n : SymInt(0);
  return {{c.result_dtype(0), with(batch, {n})},
          {c.result_dtype(1), with(batch, {n, columns})},
          {DType::i32, batch}};
}

}  // namespace

void add_orthogonal_rules(RuleTable& t) {
  t.set(Prim::qr, qr);
  t.set(Prim::householder_product, householder_product);
  t.set(Prim::apply_reflectors, apply_reflectors);
  t.set(Prim::svd, svd);
  t.set({Prim::eigh, Prim::eig}, eigen);
}

}  // namespace primset::prims
