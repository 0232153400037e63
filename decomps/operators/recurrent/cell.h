// One step of a recurrent layer: the products of its input and its state, and the cell.
#ifndef PRIMSET_DECOMPS_OPERATORS_RECURRENT_CELL_H_
#define PRIMSET_DECOMPS_OPERATORS_RECURRENT_CELL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

enum class CellKind : uint8_t { lstm, gru, tanh, relu };

// How many gates a cell has; each is a part of the weights' first dim.
int64_t gate_count(CellKind kind);

struct CellWeights {
  Val input, hidden;  // [gates * n, inputs], [gates * n, hidden]
  std::optional<Val> input_bias, hidden_bias;
  std::optional<Val> projection;  // [hidden, n], of an LSTM
};

// h [batch, hidden], and of an LSTM c [batch, n].
using CellState = std::vector<Val>;

// The part of the gates that needs no state: x times the weights, with the biases, where these may
// be added before; in opmath. x is [..., inputs].
Val input_gates(CellKind kind, const Val& x, const CellWeights& w);

// The state after a step whose input gates are [batch, gates * n].
CellState next_state(CellKind kind, const Val& gates, const CellState& state, const CellWeights& w);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_RECURRENT_CELL_H_
