#include "decomps/primitives/elementwise/complex_parts.h"
#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/schur.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {

using namespace linalg;  // NOLINT: its words are those of this file

namespace {

Numbers quotient(const Numbers& a, const Numbers& b) {
  const math::Parts q = math::complex_div({a.re, *a.im}, {b.re, *b.im});
  return {q.re, q.im};
}

// The diagonal of matrices: [batch, 1, n].
Numbers diagonal_row(const Numbers& a) {
  const Val same = eq(row_index(a.re), column_index(a.re));
  return each(where_or_zero(same, a),
              [](const Val& x) { return reduce(Prim::reduce_sum, x, {1}, true); });
}

// Eigenvectors of an upper triangular T as columns, by back substitution for all at once: row i of
// (T - t_jj) x = 0 from those below it. Columns are kept no greater than 1, and a divisor that
// vanishes is replaced by one that rounding explains, as LAPACK's trevc does.
Numbers triangular_eigenvectors(const Numbers& matrix, const Val& greatest) {
  Tracer& t = matrix.tracer();
  const SymInts shape = matrix.shape();
  const SymInt n = shape[1];
  const Val zero = t.constant(Scalar(0), index_type(t));
  const Val row = row_index(matrix.re), column = column_index(matrix.re);
  const Numbers upper = where_or_zero(lt(row, column), matrix), values = diagonal_row(matrix);
  const double tiny = greatest.dtype() == DType::f64 ? 0x1p-900 : 0x1p-100;
  const Val least =
      math::max(unsqueeze(unsqueeze(greatest, 1), 2) * Scalar(epsilon(greatest.dtype())),
                full_like(unsqueeze(unsqueeze(greatest, 1), 2), tiny));
  Values carried;
  const Val identity = convert(broadcast_to(eq(row, column), shape), matrix.re.dtype());
  append(carried, real_numbers(identity, true));
  const auto body = [&](const Val& step, const Values& v) {
    size_t next = 0;
    const Numbers x = take(v, next, true);
    const Val i = t.constant(n - 2, index_type(t)) - step;
    const Numbers known = matrix_product(block(upper, {zero, i, zero}, {shape[0], 1, n}), x);
    const Numbers apart = block(values, {zero, zero, i}, {shape[0], 1, 1}) - values;
    const Val vanishes = lt(magnitude(apart), least);
    const Numbers divisor =
        where(vanishes, real_numbers(broadcast_to(least, apart.shape()), true), apart);
    const Numbers own = where_or_zero(lt(i, column), -quotient(known, divisor));
    const Val size = math::max(magnitude(own), full_like(own.re, 1.0));
    Values results;
    append(results, where(eq(row, i) & lt(i, column), own, x) / size);
    return results;
  };
  const Values last = for_loop(t, n - 1, carried, body);
  size_t next = 0;
  return take(last, next, true);
}

// Columns of length 1 whose greatest entry is real, as LAPACK gives them.
Numbers normalized(const Numbers& columns) {
  Tracer& t = columns.tracer();
  const Val size = magnitude(columns);
  const Val greatest = reduce(Prim::reduce_max, size, {1}, true);
  const Val safe = where(gt(greatest, Scalar(0.0)), greatest, full_like(greatest, 1.0));
  const Numbers scaled = columns / safe;
  const Val length = math::sqrt(reduce(Prim::reduce_sum, squared_magnitude(scaled), {1}, true));
  const Val at = unsqueeze(
      convert(t.wrap(t.builder().arg_reduce(Prim::argmax, size.id(), 1)), index_type(t)), 1);
  const Val is_greatest = eq(row_index(size), at);
  const Numbers entry = each(where_or_zero(is_greatest, scaled),
                             [](const Val& x) { return reduce(Prim::reduce_sum, x, {1}, true); });
  Numbers turned = scaled * conj(phase(entry, magnitude(entry))) / length;
  turned.im = where(is_greatest, full_like(*turned.im, 0.0), *turned.im);
  return turned;
}

// Of a real matrix an eigenvalue is taken for real where its imaginary part is no more than
// rounding, and then its vector.
Val is_real_value(const Numbers& values, const Val& greatest, const SymInt& n) {
  const Val size =
      convert(values.tracer().constant(n, index_type(values.tracer())), greatest.dtype());
  const Val limit = greatest * size * Scalar(epsilon(greatest.dtype()));
  return le(math::abs(*values.im), unsqueeze(limit, 1));
}

Numbers with_real_columns(Numbers vectors, const Val& of_real_value) {
  constexpr double kRounding = 64;
  const Val most = reduce(Prim::reduce_max, math::abs(*vectors.im), {1}, true);
  const Val limit = full_like(most, kRounding * epsilon(most.dtype()));
  const Val dropped = unsqueeze(of_real_value, 1) & le(most, limit);
  vectors.im = where(dropped, full_like(*vectors.im, 0.0), *vectors.im);
  return vectors;
}

struct General {
  Val values, vectors, info;
};

General general_eigen(const Val& given, bool vectors) {
  Tracer& t = given.tracer();
  const bool of_real = !primset::is_complex(given.dtype());
  const Numbers parts = parts_of(in_one_batch(given));
  const Numbers whole = of_real ? real_numbers(parts.re, true) : parts;
  const SymInt n = given.size(-1);
  const Val unscaled = reduce(Prim::reduce_max, magnitude(whole), {1, 2}, false);
  const Val scale = scale_against_overflow(unscaled), greatest = unscaled / scale;
  const Numbers a = whole / unsqueeze(unsqueeze(scale, 1), 2);
  const Schur s = schur(a);
  const Numbers matrix = s.form.matrix();
  Numbers values = each(diagonal_row(matrix), [](const Val& x) { return squeeze(x, 1); });
  Val real_value;
  if (of_real) {
    real_value = is_real_value(values, greatest, n);
    values.im = where(real_value, full_like(*values.im, 0.0), *values.im);
  }
  values = values * unsqueeze(scale, 1);
  const Val failed = t.constant(n, DType::i32);
  const Val info = where(math::is_finite(greatest), convert(s.unfinished, DType::i32), failed);
  if (!vectors) return {joined_parts(values), {}, info};
  Numbers x =
      normalized(matrix_product(s.form.unitary(), triangular_eigenvectors(matrix, greatest)));
  if (of_real) x = with_real_columns(x, real_value);
  return {joined_parts(values), joined_parts(x), info};
}

}  // namespace

std::tuple<Val, Val, Val> eig::decompose(Tracer& t, const Val& a, bool vectors) {
  const SymInts batch = batch_dims(a);
  const DType type = complex_type(a.dtype());
  SymInts values = batch, none = a.shape();
  values.push_back(a.size(-1));
  none.back() = 0;
  const Val no_vectors = t.constant(Scalar(0.0), type, none);
  if (a.is_empty()) {
    return {t.constant(Scalar(0.0), type, values), vectors ? convert(a, type) : no_vectors,
            t.constant(Scalar(0), DType::i32, batch)};
  }
  const General g = general_eigen(a, vectors);
  return {reshape(g.values, values), vectors ? in_batches(g.vectors, batch) : no_vectors,
          reshape(g.info, batch)};
}

}  // namespace primset::decomps::prim
