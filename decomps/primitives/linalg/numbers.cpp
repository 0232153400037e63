#include "decomps/primitives/linalg/numbers.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::linalg {

Numbers parts_of(const Val& a) {
  return primset::is_complex(a.dtype()) ? Numbers{real(a), imag(a)} : Numbers{a, {}};
}

Val joined_parts(const Numbers& a) {
  return a.im ? complex(a.re, *a.im) : a.re;
}

Numbers each(const Numbers& a, const std::function<Val(const Val&)>& f) {
  return {f(a.re), a.im ? std::optional(f(*a.im)) : std::nullopt};
}

Numbers each(const Numbers& a, const Numbers& b,
             const std::function<Val(const Val&, const Val&)>& f) {
  return {f(a.re, b.re), a.im ? std::optional(f(*a.im, *b.im)) : std::nullopt};
}

Numbers operator+(const Numbers& a, const Numbers& b) {
  return each(a, b, [](const Val& x, const Val& y) { return x + y; });
}
Numbers operator-(const Numbers& a, const Numbers& b) {
  return each(a, b, [](const Val& x, const Val& y) { return x - y; });
}
Numbers operator-(const Numbers& a) {
  return each(a, [](const Val& x) { return -x; });
}
Numbers operator*(const Numbers& a, const Numbers& b) {
  if (!a.im) return {a.re * b.re, {}};
  return {a.re * b.re - *a.im * *b.im, a.re * *b.im + *a.im * b.re};
}
Numbers operator*(const Numbers& a, const Val& real) {
  return each(a, [&](const Val& x) { return x * real; });
}
Numbers operator/(const Numbers& a, const Val& real) {
  return each(a, [&](const Val& x) { return x / real; });
}

Numbers conj(const Numbers& a) {
  return {a.re, a.im ? std::optional(-*a.im) : std::nullopt};
}

Numbers where(const Val& p, const Numbers& a, const Numbers& b) {
  return each(a, b, [&](const Val& x, const Val& y) { return decomps::where(p, x, y); });
}

Numbers where_or_zero(const Val& p, const Numbers& a) {
  return each(a, [&](const Val& x) { return decomps::where(p, x, full_like(x, 0.0)); });
}

Numbers zeros_like(const Numbers& a) {
  return each(a, [](const Val& x) { return full_like(x, 0.0); });
}

Numbers real_numbers(const Val& re, bool complex) {
  return {re, complex ? std::optional(full_like(re, 0.0)) : std::nullopt};
}

Val magnitude(const Numbers& a) {
  return a.im ? math::hypot(a.re, *a.im) : math::abs(a.re);
}

Val squared_magnitude(const Numbers& a) {
  return a.im ? a.re * a.re + *a.im * *a.im : a.re * a.re;
}

Numbers sum(const Numbers& a, int64_t dim) {
  return each(a, [&](const Val& x) { return reduce(Prim::reduce_sum, x, {dim}, false); });
}

Numbers phase(const Numbers& a, const Val& modulus) {
  const Val is_zero = eq(modulus, Scalar(0.0));
  const Val divisor = decomps::where(is_zero, full_like(modulus, 1.0), modulus);
  return where(is_zero, real_numbers(divisor, a.is_complex()), a / divisor);
}

Numbers padded(const Numbers& x, int64_t dim, const SymInt& size) {
  Tracer& t = x.tracer();
  return each(x, [&](const Val& part) {
    const Val zero = t.constant(Scalar(0.0), part.dtype());
    const SymInts none(part.shape().size(), 0);
    SymInts high = none;
    high[static_cast<size_t>(dim)] = size - part.size(dim);
    return t.wrap(t.builder().pad(part.id(), zero.id(), none, high, none));
  });
}

Numbers matrix_product(const Numbers& a, const Numbers& b) {
  Tracer& t = a.tracer();
  const auto product = [&](const Val& x, const Val& y) {
    return t.wrap(t.builder().dot_general(x.id(), y.id(), {2}, {1}, {0}, {0}, x.dtype()));
  };
  if (!a.im) return {product(a.re, b.re), {}};
  return {product(a.re, b.re) - product(*a.im, *b.im), product(a.re, *b.im) + product(*a.im, b.re)};
}

Numbers transposed(const Numbers& a) {
  return each(a, [](const Val& x) { return transpose(x, {0, 2, 1}); });
}

Numbers adjoint(const Numbers& a) {
  return conj(transposed(a));
}

Val index_constant(Tracer& t, const SymInt& v) {
  return t.constant(v, index_type(t));
}

Val row_index(const Val& like) {
  return like.tracer().iota({1, like.size(1), 1}, 1, index_type(like.tracer()));
}

Val column_index(const Val& like) {
  return like.tracer().iota({1, 1, like.size(2)}, 2, index_type(like.tracer()));
}

namespace {

std::vector<ValueId> starts_of(const std::vector<Val>& values) {
  std::vector<ValueId> out;
  for (const Val& v : values) out.push_back(convert(v, DType::i64).id());
  return out;
}

}  // namespace

Numbers block(const Numbers& x, const std::vector<Val>& starts, const SymInts& sizes) {
  Tracer& t = x.tracer();
  return each(x, [&](const Val& part) {
    return t.wrap(t.builder().dynamic_slice(part.id(), starts_of(starts), sizes));
  });
}

Numbers with_block(const Numbers& x, const Numbers& part, const std::vector<Val>& starts) {
  Tracer& t = x.tracer();
  return each(x, part, [&](const Val& whole, const Val& update) {
    return t.wrap(t.builder().dynamic_update_slice(whole.id(), update.id(), starts_of(starts)));
  });
}

namespace {

std::vector<prims::ValueType> types_of(const Values& values) {
  std::vector<prims::ValueType> types;
  for (const Val& v : values) types.push_back({v.dtype(), v.shape()});
  return types;
}

}  // namespace

Values for_loop(Tracer& t, const SymInt& count, const Values& carried,
                const std::function<Values(const Val& index, const Values&)>& body,
                int64_t stacked) {
  std::vector<prims::ValueType> params = types_of(carried);
  params.insert(params.begin(), {DType::i64, {}});
  const prims::Region region = t.region(params, [&](const Values& v) {
    return body(convert(v[0], index_type(t)), Values(v.begin() + 1, v.end()));
  });
  return t.prim(Prim::for_loop, carried, {{"count", count}, {"stacked", stacked}}, {region});
}

Values while_loop(Tracer& t, const Values& carried, const std::function<Val(const Values&)>& go_on,
                  const std::function<Values(const Values&)>& body) {
  const std::vector<prims::ValueType> params = types_of(carried);
  const prims::Region test = t.region(params, [&](const Values& v) { return Values{go_on(v)}; });
  return t.prim(Prim::while_loop, carried, {}, {test, t.region(params, body)});
}

void append(Values& values, const Numbers& a) {
  values.push_back(a.re);
  if (a.im) values.push_back(*a.im);
}

Numbers take(const Values& values, size_t& next, bool complex) {
  const Val re = values.at(next++);
  return {re, complex ? std::optional(values.at(next++)) : std::nullopt};
}

double epsilon(DType t) {
  return t == DType::f64 ? 0x1p-52 : 0x1p-23;
}

Val scale_against_overflow(const Val& greatest) {
  const double limit = greatest.dtype() == DType::f64 ? 0x1p400 : 0x1p40;
  const Val far = gt(greatest, Scalar(limit)) | lt(greatest, Scalar(1 / limit));
  const Val usable = far & gt(greatest, Scalar(0.0)) & math::is_finite(greatest);
  return where(usable, greatest, full_like(greatest, 1.0));
}

SymInts batch_dims(const Val& matrices) {
  const SymInts shape = matrices.shape();
  return {shape.begin(), shape.end() - 2};
}

Val in_one_batch(const Val& a) {
  return reshape(a, {prims::product(batch_dims(a)), a.size(-2), a.size(-1)});
}

Val in_batches(const Val& a, const SymInts& batch) {
  SymInts shape = batch;
  const SymInts own = a.shape();
  shape.insert(shape.end(), own.begin() + 1, own.end());
  return reshape(a, shape);
}

}  // namespace primset::decomps::linalg
