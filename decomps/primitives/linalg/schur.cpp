// QR iteration with a single shift in complex arithmetic (Golub and Van Loan, "Matrix
// Computations", section 7.5). All matrices of a batch sweep at once, each over the block that it
// has still to split: rotations outside of it are the identity.
#include "decomps/primitives/linalg/schur.h"

#include "decomps/primitives/elementwise/complex_parts.h"
#include "decomps/primitives/linalg/reflectors.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::linalg {
namespace {

// After how many sweeps without success a shift of another kind is tried.
constexpr int64_t kPatience = 10;

Numbers upper_rows(const Numbers& x, const SymInt& from, const SymInt& to) {
  return each(x, [&](const Val& part) { return slice(part, 1, from, to, 1); });
}

// x[row_i, column_i] of each matrix: [count, batch].
Numbers entries(const Numbers& x, const Val& row, const Val& column) {
  Tracer& t = x.tracer();
  return each(x, [&](const Val& part) {
    return t.wrap(t.builder().gather(part.id(), {row.id(), column.id()}, {1, 2}, true, "index"));
  });
}

// x[b, row_b, column_b]: [batch].
Numbers entry_of_each(const Numbers& x, const Val& row, const Val& column) {
  Tracer& t = x.tracer();
  const Val batch = t.iota(row.shape(), 0, index_type(t));
  return each(x, [&](const Val& part) {
    return t.wrap(t.builder().gather(part.id(), {batch.id(), row.id(), column.id()}, {0, 1, 2},
                                     true, "index"));
  });
}

Numbers by_matrix(const Numbers& x) {  // [batch] as [batch, 1, 1]
  return each(x, [](const Val& part) { return unsqueeze(unsqueeze(part, 1), 2); });
}

}  // namespace

Numbers Similar::matrix() const {
  return upper_rows(both, 0, n);
}
Numbers Similar::unitary() const {
  return upper_rows(both, n, n * 2);
}

// Step j: a reflector of rows j + 1 and below, from both sides.
Similar hessenberg(const Numbers& a) {
  Tracer& t = a.tracer();
  const SymInts shape = a.shape();
  const SymInt n = shape[1];
  const Val one = eq(row_index(a.re), column_index(a.re));
  const Numbers identity =
      real_numbers(broadcast_to(convert(one, a.re.dtype()), shape), a.is_complex());
  const Numbers start =
      each(a, identity, [](const Val& x, const Val& y) { return concatenate({x, y}, 1); });
  if (n <= SymInt(2)) return {start, n};

  const Val zero = index_constant(t, 0);
  Values carried;
  append(carried, start);
  const auto body = [&](const Val& j, const Values& v) {
    size_t next = 0;
    const Numbers both = take(v, next, true), now = upper_rows(both, 0, n);
    const Numbers column = block(now, {zero, zero, j}, {shape[0], n, 1});
    const Val row = j + Scalar(1);
    const Reflector h = reflector(column, row);
    const Numbers from_left = now - h.v * (conj(h.tau) * matrix_product(adjoint(h.v), now));
    const Val place = row_index(now.re);
    const Numbers own =
        where(eq(place, row), real_numbers(h.beta, true), where_or_zero(lt(place, row), column));
    const Numbers reduced = where(eq(column_index(now.re), j), own, from_left);
    const Numbers whole = each(reduced, upper_rows(both, n, n * 2),
                               [](const Val& x, const Val& y) { return concatenate({x, y}, 1); });
    Values results;
    append(results, whole - matrix_product(whole, h.v) * h.tau * adjoint(h.v));
    return results;
  };
  const Values last = for_loop(t, n - 2, carried, body);
  size_t next = 0;
  return {take(last, next, true), n};
}

namespace {

// The block that a matrix has still to split, [batch]: rows first to last, whose eigenvalues are
// not known; last is 0 when all are.
struct Active {
  Val first, last;
  Val subdiagonal;  // [n - 1, batch]: is the entry at (i + 1, i) more than rounding?
};

Active active_block(const Numbers& matrix, const SymInt& n, const Val& least) {
  Tracer& t = matrix.tracer();
  const Val place = t.iota({n - 1}, 0, index_type(t)), following = place + Scalar(1);
  const Val neighbours =
      magnitude(entries(matrix, place, place)) + magnitude(entries(matrix, following, following));
  const Val limit = math::max(neighbours * Scalar(epsilon(neighbours.dtype())), least);
  const Val active = gt(magnitude(entries(matrix, following, place)), limit);
  const Val end = unsqueeze(following, 1), none = full_like(end, Scalar(0));
  const Val last = reduce(Prim::reduce_max, where(active, end, none), {0}, false);
  const Val before = ~active & lt(end, unsqueeze(last, 0));
  return {reduce(Prim::reduce_max, where(before, end, none), {0}, false), last, active};
}

// The eigenvalue of the last two rows that is nearer to the last entry (Wilkinson's shift); now and
// then one of another kind, against cycles.
Numbers shift(const Numbers& matrix, const Active& block, const Val& tries) {
  const Val last = block.last, before = math::max(last - Scalar(1), full_like(last, Scalar(0)));
  const Numbers a = entry_of_each(matrix, before, before), b = entry_of_each(matrix, before, last),
                c = entry_of_each(matrix, last, before), d = entry_of_each(matrix, last, last);
  const Numbers half = (a - d) * full_like(a.re, 0.5);
  const Numbers square = half * half + b * c;
  const math::Parts found = math::complex_sqrt({square.re, *square.im});
  const Numbers plain{found.re, found.im};
  const Val same_side = ge(half.re * plain.re + *half.im * *plain.im, Scalar(0.0));
  const Numbers sum = half + where(same_side, plain, -plain), product = b * c;
  const Val nothing = eq(magnitude(sum), Scalar(0.0));
  const Numbers divisor = where(nothing, real_numbers(full_like(sum.re, 1.0), true), sum);
  const math::Parts quotient =
      math::complex_div({product.re, *product.im}, {divisor.re, *divisor.im});
  const Numbers usual = d - where_or_zero(~nothing, {quotient.re, quotient.im});
  const Numbers unusual = d + real_numbers(magnitude(c) * Scalar(0.75), true);
  const Val round = binary(Prim::rem, tries, full_like(tries, Scalar(kPatience)));
  return where(eq(round, Scalar(kPatience - 1)), unusual, usual);
}

// Entries (k + 1, k) that are no more than rounding are 0 from now on. Row n is the unitary
// matrix's first and stays as it is.
Numbers split(const Numbers& both, const Val& subdiagonal) {
  const Val behind = full_like(slice(subdiagonal, 0, 0, 1, 1), Scalar(true));
  const Val kept = transpose(concatenate({subdiagonal, behind}, 0), {1, 0});  // [batch, n]
  const Val dropped =
      eq(row_index(both.re), column_index(both.re) + Scalar(1)) & ~unsqueeze(kept, 1);
  return where(dropped, zeros_like(both), both);
}

// Givens' rotation of rows and columns k and k + 1 of each matrix, which takes the entry below the
// subdiagonal on one place, or begins with the shift.
Numbers rotated_at(const Numbers& both, const Val& k, const SymInt& n, const Active& active,
                   const Numbers& start) {
  Tracer& t = both.tracer();
  const SymInt batch = both.shape()[0], rows = both.shape()[1];
  const Val zero = index_constant(t, 0), following = k + Scalar(1);
  const Val before = math::max(k - Scalar(1), zero);
  const Numbers upper = block(both, {zero, k, zero}, {batch, 1, n}),
                lower = block(both, {zero, following, zero}, {batch, 1, n});
  const Val begins = unsqueeze(unsqueeze(eq(active.first, k), 1), 2);
  const Numbers x = where(begins, block(upper, {zero, zero, k}, {batch, 1, 1}) - by_matrix(start),
                          block(upper, {zero, zero, before}, {batch, 1, 1}));
  const Numbers y = where(begins, block(lower, {zero, zero, k}, {batch, 1, 1}),
                          block(lower, {zero, zero, before}, {batch, 1, 1}));
  const Val size_x = magnitude(x), length = math::hypot(size_x, magnitude(y));
  const Val inside = le(active.first, k) & lt(k, active.last);
  const Val turns = unsqueeze(unsqueeze(inside, 1), 2) & gt(length, Scalar(0.0));
  const Val divisor = where(turns, length, full_like(length, 1.0));
  const Val cosine = where(turns, size_x / divisor, full_like(length, 1.0));
  const Numbers sine = where_or_zero(turns, phase(x, size_x) * conj(y) / divisor);

  const Val row = row_index(both.re), column = column_index(both.re);
  const Val taken_away = turns & ~begins & eq(column, before);
  const Numbers new_upper = upper * cosine + sine * lower,
                new_lower =
                    where(taken_away, zeros_like(lower), lower * cosine - conj(sine) * upper);
  const Numbers turned = where(eq(row, k), new_upper, where(eq(row, following), new_lower, both));
  const Numbers left = block(turned, {zero, zero, k}, {batch, rows, 1}),
                right = block(turned, {zero, zero, following}, {batch, rows, 1});
  return where(eq(column, k), left * cosine + conj(sine) * right,
               where(eq(column, following), right * cosine - sine * left, turned));
}

Val wanted(const Values& v) {  // the last active rows, tries
  return reduce(Prim::reduce_or, gt(v[v.size() - 3], Scalar(0)), {0}, false);
}

// What is carried: both matrices, the last active rows, tries of each matrix, and sweeps in all.
Values with_next_sweep(Tracer& t, const Values& v, const SymInt& n, const Val& least) {
  size_t next = 0;
  const Numbers both = take(v, next, true);
  const Val tries = v[next + 1], sweeps = v[next + 2];
  const Active active = active_block(upper_rows(both, 0, n), n, least);
  const Numbers from = split(both, active.subdiagonal);
  const Numbers start = shift(upper_rows(from, 0, n), active, tries);
  Values carried;
  append(carried, from);
  Values results = for_loop(t, n - 1, carried, [&](const Val& k, const Values& now) {
    size_t at = 0;
    Values out;
    append(out, rotated_at(take(now, at, true), k, n, active, start));
    return out;
  });
  next = 0;
  const Numbers swept = upper_rows(take(results, next, true), 0, n);
  const Val last = active_block(swept, n, least).last;
  const Val tried = where(eq(last, active.last), tries + Scalar(1), full_like(tries, Scalar(0)));
  results.insert(results.end(), {last, tried, sweeps + Scalar(1)});
  return results;
}

}  // namespace

Schur schur(const Numbers& a) {
  Tracer& t = a.tracer();
  const SymInt batch = a.shape()[0], n = a.shape()[1];
  const Similar start = hessenberg(a);
  const Val none = t.constant(Scalar(0), index_type(t), {batch});
  if (n == SymInt(1)) return {start, none};
  const Val greatest = reduce(Prim::reduce_max, magnitude(a), {1, 2}, false);
  const double tiny = a.re.dtype() == DType::f64 ? 0x1p-1000 : 0x1p-120;
  const Val least = unsqueeze(
      math::max(greatest * Scalar(epsilon(greatest.dtype()) * 0x1p-10), full_like(greatest, tiny)),
      0);
  const Val most = t.constant(n * 30, index_type(t));
  Values carried;
  append(carried, start.both);
  carried.insert(carried.end(), {active_block(start.matrix(), n, least).last, none,
                                 t.constant(Scalar(0), index_type(t))});
  const Values last = while_loop(
      t, carried, [&](const Values& v) { return wanted(v) & lt(v.back(), most); },
      [&](const Values& v) { return with_next_sweep(t, v, n, least); });
  size_t next = 0;
  const Numbers both = take(last, next, true);
  const Val left = last[next];
  return {{both, n}, where(gt(left, Scalar(0)), left + Scalar(1), left)};
}

}  // namespace primset::decomps::linalg
