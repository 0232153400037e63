// One step of a cell as an operator of its own.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/recurrent.h"
#include "decomps/operators/recurrent/cell.h"

namespace primset::decomps {
namespace {

void require_cell_state(const Val& input, const Val& hx, const SymInt& hidden, int64_t number) {
  require(input.size(0) == hx.size(0), ErrorCode::runtime,
          fmt::format("Input batch size {} doesn't match hidden{} batch size {}",
                      input.size(0).hint(), number, hx.size(0).hint()));
  require(hx.size(1) == hidden, ErrorCode::runtime,
          fmt::format("hidden{} has inconsistent hidden_size: got {}, expected {}", number,
                      hx.size(1).hint(), hidden.hint()));
}

void require_gates(const char* name, const Val& w, CellKind kind, const SymInt& hidden) {
  const SymInt want = hidden * gate_count(kind);
  require(w.size(0) == want, ErrorCode::runtime,
          fmt::format("{} first dim must be {} * hidden_size = {}, but got {}", name,
                      gate_count(kind), want.hint(), w.size(0).hint()));
}

void require_operand(const char* name, const Val& v, int64_t rank, const Val& input) {
  require(v.rank() == rank, ErrorCode::runtime,
          fmt::format("Expected {} of {} dims, but got {}", name, rank, shape_text(v.shape())));
  require(input.dtype() == v.dtype(), ErrorCode::runtime,
          fmt::format("mat1 and mat2 must have the same dtype, but got {} and {} of {}",
                      aten_name(input.dtype()), aten_name(v.dtype()), name));
}

void require_operands(const Val& input, const CellState& state, const CellWeights& w) {
  require_operand("input", input, 2, input);
  for (const Val& v : state) require_operand("hx", v, 2, input);
  require_operand("w_ih", w.input, 2, input);
  require_operand("w_hh", w.hidden, 2, input);
  if (w.input_bias) require_operand("b_ih", *w.input_bias, 1, input);
  if (w.hidden_bias) require_operand("b_hh", *w.hidden_bias, 1, input);
}

CellState step_of_cell(CellKind kind, const Val& input, const CellState& state,
                       const CellWeights& w) {
  require_operands(input, state, w);
  const SymInt inputs = w.input.size(1), hidden = w.hidden.size(1);
  require(input.size(1) == inputs, ErrorCode::runtime,
          fmt::format("input has inconsistent input_size: got {} expected {}", input.size(1).hint(),
                      inputs.hint()));
  for (size_t i = 0; i < state.size(); ++i)
    require_cell_state(input, state[i], hidden, static_cast<int64_t>(i));
  require_gates("weight_ih", w.input, kind, hidden);
  require_gates("weight_hh", w.hidden, kind, hidden);
  if (w.input_bias) require_gates("bias_ih", *w.input_bias, kind, hidden);
  if (w.hidden_bias) require_gates("bias_hh", *w.hidden_bias, kind, hidden);
  return next_state(kind, input_gates(kind, input, w), state, w);
}

}  // namespace

std::tuple<Val, Val> lstm_cell::decompose(Tracer&, const Val& input, const std::vector<Val>& hx,
                                          const Val& w_ih, const Val& w_hh,
                                          const std::optional<Val>& b_ih,
                                          const std::optional<Val>& b_hh) {
  require(hx.size() == 2, ErrorCode::runtime, "lstm_cell expects two hidden states");
  const CellState next = step_of_cell(CellKind::lstm, input, hx, {w_ih, w_hh, b_ih, b_hh, {}});
  return {next[0], next[1]};
}

Val gru_cell::decompose(Tracer&, const Val& input, const Val& hx, const Val& w_ih, const Val& w_hh,
                        const std::optional<Val>& b_ih, const std::optional<Val>& b_hh) {
  return step_of_cell(CellKind::gru, input, {hx}, {w_ih, w_hh, b_ih, b_hh, {}})[0];
}

Val rnn_tanh_cell::decompose(Tracer&, const Val& input, const Val& hx, const Val& w_ih,
                             const Val& w_hh, const std::optional<Val>& b_ih,
                             const std::optional<Val>& b_hh) {
  return step_of_cell(CellKind::tanh, input, {hx}, {w_ih, w_hh, b_ih, b_hh, {}})[0];
}

Val rnn_relu_cell::decompose(Tracer&, const Val& input, const Val& hx, const Val& w_ih,
                             const Val& w_hh, const std::optional<Val>& b_ih,
                             const std::optional<Val>& b_hh) {
  return step_of_cell(CellKind::relu, input, {hx}, {w_ih, w_hh, b_ih, b_hh, {}})[0];
}

// --- from the products on, with what the gradient needs ---

namespace {

// Part i of the last dim's `count` parts.
Val gate_part(const Val& gates, int64_t i, int64_t count) {
  const SymInt size = floor_div(gates.size(-1), count);
  return opmath(slice(gates, gates.rank() - 1, size * i, size * (i + 1), 1));
}

Val joined(const std::vector<Val>& parts) {
  return concatenate(parts, parts[0].rank() - 1);
}
Val joined(const std::vector<Val>& parts, DType type) {
  return convert(joined(parts), type);
}

// A sum of bools is whether one is true.
Val added(const Val& a, const Val& b) {
  return is_bool(a.dtype()) ? a | b : a + b;
}

Val biased(const Val& gates, const std::optional<Val>& bias) {
  return bias ? added(opmath(gates), opmath(*bias)) : opmath(gates);
}

// Integers and bool, once promoted, are computed with as floats.
Val in_floats(const Val& x) {
  return is_exact(x.dtype()) ? convert(x, DType::f32) : x;
}
std::optional<Val> in_floats(const std::optional<Val>& x) {
  return x ? std::optional(in_floats(*x)) : std::nullopt;
}

Val sigmoid_of(const Val& x) {
  return unary(Prim::sigmoid, x);
}

// The derivatives by the argument, of the functions' values, as sigmoid_backward and tanh_backward
// multiply by them: of complex numbers conjugated, which ATen's cells are not otherwise.
Val conjugated(const Val& slope) {
  return is_complex(slope.dtype()) ? conj(slope) : slope;
}
Val sigmoid_slope(const Val& y) {
  return conjugated(y * (Scalar(1.0) - y));
}
Val tanh_slope(const Val& y) {
  return conjugated(Scalar(1.0) - y * y);
}

// What stands beside a state: all of one floating dtype, or of a complex one where there is no
// fused kernel.
class FusedCell {
 public:
  FusedCell(const char* op, const Val& state, bool has_complex = false) : op_(op), state_(state) {
    require_rank(op, "the state", state, 2);
    const bool fits = is_floating(state.dtype()) || (has_complex && is_complex(state.dtype()));
    if (!fits) not_implemented_for(op, state.dtype());
  }

  void require_parts(const char* name, const Val& gates, int64_t count) const {
    require_sizes(op_, name, gates, fmt::format("the state times {}", count), sizes_of(count));
    require_dtype(op_, name, gates, state_.dtype());
  }
  void require_state(const char* name, const std::optional<Val>& v) const {
    if (v) require_parts(name, *v, 1);
  }
  void require_bias(const char* name, const std::optional<Val>& bias, int64_t count) const {
    if (!bias) return;
    require_sizes(op_, name, *bias, "the gates", {sizes_of(count)[1]});
    require_dtype(op_, name, *bias, state_.dtype());
  }

 private:
  SymInts sizes_of(int64_t count) const { return {state_.size(0), state_.size(1) * count}; }

  const char* op_;
  const Val& state_;
};

// The operands of a cell from the products on: gates and biases of `count` parts.
void require_fused_cell(const char* op, const Val& input_gates, const Val& hidden_gates,
                        const Val& state, const std::optional<Val>& input_bias,
                        const std::optional<Val>& hidden_bias, int64_t count,
                        bool has_complex = false) {
  const FusedCell cell(op, state, has_complex);
  cell.require_parts("input_gates", input_gates, count);
  cell.require_parts("hidden_gates", hidden_gates, count);
  cell.require_bias("input_bias", input_bias, count);
  cell.require_bias("hidden_bias", hidden_bias, count);
}

Val nothing(Tracer& t, DType type) {
  return zeros(t, {SymInt(0)}, type);
}

// Of gates that are not rounded to the dtype yet: their sum may cancel.
Val bias_gradient_of(const Val& gates, DType type) {
  return convert(reduce(Prim::reduce_sum, gates, {0}, false), type);
}

// The activated gates of an LSTM.
Val activated_gates(const Val& sum, DType type) {
  return joined({sigmoid_of(gate_part(sum, 0, 4)), sigmoid_of(gate_part(sum, 1, 4)),
                 unary(Prim::tanh, gate_part(sum, 2, 4)), sigmoid_of(gate_part(sum, 3, 4))},
                type);
}

struct LstmGradients {
  Val gates, cell;  // not rounded to the dtype yet
  DType type;
};

LstmGradients lstm_gradients(Tracer& t, const std::optional<Val>& grad_hy,
                             const std::optional<Val>& grad_cy, const Val& cx, const Val& cy,
                             const Val& activated) {
  const DType type = cx.dtype();
  if (!grad_hy && !grad_cy) return {nothing(t, type), nothing(t, type), type};
  const FusedCell beside("_thnn_fused_lstm_cell_backward", cx, true);
  beside.require_state("grad_hy", grad_hy);
  beside.require_state("grad_cy", grad_cy);
  beside.require_state("cy", cy);
  const Val none = full_like(opmath(cx), 0);
  const Val gh = grad_hy ? opmath(*grad_hy) : none, gc = grad_cy ? opmath(*grad_cy) : none;
  const Val i = gate_part(activated, 0, 4), f = gate_part(activated, 1, 4);
  const Val g = gate_part(activated, 2, 4), o = gate_part(activated, 3, 4);
  const Val bent = unary(Prim::tanh, opmath(cy));
  const Val cell = gh * o * tanh_slope(bent) + gc;
  return {joined({cell * g * sigmoid_slope(i), cell * opmath(cx) * sigmoid_slope(f),
                  cell * i * tanh_slope(g), gh * bent * sigmoid_slope(o)}),
          cell * f, type};
}

LstmGradients fused_lstm_gradients(Tracer& t, const std::optional<Val>& grad_hy,
                                   const std::optional<Val>& grad_cy, const Val& cx, const Val& cy,
                                   const Val& workspace) {
  if (grad_hy || grad_cy)
    FusedCell("_thnn_fused_lstm_cell_backward", cx).require_parts("workspace", workspace, 4);
  return lstm_gradients(t, grad_hy, grad_cy, cx, cy, workspace);
}

using FiveGradients = std::tuple<Val, Val, Val, Val, Val>;

FiveGradients lstm_results(Tracer& t, const LstmGradients& g, bool has_bias) {
  const bool biases = has_bias && g.gates.rank() == 2;
  const Val bias = biases ? bias_gradient_of(g.gates, g.type) : nothing(t, g.type);
  const Val gates = convert(g.gates, g.type);
  return {gates, gates, convert(g.cell, g.type), bias, bias};
}

// What a GRU's gradient needs: its gates, the state, and the state's part of the new gate.
struct GruGates {
  Val reset, update, fresh, state, hidden;
};

// Gates of integers are added as such, and wrap around.
GruGates gru_gates(const Val& input, const Val& hidden, const Val& hx) {
  const auto both = [&](int64_t i) {
    return sigmoid_of(in_floats(gate_part(input, i, 3) + gate_part(hidden, i, 3)));
  };
  const Val reset = both(0), own = in_floats(gate_part(hidden, 2, 3));
  const Val fresh = unary(Prim::tanh, in_floats(gate_part(input, 2, 3)) + reset * own);
  return {reset, both(1), fresh, opmath(hx), own};
}

FiveGradients gru_gradients(Tracer& t, const Val& grad_hy, const GruGates& g, bool has_bias) {
  const DType type = grad_hy.dtype();
  const Val gh = opmath(grad_hy);
  const Val update = gh * (g.state - g.fresh) * sigmoid_slope(g.update);
  const Val fresh = gh * (Scalar(1.0) - g.update) * tanh_slope(g.fresh);
  const Val reset = fresh * g.hidden * sigmoid_slope(g.reset);
  const Val input = joined({reset, update, fresh});
  const Val hidden = joined({reset, update, fresh * g.reset});
  const auto of_bias = [&](const Val& gates) {
    return has_bias ? bias_gradient_of(gates, type) : nothing(t, type);
  };
  return {convert(input, type), convert(hidden, type), convert(gh * g.update, type), of_bias(input),
          of_bias(hidden)};
}

}  // namespace

std::tuple<Val, Val, Val> _thnn_fused_lstm_cell::decompose(Tracer& t, const Val& input_gates,
                                                           const Val& hidden_gates, const Val& cx,
                                                           const std::optional<Val>& input_bias,
                                                           const std::optional<Val>& hidden_bias) {
  require_fused_cell("_thnn_fused_lstm_cell", input_gates, hidden_gates, cx, input_bias,
                     hidden_bias, 4);
  const Val sum = biased(input_gates, input_bias) + biased(hidden_gates, hidden_bias);
  const auto next = t.prim(Prim::lstm_cell, {sum, cx});
  return {next[0], next[1], activated_gates(sum, cx.dtype())};
}

std::tuple<Val, Val, Val> _thnn_fused_lstm_cell_backward_impl::decompose(
    Tracer& t, const std::optional<Val>& grad_hy, const std::optional<Val>& grad_cy, const Val& cx,
    const Val& cy, const Val& workspace, bool has_bias) {
  const auto r =
      lstm_results(t, fused_lstm_gradients(t, grad_hy, grad_cy, cx, cy, workspace), has_bias);
  return {std::get<0>(r), std::get<2>(r), std::get<3>(r)};
}

FiveGradients _thnn_fused_lstm_cell_backward::decompose(Tracer& t,
                                                        const std::optional<Val>& grad_hy,
                                                        const std::optional<Val>& grad_cy,
                                                        const Val& cx, const Val& cy,
                                                        const Val& workspace, bool has_bias) {
  return lstm_results(t, fused_lstm_gradients(t, grad_hy, grad_cy, cx, cy, workspace), has_bias);
}

FiveGradients _thnn_differentiable_lstm_cell_backward::decompose(
    Tracer& t, const std::optional<Val>& grad_hy, const std::optional<Val>& grad_cy,
    const Val& input_gates, const Val& hidden_gates, const std::optional<Val>& input_bias,
    const std::optional<Val>& hidden_bias, const Val& cx, const Val& cy) {
  const Val input = in_floats(input_gates), hidden = in_floats(hidden_gates), c = in_floats(cx);
  const std::optional<Val> b_input = in_floats(input_bias), b_hidden = in_floats(hidden_bias);
  require_fused_cell("_thnn_differentiable_lstm_cell_backward", input, hidden, c, b_input, b_hidden,
                     4, true);
  const Val sum =
      in_floats(added(biased(input_gates, input_bias), biased(hidden_gates, hidden_bias)));
  const Val activated = activated_gates(sum, sum.dtype());
  return lstm_results(
      t, lstm_gradients(t, in_floats(grad_hy), in_floats(grad_cy), c, in_floats(cy), activated),
      input_bias.has_value());
}

std::tuple<Val, Val> _thnn_fused_gru_cell::decompose(Tracer& t, const Val& input_gates,
                                                     const Val& hidden_gates, const Val& hx,
                                                     const std::optional<Val>& input_bias,
                                                     const std::optional<Val>& hidden_bias) {
  require_fused_cell("_thnn_fused_gru_cell", input_gates, hidden_gates, hx, input_bias, hidden_bias,
                     3);
  const Val input = biased(input_gates, input_bias), hidden = biased(hidden_gates, hidden_bias);
  const GruGates g = gru_gates(input, hidden, hx);
  return {t.prim1(Prim::gru_cell, {input, hidden, hx}),
          joined({g.reset, g.update, g.fresh, g.state, g.hidden}, hx.dtype())};
}

FiveGradients _thnn_fused_gru_cell_backward::decompose(Tracer& t, const Val& grad_hy,
                                                       const Val& workspace, bool has_bias) {
  FusedCell("_thnn_fused_gru_cell_backward", grad_hy).require_parts("workspace", workspace, 5);
  return gru_gradients(
      t, grad_hy,
      {gate_part(workspace, 0, 5), gate_part(workspace, 1, 5), gate_part(workspace, 2, 5),
       gate_part(workspace, 3, 5), gate_part(workspace, 4, 5)},
      has_bias);
}

FiveGradients _thnn_differentiable_gru_cell_backward::decompose(
    Tracer& t, const Val& grad_hy, const Val& input_gates, const Val& hidden_gates, const Val& hx,
    const std::optional<Val>& input_bias, const std::optional<Val>& hidden_bias) {
  constexpr const char* kName = "_thnn_differentiable_gru_cell_backward";
  const Val grad = in_floats(grad_hy), h = in_floats(hx);
  require_fused_cell(kName, in_floats(input_gates), in_floats(hidden_gates), h,
                     in_floats(input_bias), in_floats(hidden_bias), 3, true);
  FusedCell(kName, h, true).require_state("grad_hy", grad);
  const GruGates g =
      gru_gates(biased(input_gates, input_bias), biased(hidden_gates, hidden_bias), h);
  return gru_gradients(t, grad, g, input_bias.has_value());
}

}  // namespace primset::decomps
