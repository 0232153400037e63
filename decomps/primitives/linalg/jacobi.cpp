#include "decomps/primitives/linalg/jacobi.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::linalg {

SymInt even_count(const SymInt& n) {
  return ceil_div(n, 2) * 2;
}

// With z = (b - a) / 2 |g| the smaller solution of t^2 + 2 z t = 1 is the tangent.
Rotations rotations(const Val& a, const Val& b, const Numbers& g, const Val& wanted) {
  const Val modulus = magnitude(g);
  const Val divisor = where(wanted, modulus, full_like(modulus, 1.0));
  const Val z = (b - a) / (divisor * Scalar(2.0));
  const Val root = math::sqrt(z * z + Scalar(1.0));
  const Val tangent = Scalar(1.0) / (math::abs(z) + root);
  const Val rotated = where(lt(z, Scalar(0.0)), -tangent, tangent);
  const Val used = where(wanted, rotated, full_like(rotated, 0.0));
  const Val cosine = Scalar(1.0) / math::sqrt(used * used + Scalar(1.0));
  const Numbers sine =
      phase(where_or_zero(wanted, g), where(wanted, modulus, full_like(modulus, 0.0)));
  return {cosine, sine * (used * cosine), reduce(Prim::reduce_or, wanted, {0, 1}, false)};
}

// The first stays; the second comes from the other half's beginning; that half moves down, and its
// last seat is taken by the last of the first half.
Seats seats(Tracer& t, const SymInt& n) {
  const SymInt half = prims::floor_div(n, 2);
  const Val place = t.iota({n}, 0, index_type(t));
  const auto is = [&](const SymInt& i) { return eq(place, t.constant(i, index_type(t))); };
  const auto number = [&](const SymInt& i) { return full_like(place, i); };
  const Val middle = t.constant(half, index_type(t));
  const Val next = where(lt(place, middle), place - Scalar(1), place + Scalar(1));
  const Val from =
      where(is(0), place, where(is(1), number(half), where(is(n - 1), number(half - 1), next)));
  const Val first = lt(from, middle);
  return {from, where(first, from + middle, from - middle), where(first, from, from - middle),
          first};
}

Numbers rows(const Numbers& x, const Val& index) {
  Tracer& t = x.tracer();
  return each(x, [&](const Val& part) {
    return t.wrap(t.builder().gather(part.id(), {index.id()}, {0}, true, "index"));
  });
}

Factors factors(const Rotations& r, const Seats& s) {
  const Val first = unsqueeze(s.in_first_half, 1);
  const Numbers sine = rows(r.sine, s.pair);
  return {rows({r.cosine, {}}, s.pair).re, where(first, -conj(sine), sine)};
}

Numbers rotated(const Numbers& vectors, const Factors& f, const Seats& s) {
  const Numbers partner = each(f.partner, [](const Val& x) { return unsqueeze(x, 2); });
  return rows(vectors, s.from) * unsqueeze(f.own, 2) + partner * rows(vectors, s.partner);
}

Ordered ordered(const Val& keys, const Numbers& vectors, bool descending) {
  Tracer& t = keys.tracer();
  const Val place = t.iota(keys.shape(), 0, index_type(t));
  const std::vector<ValueId> sorted = t.builder().sort({keys.id(), place.id()}, 0, descending);
  const Val batch = t.iota(keys.shape(), 1, index_type(t));
  return {t.wrap(sorted[0]), each(vectors, [&](const Val& part) {
            return t.wrap(
                t.builder().gather(part.id(), {sorted[1], batch.id()}, {0, 1}, true, "index"));
          })};
}

Numbers identity_rows(const Numbers& like, const SymInt& n, const SymInt& batch) {
  Tracer& t = like.tracer();
  const SymInts shape = {n, batch, n};
  const Val one = eq(t.iota(shape, 0, index_type(t)), t.iota(shape, 2, index_type(t)));
  return real_numbers(convert(one, like.re.dtype()), like.is_complex());
}

}  // namespace primset::decomps::linalg
