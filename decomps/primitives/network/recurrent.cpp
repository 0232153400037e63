// Steps of recurrent networks as formulas over their gates.
#include "decomps/primitives/recurrent.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// Part i of the gates beside a state.
Val gate(const Val& gates, int64_t i, const Val& state) {
  const SymInt size = state.size(-1);
  return opmath(slice(gates, gates.rank() - 1, size * i, size * (i + 1), 1));
}

Val sigmoid(const Val& x) {
  return unary(Prim::sigmoid, x);
}

}  // namespace

std::tuple<Val, Val> lstm_cell::decompose(Tracer&, const Val& gates, const Val& c) {
  const Val input = sigmoid(gate(gates, 0, c)), forget = sigmoid(gate(gates, 1, c));
  const Val cell = math::tanh(gate(gates, 2, c)), output = sigmoid(gate(gates, 3, c));
  const Val next = forget * opmath(c) + input * cell;
  return {convert(output * math::tanh(next), c.dtype()), convert(next, c.dtype())};
}

Val gru_cell::decompose(Tracer&, const Val& input_gates, const Val& hidden_gates, const Val& h) {
  const Val reset = sigmoid(gate(input_gates, 0, h) + gate(hidden_gates, 0, h));
  const Val update = sigmoid(gate(input_gates, 1, h) + gate(hidden_gates, 1, h));
  const Val fresh = math::tanh(gate(input_gates, 2, h) + reset * gate(hidden_gates, 2, h));
  return convert(fresh + update * (opmath(h) - fresh), h.dtype());
}

}  // namespace primset::decomps::prim
