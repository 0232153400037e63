#include "decomps/primitives/linalg/matrices.h"

#include "decomps/engine/engine.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::mat {

SymInts batch_of(const SymInts& shape) {
  return {shape.begin(), shape.end() - 2};
}

Val as_matrices(const Val& a) {
  return reshape(a, {prims::product(batch_of(a.shape())), a.size(-2), a.size(-1)});
}

Val zero_index(Tracer& t) {
  return t.constant(Scalar(0), index_type(t));
}

std::vector<ValueId> starts(std::initializer_list<Val> numbers) {
  std::vector<ValueId> out;
  for (const Val& n : numbers) out.push_back(convert(n, DType::i64).id());
  return out;
}

Val block(const Val& x, const Val& row, const Val& column, const SymInts& sizes) {
  Tracer& t = x.tracer();
  return t.wrap(t.builder().dynamic_slice(x.id(), starts({zero_index(t), row, column}), sizes));
}

Val updated(const Val& x, const Val& part, const Val& row, const Val& column) {
  Tracer& t = x.tracer();
  return t.wrap(
      t.builder().dynamic_update_slice(x.id(), part.id(), starts({zero_index(t), row, column})));
}

Val row_numbers(const Val& x) {
  return x.tracer().iota(x.shape(), 1, index_type(x.tracer()));
}

Val column_numbers(const Val& x) {
  return x.tracer().iota(x.shape(), 2, index_type(x.tracer()));
}

Val transposed(const Val& a) {
  return transpose(a, {0, 2, 1});
}

Val adjoint(const Val& a) {
  return transposed(conj(a));
}

Val product(const Val& a, const Val& b) {
  Tracer& t = a.tracer();
  return t.wrap(t.builder().dot_general(a.id(), b.id(), {2}, {1}, {0}, {0}, a.dtype()));
}

Val identity(Tracer& t, const SymInt& count, const SymInt& order, DType dtype) {
  const SymInts shape = {count, order, order};
  const Val row = t.iota(shape, 1, index_type(t)), column = t.iota(shape, 2, index_type(t));
  return convert(eq(row, column), dtype);
}

Val padded(const Val& a, const SymInt& rows, const SymInt& columns) {
  Tracer& t = a.tracer();
  const SymInts none(3, SymInt(0)), high = {0, rows - a.size(1), columns - a.size(2)};
  if (known_equal(high[1], 0) == true && known_equal(high[2], 0) == true) return a;
  const Val zero = t.constant(Scalar(0), a.dtype());
  return t.wrap(t.builder().pad(a.id(), zero.id(), none, high, none));
}

Val padded_by_identity(const Val& a, const SymInt& order) {
  const Val out = padded(a, order, order), row = row_numbers(out);
  const Val behind = ge(row, full_like(row, a.size(1)));
  return where(behind & eq(row, column_numbers(out)), full_like(out, Scalar(1)), out);
}

Val cut(const Val& a, const SymInt& rows, const SymInt& columns) {
  return slice(slice(a, 1, 0, rows, 1), 2, 0, columns, 1);
}

Val pivot_magnitude(const Val& x) {
  if (!is_complex(x.dtype())) return math::abs(x);
  return math::abs(real(x)) + math::abs(imag(x));
}

Val divided(const Val& x, const Val& real_divisor) {
  if (!is_complex(x.dtype())) return x / real_divisor;
  return complex(real(x) / real_divisor, imag(x) / real_divisor);
}

std::vector<Val> loop(Tracer& t, const SymInt& count, const std::vector<Val>& carried,
                      const Body& body, int64_t stacked) {
  std::vector<prims::ValueType> params = {{DType::i64, {}}};
  for (const Val& v : carried) params.push_back({v.dtype(), v.shape()});
  const auto region = t.region(params, [&](const std::vector<Val>& v) {
    return body(convert(v[0], index_type(t)), {v.begin() + 1, v.end()});
  });
  return t.prim(Prim::for_loop, carried, {{"count", count}, {"stacked", stacked}}, {region});
}

Val first_true(const Val& p) {
  Tracer& t = p.tracer();
  const Val place = t.iota(p.shape(), 1, DType::i32) + Scalar(1);
  const Val none = full_like(place, Scalar(std::numeric_limits<int32_t>::max()));
  const Val first = reduce(Prim::reduce_min, where(p, place, none), {1}, false);
  return where(eq(first, full_like(first, Scalar(std::numeric_limits<int32_t>::max()))),
               full_like(first, Scalar(0)), first);
}

}  // namespace primset::decomps::mat
