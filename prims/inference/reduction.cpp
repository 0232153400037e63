// Reductions, scans, sort and check.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

Types reduced(const Call& c) {
  const Ints& dims = c.attr<Ints>("dims");
  c.require_shared(valid_dims(dims, c.rank(0)), "_c1: dims are dims of x");
  return {{c.dtype(0), without_dims(c.shape(0), dims)}};
}

Types reduce_number(const Call& c) {
  c.require_shared(!is_bool(c.dtype(0)), "_c2: x is a number");
  return reduced(c);
}

Types reduce_real(const Call& c) {
  c.require_shared(is_real(c.dtype(0)), "_c2: x is not complex");
  return reduced(c);
}

Types reduce_bits(const Call& c) {
  c.require_shared(is_integral(c.dtype(0)) || is_bool(c.dtype(0)), "_c2: x is integral or bool");
  return reduced(c);
}

int64_t scanned_dim(const Call& c) {
  int64_t dim = c.attr<int64_t>("dim");
  c.require_shared(valid_dims({dim}, c.rank(0)), "_c1: dim is a dim of x");
  return dim;
}

Types arg_reduce(const Call& c) {
  int64_t dim = scanned_dim(c);
  c.require_shared(is_real(c.dtype(0)), "_c2: x is not complex");
  return {{DType::i64, without_dims(c.shape(0), {dim})}};
}

Types scan_number(const Call& c) {
  scanned_dim(c);
  c.require_shared(!is_bool(c.dtype(0)), "_c2: x is a number");
  return {c.type(0)};
}

Types scan_extreme(const Call& c) {
  scanned_dim(c);
  c.require_shared(is_real(c.dtype(0)), "_c2: x is not complex");
  return {c.type(0), {DType::i64, c.shape(0)}};
}

Types sort(const Call& c) {
  scanned_dim(c);
  c.attr<bool>("descending");
  c.require(is_real(c.dtype(0)), "sort_c2: keys are not complex");
  Types types{c.type(0)};
  for (size_t i = 1; i < c.count(); ++i) {
    c.require(equal_shapes(c.shape(i), c.shape(0)), "sort_c3: payloads have the keys' shape");
    types.push_back(c.type(i));
  }
  return types;
}

Types check(const Call& c) {
  c.require(is_bool(c.dtype(0)), "check_c1: p is bool");
  c.require(equal_shapes(c.shape(0), c.shape(1)), "check_c2: value has p's shape");
  c.attr<std::string>("code");
  c.attr<std::string>("message");
  return {};
}

}  // namespace

void add_reduction_rules(RuleTable& t) {
  t.set({Prim::reduce_sum, Prim::reduce_prod}, reduce_number);
  t.set({Prim::reduce_min, Prim::reduce_max}, reduce_real);
  t.set({Prim::reduce_and, Prim::reduce_or, Prim::reduce_xor}, reduce_bits);
  t.set({Prim::argmin, Prim::argmax}, arg_reduce);
  t.set({Prim::scan_sum, Prim::scan_prod}, scan_number);
  t.set({Prim::scan_min, Prim::scan_max}, scan_extreme);
  t.set(Prim::sort, sort);
  t.set(Prim::check, check);
}

}  // namespace primset::prims
