// Arithmetic between values: promotion, broadcasting, then one primitive.
#include "decomps/engine/arithmetic.h"

#include <array>

#include "decomps/engine/apply.h"
#include "decomps/engine/complex/complex.h"
#include "decomps/engine/decomposition.h"
#include "decomps/engine/promotion.h"

namespace primset::decomps {
namespace {

struct Pair {
  Val a, b;
};

// Whether `wide` has every number of the floating or complex dtype `narrow`.
bool holds_all_of(DType wide, DType narrow) {
  if (is_complex(wide) != is_complex(narrow)) return false;
  const DType w = real_type(wide), n = real_type(narrow);
  if (!is_floating(w) || !is_floating(n)) return false;
  return w == DType::f64 || (w == DType::f32 && n != DType::f64);
}

Pair broadcast_pair(const Val& a, const Val& b) {
  const std::array<SymInts, 2> shapes = {a.shape(), b.shape()};
  const SymInts shape = broadcast_shapes(shapes);
  return {broadcast_to(a, shape), broadcast_to(b, shape)};
}

Pair unified(const Val& a, const Val& b) {
  const std::array<PromotionOperand, 2> operands = {operand_of(a), operand_of(b)};
  const DType common = a.dtype() == b.dtype() ? a.dtype() : result_type(operands);
  return broadcast_pair(convert(a, common), convert(b, common));
}

// A literal beside a value: of the value's dtype, but that a fraction makes integers floating.
Pair with_literal(const Val& x, Scalar s) {
  DType t = x.dtype();
  if (s.is_complex() && !is_complex(t)) t = complex_type(t);
  if (s.is_floating() && !is_complex(t) && !is_floating(t)) t = DType::f32;
  if (!s.is_bool() && is_bool(t)) t = s.is_integral() ? DType::i64 : t;
  const Val v = convert(x, t);
  return {v, full_like(v, s)};
}

Val compare(Prim p, const Val& a, const Val& b) {
  const Pair v = unified(a, b);
  if (is_complex(v.a.dtype())) return complex_binary(p, v.a, v.b);
  return v.a.tracer().prim1(p, {v.a, v.b});
}

}  // namespace

Val convert(const Val& x, DType to) {
  if (x.dtype() == to) return x;
  Tracer& t = x.tracer();
  const prims::Graph& graph = t.builder().graph();
  const prims::NodeId made_by = graph.producer(x.id());
  if (made_by != prims::Graph::kNoNode && graph.node(made_by).prim == Prim::convert) {
    const ValueId before = graph.node(made_by).operands[0];
    // There and back changes nothing.
    if (graph.type(before).dtype == to && holds_all_of(x.dtype(), to)) return t.wrap(before);
  }
  return t.wrap(t.builder().convert(x.id(), to));
}

Val opmath(const Val& x) {
  return convert(x, opmath_type(x.dtype()));
}

Val wide_opmath(const Val& x) {
  if (!x.tracer().device().fast_f64) return opmath(x);
  if (x.dtype() == DType::f32) return convert(x, DType::f64);
  return x.dtype() == DType::c64 ? convert(x, DType::c128) : opmath(x);
}

Val unary(Prim p, const Val& x) {
  if (is_complex(x.dtype())) return complex_unary(p, x);
  return x.tracer().prim1(p, {x});
}

Val binary(Prim p, const Val& x, const Val& y) {
  const Pair v = unified(x, y);
  if (is_complex(v.a.dtype())) return complex_binary(p, v.a, v.b);
  return v.a.tracer().prim1(p, {v.a, v.b});
}

Val power(const Val& a, const Val& b) {
  const DType type = promote_types(a.dtype(), b.dtype());
  if (!is_complex(type)) return binary(Prim::pow, a, b);
  const auto wide = [&](const Val& x) { return wide_opmath(convert(x, type)); };
  return convert(binary(Prim::pow, wide(a), wide(b)), type);
}

// The quotient of x + 1/2 is at least 1 / (2 by) from an integer, which is more than the error of a
// quotient up to limit / by of some units in the last place.
Val quotient(const Val& x, const SymInt& by, const SymInt& limit) {
  constexpr int64_t kExactInF32 = 1 << 20, kExactInF64 = int64_t{1} << 51;
  if (by.is_constant() && by.constant() == 1) return x;
  const bool fast_f64 = x.tracer().device().fast_f64;
  const bool multiplies = by.is_constant() && (x.dtype() == DType::i32 || !fast_f64);
  if (multiplies || !(limit < SymInt(fast_f64 ? kExactInF64 : kExactInF32)))
    return x / full_like(x, by);
  const DType type = limit < SymInt(kExactInF32) ? DType::f32 : DType::f64;
  const Val middle = convert(x, type) + Scalar(0.5);
  return convert(unary(Prim::floor, middle / full_like(middle, by)), x.dtype());
}

Val operator+(const Val& a, const Val& b) {
  return binary(Prim::add, a, b);
}
Val operator-(const Val& a, const Val& b) {
  return binary(Prim::sub, a, b);
}
Val operator*(const Val& a, const Val& b) {
  return binary(Prim::mul, a, b);
}
Val operator/(const Val& a, const Val& b) {
  return binary(Prim::div, a, b);
}
Val operator-(const Val& a) {
  return unary(Prim::neg, a);
}
Val operator&(const Val& a, const Val& b) {
  return binary(Prim::bit_and, a, b);
}
Val operator|(const Val& a, const Val& b) {
  return binary(Prim::bit_or, a, b);
}
Val operator^(const Val& a, const Val& b) {
  return binary(Prim::bit_xor, a, b);
}
Val operator~(const Val& a) {
  return unary(Prim::bit_not, a);
}

#define PRIMSET_WITH_LITERAL(op)            \
  Val operator op(const Val& a, Scalar b) { \
    const Pair v = with_literal(a, b);      \
    return v.a op v.b;                      \
  }                                         \
  Val operator op(Scalar a, const Val& b) { \
    const Pair v = with_literal(b, a);      \
    return v.b op v.a;                      \
  }
PRIMSET_WITH_LITERAL(+)
PRIMSET_WITH_LITERAL(-)
PRIMSET_WITH_LITERAL(*)
PRIMSET_WITH_LITERAL(/)
#undef PRIMSET_WITH_LITERAL

Val eq(const Val& a, const Val& b) {
  return compare(Prim::eq, a, b);
}
Val ne(const Val& a, const Val& b) {
  return ~eq(a, b);
}
Val lt(const Val& a, const Val& b) {
  return compare(Prim::lt, a, b);
}
Val le(const Val& a, const Val& b) {
  return compare(Prim::le, a, b);
}
Val gt(const Val& a, const Val& b) {
  return lt(b, a);
}
Val ge(const Val& a, const Val& b) {
  return le(b, a);
}

#define PRIMSET_COMPARE_LITERAL(f)     \
  Val f(const Val& a, Scalar b) {      \
    const Pair v = with_literal(a, b); \
    return f(v.a, v.b);                \
  }
PRIMSET_COMPARE_LITERAL(eq)
PRIMSET_COMPARE_LITERAL(ne)
PRIMSET_COMPARE_LITERAL(lt)
PRIMSET_COMPARE_LITERAL(le)
PRIMSET_COMPARE_LITERAL(gt)
PRIMSET_COMPARE_LITERAL(ge)
#undef PRIMSET_COMPARE_LITERAL

Val where(const Val& p, const Val& a, const Val& b) {
  const Pair arms = unified(a, b);
  const std::array<SymInts, 2> shapes = {p.shape(), arms.a.shape()};
  const SymInts shape = broadcast_shapes(shapes);
  return p.tracer().prim1(Prim::select, {broadcast_to(p, shape), broadcast_to(arms.a, shape),
                                         broadcast_to(arms.b, shape)});
}

Val full_like(const Val& x, Scalar v) {
  return x.tracer().constant(v, x.dtype(), x.shape());
}

Val full_like(const Val& x, const SymInt& v) {
  return x.tracer().constant(v, x.dtype(), x.shape());
}

Val complex(const Val& re, const Val& im) {
  const Pair v = unified(re, im);
  return re.tracer().prim1(Prim::complex, {v.a, v.b});
}

Val real(const Val& z) {
  return is_complex(z.dtype()) ? z.tracer().prim1(Prim::real, {z}) : z;
}

Val imag(const Val& z) {
  return is_complex(z.dtype()) ? z.tracer().prim1(Prim::imag, {z}) : full_like(z, Scalar(0));
}

Val conj(const Val& z) {
  return is_complex(z.dtype()) ? complex(real(z), -imag(z)) : z;
}

Val logical(const Val& x) {
  return convert(x, DType::boolean);
}

Val is_nan(const Val& x) {
  if (!is_floating(x.dtype()) && !is_complex(x.dtype()))
    return x.tracer().constant(Scalar(false), DType::boolean, x.shape());
  return ne(x, x);
}

}  // namespace primset::decomps
