// Two-sided Jacobi: rotations of rows and columns make a Hermitian matrix diagonal. Against
// tridiagonal QR it takes more operations, but all of a round are independent of each other, where
// tridiagonal QR has a chain of n^2 rotations of two numbers.
#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/jacobi.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {

using namespace linalg;  // NOLINT: its words are those of this file

namespace {

// The lower triangle and its mirror image, [batch, n, n].
Numbers hermitian(const Numbers& a) {
  const Val row = row_index(a.re), column = column_index(a.re);
  Numbers whole = where(lt(column, row), a, adjoint(a));
  whole.re = where(eq(column, row), a.re, whole.re);
  if (whole.im) whole.im = where(eq(column, row), full_like(*whole.im, 0.0), *whole.im);
  return whole;
}

// Entries (i, i), (n/2 + i, n/2 + i) and (i, n/2 + i) of a [n, batch, n]: [n/2, batch].
struct PairEntries {
  Val a, b;
  Numbers g;
};
PairEntries pair_entries(const Numbers& a) {
  Tracer& t = a.tracer();
  const SymInt n = a.shape()[0], half = prims::floor_div(n, 2);
  const Val first = t.iota({half}, 0, index_type(t)),
            second = first + t.constant(half, index_type(t));
  const auto entries = [&](const Val& part, const Val& row, const Val& column) {
    return t.wrap(t.builder().gather(part.id(), {row.id(), column.id()}, {0, 2}, true, "index"));
  };
  return {entries(a.re, first, first), entries(a.re, second, second),
          each(a, [&](const Val& x) { return entries(x, first, second); })};
}

// G* a G with all moved on. The entries that the rotations take away are made exactly 0, so that
// rounding does not keep them above what counts as nothing.
Numbers rotated_matrix(const Numbers& a, const Factors& f, const Seats& s) {
  const auto columns_as_rows = [](const Numbers& x) {
    return each(x, [](const Val& part) { return transpose(part, {2, 1, 0}); });
  };
  const Factors of_rows{f.own, conj(f.partner)};
  const Numbers once = rotated(a, of_rows, s);
  const Numbers twice = columns_as_rows(rotated(columns_as_rows(once), f, s));
  const Val pair = unsqueeze(unsqueeze(s.pair, 1), 2), other = unsqueeze(unsqueeze(s.pair, 0), 0);
  const Val first = unsqueeze(unsqueeze(s.in_first_half, 1), 2),
            other_first = unsqueeze(unsqueeze(s.in_first_half, 0), 0);
  const Val taken_away =
      eq(pair, other) & (first ^ other_first) & ne(unsqueeze(magnitude(f.partner), 2), Scalar(0.0));
  return where(taken_away, zeros_like(twice), twice);
}

struct Diagonalized {
  Numbers a, vectors;  // as rows
  Val converged;
};

Diagonalized diagonalized(const Numbers& start, const Val& negligible, bool vectors) {
  Tracer& t = start.tracer();
  const SymInts shape = start.shape();
  const bool complex = start.is_complex();
  const Seats order = seats(t, shape[0]);
  const auto round = [&](const Val&, const Values& v) {
    size_t next = 0;
    const Numbers now = take(v, next, complex);
    const PairEntries e = pair_entries(now);
    const Rotations r = rotations(e.a, e.b, e.g, gt(magnitude(e.g), negligible));
    const Factors f = factors(r, order);
    Values results;
    append(results, rotated_matrix(now, f, order));
    if (vectors) append(results, rotated(take(v, next, complex), f, order));
    results.push_back(v[next] | r.any);
    return results;
  };
  const auto sweep = [&](const Values& v) {
    Values carried(v.begin(), v.end() - 2);
    carried.push_back(t.constant(false, DType::boolean));
    Values results = for_loop(t, shape[0] - 1, carried, round);
    results.push_back(v.back() + Scalar(1));
    return results;
  };
  Values carried;
  append(carried, start);
  if (vectors) append(carried, identity_rows(start, shape[0], shape[1]));
  carried.push_back(t.constant(true, DType::boolean));
  carried.push_back(t.constant(Scalar(0), index_type(t)));
  const Values last = while_loop(
      t, carried,
      [](const Values& v) { return v[v.size() - 2] & lt(v.back(), Scalar(kMostSweeps)); }, sweep);
  size_t next = 0;
  Diagonalized out;
  out.a = take(last, next, complex);
  if (vectors) out.vectors = take(last, next, complex);
  out.converged = ~last[last.size() - 2];
  return out;
}

struct Eigen {
  Val values, vectors, info;  // in one batch
};

Eigen eigen_of(const Val& given, bool vectors) {
  Tracer& t = given.tracer();
  const Numbers a = hermitian(parts_of(in_one_batch(given)));
  const SymInt n = given.size(-1), even = even_count(n);
  const Val greatest = reduce(Prim::reduce_max, magnitude(a), {1, 2}, false);
  const Numbers as_rows = each(a, [](const Val& x) { return transpose(x, {1, 0, 2}); });
  const Numbers start = padded(padded(as_rows, 0, even), 2, even);
  const Diagonalized d =
      diagonalized(start, unsqueeze(greatest, 0) * Scalar(epsilon(greatest.dtype()) / 2), vectors);

  const Val place = t.iota({n}, 0, index_type(t));
  const Val values =
      t.wrap(t.builder().gather(d.a.re.id(), {place.id(), place.id()}, {0, 2}, true, "index"));
  const Val finite = math::is_finite(greatest);
  // What LAPACK says of a matrix that no iteration makes diagonal.
  const Val code = t.constant(n - 1, DType::i32);
  const Val failed = ~(d.converged & finite) & gt(code, Scalar(1));
  const Val info = where(failed, code, full_like(code, Scalar(0)));
  const auto of_finite = [&](const Val& x, const Val& where_finite) {
    return where(where_finite, x, full_like(x, math::kNan));
  };
  if (!vectors) {
    const Val sorted = t.wrap(t.builder().sort({values.id()}, 0, false)[0]);
    return {of_finite(transpose(sorted, {1, 0}), unsqueeze(finite, 1)), {}, info};
  }
  const Numbers own =
      each(d.vectors, [&](const Val& x) { return slice(slice(x, 0, 0, n, 1), 2, 0, n, 1); });
  const Ordered found = ordered(values, own, false);
  const Numbers columns = each(found.vectors, [&](const Val& x) {
    return of_finite(transpose(x, {1, 2, 0}), unsqueeze(unsqueeze(finite, 1), 2));
  });
  return {of_finite(transpose(found.keys, {1, 0}), unsqueeze(finite, 1)), joined_parts(columns),
          info};
}

}  // namespace

std::tuple<Val, Val, Val> eigh::decompose(Tracer& t, const Val& a, bool vectors) {
  const SymInts batch = batch_dims(a);
  SymInts values = batch, none = a.shape();
  values.push_back(a.size(-1));
  none.back() = 0;
  const Val no_vectors = t.constant(Scalar(0.0), a.dtype(), none);
  if (a.is_empty()) {
    return {t.constant(Scalar(0.0), real_type(a.dtype()), values), vectors ? a : no_vectors,
            t.constant(Scalar(0), DType::i32, batch)};
  }
  const Eigen e = eigen_of(a, vectors);
  return {reshape(e.values, values), vectors ? in_batches(e.vectors, batch) : no_vectors,
          reshape(e.info, batch)};
}

}  // namespace primset::decomps::prim
