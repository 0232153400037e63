#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/reflectors.h"

namespace primset::decomps::prim {

using linalg::Numbers;

namespace {

Numbers flat_tau(const Val& tau) {
  const SymInts shape = tau.shape();
  const SymInts batch(shape.begin(), shape.end() - 1);
  return linalg::parts_of(reshape(tau, {prims::product(batch), shape.back()}));
}

Numbers flat(const Val& a) {
  return linalg::parts_of(linalg::in_one_batch(a));
}

}  // namespace

std::tuple<Val, Val> qr::decompose(Tracer& t, const Val& a) {
  const SymInts batch = linalg::batch_dims(a);
  const SymInt count = min(a.size(-1), a.size(-2));
  SymInts tau_shape = batch;
  tau_shape.push_back(count);
  if (a.is_empty()) return {a, t.constant(Scalar(0.0), a.dtype(), tau_shape)};
  const linalg::PackedQr packed = linalg::packed_qr(flat(a));
  return {linalg::in_batches(linalg::joined_parts(packed.v), batch),
          reshape(linalg::joined_parts(packed.tau), tau_shape)};
}

// Q times the first columns of the identity.
Val householder_product::decompose(Tracer& t, const Val& v, const Val& tau) {
  if (v.is_empty()) return v;
  const Numbers packed = flat(v);
  const Val one = eq(linalg::row_index(packed.re), linalg::column_index(packed.re));
  const Val identity = broadcast_to(convert(one, packed.re.dtype()), packed.shape());
  const Numbers unit = linalg::real_numbers(identity, packed.is_complex());
  const Numbers q = linalg::times_q(packed, flat_tau(tau), unit, false);
  return linalg::in_batches(linalg::joined_parts(q), linalg::batch_dims(v));
}

// c Q = (Q* c*)*
Val apply_reflectors::decompose(Tracer& t, const Val& v, const Val& tau, const Val& c, bool left,
                                bool adjoint) {
  if (v.is_empty() || c.is_empty()) return c;
  const Numbers packed = flat(v), factors = flat_tau(tau), given = flat(c);
  const Numbers product =
      left ? linalg::times_q(packed, factors, given, adjoint)
           : linalg::adjoint(linalg::times_q(packed, factors, linalg::adjoint(given), !adjoint));
  return linalg::in_batches(linalg::joined_parts(product), linalg::batch_dims(c));
}

}  // namespace primset::decomps::prim
