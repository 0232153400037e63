#include "decomps/primitives/linalg/reflectors.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::linalg {
namespace {

// The lengths of the columns of x [batch, rows, 1], without overflow in between.
Val length(const Numbers& x) {
  const auto norm = [](const Val& part) {
    return unsqueeze(part.tracer().prim1(Prim::vector_norm, {part},
                                         {{"p", Scalar(2.0)}, {"dims", std::vector<int64_t>{1}}}),
                     1);
  };
  return x.im ? math::hypot(norm(x.re), norm(*x.im)) : norm(x.re);
}

Numbers first_along(const Numbers& x, int64_t dim, const SymInt& count) {
  return each(x, [&](const Val& part) { return slice(part, dim, 0, count, 1); });
}

}  // namespace

// LAPACK's larfg. With beta = -sign(re alpha) |column| and tau = (beta - alpha) / beta it divides
// by alpha - beta = -beta tau, where |tau| is at least 1.
Reflector reflector(const Numbers& column, const Val& row) {
  Tracer& t = column.tracer();
  const Val zero = index_constant(t, 0), place = row_index(column.re);
  const Val below_row = lt(row, place);
  const Numbers alpha = block(column, {zero, row, zero}, {column.shape()[0], 1, 1});
  const Numbers below = where_or_zero(below_row, column);
  const Val rest = length(below);
  Val nothing = eq(rest, Scalar(0.0));
  if (alpha.im) nothing = nothing & eq(*alpha.im, Scalar(0.0));

  const Val whole = math::hypot(magnitude(alpha), rest);
  const Val signed_length = where(lt(alpha.re, Scalar(0.0)), whole, -whole);
  const Val beta = where(nothing, alpha.re, signed_length);
  const Val divisor = where(nothing, full_like(beta, 1.0), beta);
  Numbers tau = -alpha / divisor;
  tau.re = tau.re + Scalar(1.0);
  tau = where(nothing, zeros_like(tau), tau);
  const Val square = where(nothing, full_like(beta, 1.0), squared_magnitude(tau));
  const Numbers inverse = -conj(tau) / square;

  const Numbers scaled = (below / divisor) * inverse;
  Numbers v = where_or_zero(below_row, scaled);
  v.re = where(eq(place, row), full_like(v.re, 1.0), v.re);
  return {v, tau, beta};
}

namespace {

// One column of a panel is reduced, and the columns behind it are reflected.
struct Panel {
  Numbers a, tau;
};

Numbers with_next_column(const Numbers& a, const Val& j, const Val& row, const SymInt& count,
                         Numbers& tau) {
  Tracer& t = a.tracer();
  const SymInts shape = a.shape();
  const Val zero = index_constant(t, 0);
  const Numbers column = block(a, {zero, zero, j}, {shape[0], shape[1], 1});
  Reflector h = reflector(column, row);
  const Val exists = lt(row, t.constant(count, index_type(t)));
  h.tau = where_or_zero(exists, h.tau);
  tau = h.tau;

  const Numbers products = matrix_product(adjoint(h.v), a);
  const Numbers behind = a - h.v * (conj(h.tau) * products);
  const Val place = row_index(a.re), columns = column_index(a.re);
  const Numbers diagonal = real_numbers(h.beta, a.is_complex());
  const Numbers own = where(eq(place, row), diagonal, where(lt(row, place), h.v, column));
  const Numbers reduced = where(lt(j, columns), behind, where(eq(columns, j), own, a));
  return where(exists, reduced, a);
}

// The first `steps` columns of a panel [batch, rows, columns] whose diagonal begins in first_row;
// there are `count` reflectors in all.
Panel factored_panel(const Numbers& a, const Val& first_row, const SymInt& steps,
                     const SymInt& count) {
  Tracer& t = a.tracer();
  const bool complex = a.is_complex();
  Values carried;
  append(carried, a);
  const auto body = [&](const Val& j, const Values& v) {
    size_t next = 0;
    Numbers tau;
    const Numbers now = take(v, next, complex);
    Values results;
    append(results, with_next_column(now, j, first_row + j, count, tau));
    append(results, each(tau, [](const Val& x) { return reshape(x, {x.size(0)}); }));
    return results;
  };
  const Values last = for_loop(t, steps, carried, body, complex ? 2 : 1);
  size_t next = 0;
  const Numbers panel = take(last, next, complex);
  const Numbers tau = take(last, next, complex);
  return {panel, each(tau, [](const Val& x) { return transpose(x, {1, 0}); })};
}

}  // namespace

Numbers unit_lower(const Numbers& packed, const Val& first_row) {
  const Val diagonal = column_index(packed.re) + first_row, place = row_index(packed.re);
  Numbers v = where_or_zero(lt(diagonal, place), packed);
  v.re = where(eq(diagonal, place), full_like(v.re, 1.0), v.re);
  return v;
}

// Column j is -tau_j T V* v_j, of the columns before it, and tau_j on the diagonal.
Numbers triangular_factor(const Numbers& v, const Numbers& tau) {
  Tracer& t = v.tracer();
  const Numbers overlaps = matrix_product(adjoint(v), v);
  const SymInts shape = overlaps.shape();
  const Val zero = index_constant(t, 0);
  const bool complex = v.is_complex();
  const Numbers factors = each(tau, [](const Val& x) { return unsqueeze(x, 2); });
  Values carried;
  append(carried, zeros_like(overlaps));
  const auto body = [&](const Val& j, const Values& values) {
    size_t next = 0;
    const Numbers before = take(values, next, complex);
    const Numbers own = block(overlaps, {zero, zero, j}, {shape[0], shape[1], 1});
    const Numbers factor = block(factors, {zero, j, zero}, {shape[0], 1, 1});
    const Numbers above = -(matrix_product(before, own) * factor);
    const Val place = row_index(above.re);
    const Numbers column = where(lt(place, j), above, where_or_zero(eq(place, j), factor));
    Values results;
    append(results, with_block(before, column, {zero, zero, j}));
    return results;
  };
  const Values last = for_loop(t, shape[1], carried, body);
  size_t next = 0;
  return take(last, next, complex);
}

Numbers reflected(const Numbers& v, const Numbers& factor, const Numbers& c, bool adjoint) {
  const Numbers inner = matrix_product(linalg::adjoint(v), c);
  return c - matrix_product(v, matrix_product(adjoint ? linalg::adjoint(factor) : factor, inner));
}

// Block after block; of Q c the last one first.
Numbers times_q(const Numbers& v, const Numbers& tau, const Numbers& c, bool adjoint) {
  Tracer& t = v.tracer();
  const Val zero = index_constant(t, 0);
  const SymInt count = tau.shape()[1], width = kBlockWidth;
  if (known_equal(count, 0) == true) return c;
  if (count <= width) {
    const Numbers whole = unit_lower(first_along(v, 2, count), zero);
    return reflected(whole, triangular_factor(whole, tau), c, adjoint);
  }
  const SymInt blocks = ceil_div(count, width);
  const Numbers packed = padded(first_along(v, 2, count), 2, blocks * width);
  const Numbers factors = padded(tau, 1, blocks * width);
  const SymInts shape = packed.shape();
  const bool complex = c.is_complex();
  Values carried;
  append(carried, c);
  const auto body = [&](const Val& i, const Values& values) {
    size_t next = 0;
    const Numbers now = take(values, next, complex);
    const Val at = (adjoint ? i : t.constant(blocks - 1, index_type(t)) - i) * Scalar(kBlockWidth);
    const Numbers columns = block(packed, {zero, zero, at}, {shape[0], shape[1], width});
    const Numbers own = unit_lower(columns, at);
    const Numbers factor = triangular_factor(own, block(factors, {zero, at}, {shape[0], width}));
    Values results;
    append(results, reflected(own, factor, now, adjoint));
    return results;
  };
  const Values last = for_loop(t, blocks, carried, body);
  size_t next = 0;
  return take(last, next, complex);
}

namespace {

// A panel of kBlockWidth columns is factored, then the columns behind it are reflected at once.
struct Round {
  Numbers a, tau;
};
Round with_next_panel(const Numbers& a, const Val& at, const SymInt& count) {
  Tracer& t = a.tracer();
  const SymInts shape = a.shape();
  const Val zero = index_constant(t, 0);
  const SymInt width = kBlockWidth;
  const Numbers columns = block(a, {zero, zero, at}, {shape[0], shape[1], width});
  const Panel panel = factored_panel(columns, at, width, count);
  const Numbers v = unit_lower(panel.a, at);
  const Numbers behind = reflected(v, triangular_factor(v, panel.tau), a, true);
  const Val end = at + Scalar(kBlockWidth);
  const Numbers updated = where(ge(column_index(a.re), end), behind, a);
  return {with_block(updated, panel.a, {zero, zero, at}), panel.tau};
}

}  // namespace

PackedQr packed_qr(const Numbers& a) {
  Tracer& t = a.tracer();
  const SymInts shape = a.shape();
  const SymInt count = min(shape[1], shape[2]), width = kBlockWidth;
  if (count <= width) {
    const Panel panel = factored_panel(a, index_constant(t, 0), count, count);
    return {panel.a, panel.tau};
  }
  const bool complex = a.is_complex();
  const SymInt blocks = ceil_div(count, width);
  const SymInt columns = max(shape[2], blocks * width);
  Values carried;
  append(carried, padded(a, 2, columns));
  const auto body = [&](const Val& i, const Values& values) {
    size_t next = 0;
    const Round r = with_next_panel(take(values, next, complex), i * Scalar(kBlockWidth), count);
    Values results;
    append(results, r.a);
    append(results, r.tau);
    return results;
  };
  const Values last = for_loop(t, blocks, carried, body, complex ? 2 : 1);
  size_t next = 0;
  const Numbers packed = first_along(take(last, next, complex), 2, shape[2]);
  // [blocks, batch, width] as [batch, count].
  const Numbers tau = each(take(last, next, complex), [&](const Val& x) {
    return slice(reshape(transpose(x, {1, 0, 2}), {shape[0], blocks * width}), 1, 0, count, 1);
  });
  return {packed, tau};
}

}  // namespace primset::decomps::linalg
