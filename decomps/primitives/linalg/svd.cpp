// One-sided Jacobi after a QR factorisation (Drmac and Veselic, "New fast and accurate Jacobi SVD
// algorithm"): A = Q R, and rotations J make the columns of R* orthogonal, R* J = V S. Then
// R = J S V*, and A = (Q J) S V*.
#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/jacobi.h"
#include "decomps/primitives/linalg/reflectors.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {

using namespace linalg;  // NOLINT: its words are those of this file

namespace {

// Vectors are rows, [n, batch, length]: a column of R*, and behind it the same column of J.
struct Products {
  Val a, b;
  Numbers g;
};

Products products_of_pairs(const Numbers& columns, const SymInt& length) {
  const SymInt n = columns.shape()[0], half = prims::floor_div(n, 2);
  const auto part = [&](const SymInt& from, const SymInt& to) {
    return each(columns,
                [&](const Val& x) { return slice(slice(x, 0, from, to, 1), 2, 0, length, 1); });
  };
  const Numbers x = part(0, half), y = part(half, n);
  return {sum({squared_magnitude(x), {}}, 2).re, sum({squared_magnitude(y), {}}, 2).re,
          sum(conj(x) * y, 2)};
}

// A pair is orthogonal when its product is as small as rounding makes it; a column that is nothing
// beside the whole matrix need not be, since it is replaced in the end.
Val pairs_to_rotate(const Products& p, const Val& negligible, const SymInt& n) {
  Tracer& t = p.a.tracer();
  const double eps = epsilon(p.a.dtype());
  const Val tolerance =
      math::sqrt(convert(t.constant(n, index_type(t)), p.a.dtype())) * Scalar(eps);
  const Val sizes = math::sqrt(p.a) * math::sqrt(p.b);
  return gt(magnitude(p.g), sizes * tolerance) & gt(math::min(p.a, p.b), negligible);
}

Numbers orthogonalized(const Numbers& start, const SymInt& length, const Val& negligible,
                       Val& converged) {
  Tracer& t = start.tracer();
  const SymInt n = start.shape()[0];
  const bool complex = start.is_complex();
  const Seats order = seats(t, n);
  const auto round = [&](const Val&, const Values& v) {
    size_t next = 0;
    const Numbers now = take(v, next, complex);
    const Products p = products_of_pairs(now, length);
    const Rotations r = rotations(p.a, p.b, p.g, pairs_to_rotate(p, negligible, n));
    Values results;
    append(results, rotated(now, factors(r, order), order));
    results.push_back(v[next] | r.any);
    return results;
  };
  const auto sweep = [&](const Values& v) {
    Values carried(v.begin(), v.end() - 2);
    carried.push_back(t.constant(false, DType::boolean));
    Values results = for_loop(t, n - 1, carried, round);
    results.push_back(v.back() + Scalar(1));
    return results;
  };
  Values carried;
  append(carried, start);
  carried.push_back(t.constant(true, DType::boolean));
  carried.push_back(t.constant(Scalar(0), index_type(t)));
  const Values last = while_loop(
      t, carried,
      [](const Values& v) { return v[v.size() - 2] & lt(v.back(), Scalar(kMostSweeps)); }, sweep);
  converged = ~last[last.size() - 2];
  size_t next = 0;
  return take(last, next, complex);
}

// Rows of length 1 that span what `rows` do, where they are not nothing, and otherwise any others:
// of the QR factorisation of orthogonal columns Q has these columns but for their sign.
Numbers orthonormal_rows(const Numbers& columns, const Val& lengths, const Val& enough) {
  const Val known = gt(lengths, enough), size = unsqueeze(lengths, 2);
  const Val divisor = where(unsqueeze(known, 2), size, full_like(size, 1.0));
  const Numbers units = where_or_zero(unsqueeze(known, 2), columns / divisor);
  // [n, batch, length] as [batch, length, n]
  const Numbers v = each(units, [](const Val& x) { return transpose(x, {1, 2, 0}); });
  const PackedQr packed = packed_qr(v);
  const Val diagonal = eq(row_index(packed.v.re), column_index(packed.v.re));
  const Val entries = where(diagonal, packed.v.re, full_like(packed.v.re, 0.0));
  const Val sign = where(lt(reduce(Prim::reduce_sum, entries, {1}, true), Scalar(0.0)),
                         full_like(slice(entries, 1, 0, 1, 1), -1.0),
                         full_like(slice(entries, 1, 0, 1, 1), 1.0));
  const Numbers identity =
      real_numbers(convert(broadcast_to(diagonal, v.shape()), v.re.dtype()), v.is_complex());
  return transposed(times_q(packed.v, packed.tau, identity, false) * sign);
}

// Of the matrices a, with at least as many rows as columns.
struct TallSvd {
  Numbers u, vh;
  Val s, converged;
};

// J's columns in order [batch, n, n] as columns of U: Q J, with further columns of Q where they are
// wanted.
Numbers left_vectors(const PackedQr& qr, const Numbers& j, const SymInt& columns) {
  const Numbers tall = padded(padded(j, 1, qr.v.shape()[1]), 2, columns);
  const Val diagonal =
      eq(row_index(tall.re), column_index(tall.re)) &
      ge(row_index(tall.re), j.tracer().constant(j.shape()[1], index_type(j.tracer())));
  Numbers whole = tall;
  whole.re = where(diagonal, full_like(tall.re, 1.0), tall.re);
  return times_q(qr.v, qr.tau, whole, false);
}

// Numbers along the last dim of vectors.
Numbers entries(const Numbers& vectors, const SymInt& from, const SymInt& to) {
  return each(vectors, [&](const Val& x) { return slice(x, 2, from, to, 1); });
}

// The columns of R* as rows, and where vectors are wanted those of the identity behind them.
Numbers first_columns(const PackedQr& qr, bool vectors) {
  const SymInts shape = qr.v.shape();
  const SymInt n = shape[2], even = even_count(n);
  const Numbers top = each(qr.v, [&](const Val& x) { return slice(x, 1, 0, n, 1); });
  // Row i of conj(R) is column i of R*.
  const Numbers r = where_or_zero(le(row_index(top.re), column_index(top.re)), conj(top));
  const Numbers columns =
      padded(each(r, [](const Val& x) { return transpose(x, {1, 0, 2}); }), 0, even);
  if (!vectors) return columns;
  return each(columns, identity_rows(columns, even, shape[0]),
              [](const Val& x, const Val& y) { return concatenate({x, y}, 2); });
}

TallSvd tall_svd(const Numbers& a, bool full, bool vectors) {
  const SymInts shape = a.shape();
  const SymInt m = shape[1], n = shape[2], even = even_count(n);
  const double eps = epsilon(a.re.dtype());
  const PackedQr qr = packed_qr(a);
  const Numbers start = first_columns(qr, vectors);
  const Val squares = squared_magnitude(entries(start, 0, n));
  const Val norm = math::sqrt(unsqueeze(reduce(Prim::reduce_sum, squares, {0, 2}, false), 0));
  Val converged;
  const Numbers turned = orthogonalized(start, n, norm * norm * Scalar(eps * eps), converged);
  const Numbers last = each(turned, [&](const Val& x) { return slice(x, 0, 0, n, 1); });
  const Val lengths = math::sqrt(sum({squared_magnitude(entries(last, 0, n)), {}}, 2).re);
  const Ordered found = ordered(lengths, last, true);
  TallSvd out{{}, {}, transpose(found.keys, {1, 0}), converged};
  if (!vectors) return out;
  out.vh = conj(orthonormal_rows(entries(found.vectors, 0, n), found.keys, norm * Scalar(4 * eps)));
  const Numbers j = each(entries(found.vectors, n, n + even), [&](const Val& x) {
    return slice(transpose(x, {1, 2, 0}), 1, 0, n, 1);  // [batch, n, n]
  });
  out.u = left_vectors(qr, j, full ? m : n);
  return out;
}

struct Svd {
  Val u, s, vh, info;
};

Svd svd_of(const Val& given, bool full, bool vectors) {
  Tracer& t = given.tracer();
  const Numbers a = parts_of(in_one_batch(given));
  const Val sizes = a.im ? math::max(math::abs(a.re), math::abs(*a.im)) : math::abs(a.re);
  const Val greatest = reduce(Prim::reduce_max, sizes, {1, 2}, false);  // NaN wins
  const Val scale = scale_against_overflow(greatest);
  const Numbers scaled = a / unsqueeze(unsqueeze(scale, 1), 2);
  const bool wide = a.shape()[1] < a.shape()[2];
  TallSvd r = tall_svd(wide ? adjoint(scaled) : scaled, full, vectors);

  const Val finite = math::is_finite(greatest);
  const auto code = [&](int64_t v) { return t.constant(Scalar(v), DType::i32); };
  const Val nan = ne(greatest, greatest);
  const Val info = where(nan, code(1), where(r.converged, code(0), code(2)));
  const Val s = r.s * unsqueeze(scale, 1);
  Svd out{
      {}, where(unsqueeze(finite, 1), s, full_like(s, math::kNan)), {}, convert(info, DType::i32)};
  if (!vectors) return out;
  out.u = joined_parts(wide ? adjoint(r.vh) : r.u);
  out.vh = joined_parts(wide ? adjoint(r.u) : r.vh);
  return out;
}

// [batch..., rows, columns] with ones on the diagonal.
Val identity(Tracer& t, DType dtype, SymInts batch, const SymInt& rows, const SymInt& columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  const auto rank = static_cast<int64_t>(batch.size());
  return convert(eq(t.iota(batch, rank - 2, index_type(t)), t.iota(batch, rank - 1, index_type(t))),
                 dtype);
}

}  // namespace

// Sizes are those that inference gives the primitive's results: where it says min(m, n), the lesser
// one is known here.
std::tuple<Val, Val, Val, Val> svd::decompose(Tracer& t, const Val& a, bool full, bool vectors) {
  const SymInts batch = batch_dims(a);
  const SymInt m = a.size(-2), n = a.size(-1), k = min(m, n);
  const auto in_batch = [&](std::initializer_list<SymInt> sizes) {
    SymInts shape = batch;
    shape.insert(shape.end(), sizes);
    return shape;
  };
  const SymInt columns = !vectors ? 0 : full ? m : k, rows = !vectors ? 0 : full ? n : k;
  const Val no_u = identity(t, a.dtype(), batch, m, columns),
            no_vh = identity(t, a.dtype(), batch, rows, n);
  if (a.is_empty()) {
    return {no_u, t.constant(Scalar(0.0), real_type(a.dtype()), in_batch({k})), no_vh,
            t.constant(Scalar(0), DType::i32, batch)};
  }
  const Svd r = svd_of(a, full, vectors);
  const Val s = reshape(r.s, in_batch({k})), info = reshape(r.info, batch);
  if (!vectors) return {no_u, s, no_vh, info};
  return {reshape(r.u, in_batch({m, columns})), s, reshape(r.vh, in_batch({rows, n})), info};
}

}  // namespace primset::decomps::prim
