#include "decomps/primitives/linalg.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// [count, n, n] values, real or complex ones by their parts.
struct Matrices {
  std::vector<Val> parts;
  bool is_complex() const { return parts.size() == 2; }
};

Matrices taken_apart(const Val& a) {
  return is_complex(a.dtype()) ? Matrices{{real(a), imag(a)}} : Matrices{{a}};
}
Val put_together(const Matrices& m) {
  return m.is_complex() ? complex(m.parts[0], m.parts[1]) : m.parts[0];
}

Val adjoint(const Val& a) {
  return transpose(conj(a), {0, 2, 1});
}

// The part of x at (0, row, column).
Val block(const Val& x, const Val& row, const Val& column, const SymInts& sizes) {
  Tracer& t = x.tracer();
  const Val zero = t.constant(Scalar(0), DType::i64);
  return t.wrap(t.builder().dynamic_slice(x.id(), {zero.id(), row.id(), column.id()}, sizes));
}

// Sum over k of a[m, i, k] b[m, 0, k].
Val times_row(const Val& a, const Val& row) {
  Tracer& t = a.tracer();
  return t.wrap(t.builder().dot_general(a.id(), row.id(), {2}, {2}, {0}, {0}, a.dtype()));
}

// factor times the adjoint of its own row.
std::vector<Val> times_adjoint_row(const Matrices& factor, const std::vector<Val>& row) {
  const auto& f = factor.parts;
  if (!factor.is_complex()) return {times_row(f[0], row[0])};
  return {times_row(f[0], row[0]) + times_row(f[1], row[1]),
          times_row(f[1], row[0]) - times_row(f[0], row[1])};
}

struct Step {
  Matrices factor;
  Val info;
};

// Column j of the lower factor from those before it: (a_j - L L_j*) / sqrt of its own entry. Only
// rows from j on are kept, so that the upper triangle of a is not looked at.
Step next_column(Tracer& t, const Matrices& a, const Step& done, const Val& j) {
  const SymInts shape = a.parts[0].shape();
  const SymInts column = {shape[0], shape[1], 1}, row = {shape[0], 1, shape[1]},
                entry = {shape[0], 1, 1};
  const Val zero = t.constant(Scalar(0), DType::i64);
  std::vector<Val> own_row, rest;
  for (const Val& part : done.factor.parts) own_row.push_back(block(part, j, zero, row));
  const std::vector<Val> known = times_adjoint_row(done.factor, own_row);
  for (size_t i = 0; i < known.size(); ++i)
    rest.push_back(block(a.parts[i], zero, j, column) - known[i]);

  const Val pivot = block(rest[0], j, zero, entry), root = math::sqrt(pivot);
  const Val place = t.iota(column, 1, DType::i64);
  Step next = done;
  for (size_t i = 0; i < rest.size(); ++i) {
    const Val nothing = full_like(rest[i], Scalar(0.0));
    const Val diagonal = i == 0 ? root : math::number(root, 0.0);
    const Val below = where(lt(j, place), rest[i] / root, nothing);
    const Val values = where(eq(place, j), diagonal, below);
    Val& part = next.factor.parts[i];
    part = t.wrap(
        t.builder().dynamic_update_slice(part.id(), values.id(), {zero.id(), zero.id(), j.id()}));
  }
  const Val failed = ~gt(reshape(pivot, {shape[0]}), Scalar(0.0)) & eq(done.info, Scalar(0));
  next.info = where(failed, convert(j + Scalar(1), DType::i32), done.info);
  return next;
}

Step factorized(Tracer& t, const Matrices& a) {
  const SymInts shape = a.parts[0].shape();
  std::vector<Val> carried;
  for (const Val& part : a.parts) carried.push_back(full_like(part, Scalar(0.0)));
  carried.push_back(t.constant(Scalar(0), DType::i32, {shape[0]}));
  std::vector<prims::ValueType> params = {{DType::i64, {}}};
  for (const Val& v : carried) params.push_back({v.dtype(), v.shape()});
  const auto body = [&](const std::vector<Val>& v) {
    const Step done{{{v.begin() + 1, v.end() - 1}}, v.back()};
    Step next = next_column(t, a, done, v[0]);
    std::vector<Val> results = std::move(next.factor.parts);
    results.push_back(next.info);
    return results;
  };
  const auto last = t.prim(Prim::for_loop, carried, {{"count", shape[1]}, {"stacked", int64_t{0}}},
                           {t.region(params, body)});
  return {{{last.begin(), last.end() - 1}}, last.back()};
}

}  // namespace

std::tuple<Val, Val> cholesky::decompose(Tracer& t, const Val& a, bool upper) {
  const SymInts shape = a.shape();
  const SymInts batch(shape.begin(), shape.end() - 2);
  // An empty matrix has no column to take out, not even in a loop of no rounds.
  if (known_equal(shape.back(), 0) == true) return {a, t.constant(Scalar(0), DType::i32, batch)};
  const Val flat = reshape(a, {prims::product(batch), shape.back(), shape.back()});
  const Step done = factorized(t, taken_apart(upper ? adjoint(flat) : flat));
  const Val lower = put_together(done.factor);
  return {reshape(upper ? adjoint(lower) : lower, shape), reshape(done.info, batch)};
}

}  // namespace primset::decomps::prim
