#include "decomps/operators/recurrent/cell.h"

#include "decomps/engine/engine.h"

namespace primset::decomps {
namespace {

// x [..., n] times the rows of w [m, n], in opmath.
Val times_rows(const Val& x, const Val& w) {
  Tracer& t = x.tracer();
  return t.wrap(
      t.builder().dot_general(x.id(), w.id(), {x.rank() - 1}, {1}, {}, {}, opmath_type(x.dtype())));
}

Val plus(const Val& x, const std::optional<Val>& bias) {
  return bias ? x + opmath(*bias) : x;
}

}  // namespace

int64_t gate_count(CellKind kind) {
  return kind == CellKind::lstm ? 4 : kind == CellKind::gru ? 3 : 1;
}

// A GRU multiplies a part of the state's product, bias included, by its reset gate.
Val input_gates(CellKind kind, const Val& x, const CellWeights& w) {
  const Val gates = plus(times_rows(x, w.input), w.input_bias);
  return kind == CellKind::gru ? gates : plus(gates, w.hidden_bias);
}

CellState next_state(CellKind kind, const Val& gates, const CellState& state,
                     const CellWeights& w) {
  const Val& h = state[0];
  Tracer& t = h.tracer();
  const Val hidden = times_rows(h, w.hidden);
  if (kind == CellKind::gru)
    return {t.prim1(Prim::gru_cell, {gates, plus(hidden, w.hidden_bias), h})};
  if (kind == CellKind::lstm) {
    CellState next = t.prim(Prim::lstm_cell, {gates + hidden, state[1]});
    if (w.projection) next[0] = convert(times_rows(next[0], *w.projection), h.dtype());
    return next;
  }
  const Val sum = gates + hidden;
  // Integers have a relu, and their tanh is a float.
  if (kind == CellKind::tanh && is_integral(sum.dtype()))
    return {unary(Prim::tanh, convert(sum, DType::f32))};
  return {convert(
      kind == CellKind::tanh ? unary(Prim::tanh, sum) : binary(Prim::max, sum, full_like(sum, 0)),
      h.dtype())};
}

}  // namespace primset::decomps
