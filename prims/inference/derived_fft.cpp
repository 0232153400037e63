// Discrete Fourier transforms.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

// Where the half of a spectrum lies that says all of it.
size_t halved_dim(const Call& c) {
  const Ints& dims = c.attr<Ints>("dims");
  c.require_shared(!dims.empty(), "_c1: there is a dim to transform");
  return static_cast<size_t>(dims.back());
}

void require_transformed(const Call& c) {
  c.require_signature_dtypes();
  c.require_shared(valid_dims(c.attr<Ints>("dims"), c.rank(0)), "_c1: dims are dims of x");
}

Types fft_c2c(const Call& c) {
  require_transformed(c);
  return {c.type(0)};
}

Types fft_r2c(const Call& c) {
  require_transformed(c);
  SymInts shape = c.shape(0);
  SymInt& size = shape[halved_dim(c)];
  size = floor_div(size, 2) + 1;
  return {{c.result_dtype(0), shape}};
}

Types fft_c2r(const Call& c) {
  require_transformed(c);
  SymInts shape = c.shape(0);
  SymInt& size = shape[halved_dim(c)];
  const SymInt& n = c.attr<SymInt>("n");
  c.require(size == floor_div(n, 2) + 1, "fft_c2r_c2: x has n / 2 + 1 elements along its last dim");
  size = n;
  return {{c.result_dtype(0), shape}};
}

}  // namespace

void add_derived_fft_rules(RuleTable& t) {
  t.set(Prim::fft_c2c, primset::prims::fft_c2c);
  t.set(Prim::fft_r2c, primset::prims::fft_r2c);
  t.set(Prim::fft_c2r, primset::prims::fft_c2r);
}

}  // namespace primset::prims
