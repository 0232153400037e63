// Elementwise primitives: operands of one shape and, unless said otherwise, one dtype.
#include "prims/graph/signature.h"
#include "prims/graph/traits.h"
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

void require_one_shape(const Call& c) {
  for (size_t i = 1; i < c.count(); ++i) {
    c.require_shared(equal_shapes(c.shape(0), c.shape(i)), "_c1: operands have one shape");
  }
}

void require_one_dtype(const Call& c) {
  for (size_t i = 1; i < c.count(); ++i) {
    c.require_shared(c.dtype(0) == c.dtype(i), "_c2: operands have one dtype");
  }
}

Types any_dtype(const Call& c) {
  require_one_shape(c);
  require_one_dtype(c);
  return {c.type(0)};
}

Types floating(const Call& c) {
  c.require_shared(is_floating(c.dtype(0)), "_c3: operands are floating");
  return any_dtype(c);
}

Types real_number(const Call& c) {
  c.require_shared(is_real(c.dtype(0)), "_c3: operands are not complex");
  return any_dtype(c);
}

Types number(const Call& c) {
  c.require_shared(!is_bool(c.dtype(0)), "_c3: operands are not bool");
  return any_dtype(c);
}

Types integral(const Call& c) {
  c.require_shared(is_integral(c.dtype(0)), "_c3: operands are integers");
  return any_dtype(c);
}

Types integral_or_bool(const Call& c) {
  c.require_shared(is_integral(c.dtype(0)) || is_bool(c.dtype(0)),
                   "_c3: operands are integers or bool");
  return any_dtype(c);
}

Types equality(const Call& c) {
  any_dtype(c);
  return {{DType::boolean, c.shape(0)}};
}

Types ordering(const Call& c) {
  real_number(c);
  return {{DType::boolean, c.shape(0)}};
}

Types select(const Call& c) {
  require_one_shape(c);
  c.require(c.dtype(0) == DType::boolean, "select_c2: the predicate is bool");
  c.require(c.dtype(1) == c.dtype(2), "select_c3: both arms have one dtype");
  return {{c.dtype(1), c.shape(0)}};
}

void add_core(RuleTable& t) {
  using enum Prim;
  t.set({neg, sub, div}, number);
  t.set({abs, sign, rem, min, max}, real_number);
  t.set({floor, ceil, trunc, round_even, exp,  expm1,      log,  log1p, sin,   cos,
         tan,   atan, tanh,  erf,        erfc, normal_cdf, exp2, log2,  log10, atan2},
        floating);
  t.set({sqrt}, floating);
  t.set({add, mul, fma}, any_dtype);
  t.set(pow, real_number);
  t.set({bit_not, bit_and, bit_or, bit_xor}, integral_or_bool);
  t.set({shift_left, shift_right, mul_high}, integral);
  t.set(eq, equality);
  t.set({lt, le}, ordering);
  t.set(Prim::select, primset::prims::select);
}

// Derived primitives say in their signature all that there is to know.
Types by_signature(const Call& c) {
  require_one_shape(c);
  c.require_signature_dtypes();
  Types types;
  for (size_t i = 0; i < signature(c.prim).results.size(); ++i) {
    types.push_back({c.result_dtype(i), c.shape(0)});
  }
  return types;
}

}  // namespace

void add_elementwise_rules(RuleTable& t) {
  for (int i = 0; i < prim_count(); ++i) {
    auto p = static_cast<Prim>(i);
    if (is_elementwise(p) && info(p).tier == Tier::derived) t.set(p, by_signature);
  }
  add_core(t);
}

}  // namespace primset::prims
