// lstm, gru, rnn_tanh and rnn_relu: layers, each in one or two directions, over padded sequences
// [time, batch, inputs] or packed ones. The products of the inputs over all steps are one product;
// a loop takes its part of it at each step, and its bodies make the states.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/recurrent.h"
#include "decomps/operators/recurrent/cell.h"

namespace primset::decomps {
namespace {

struct Network {
  CellKind kind;
  bool biases;
  int64_t layers;
  double dropout;
  bool train;
  int64_t directions;
};

// Packed sequences are [rows, inputs]: of each step the rows of those that are as long, in the
// batch's order, which is by length.
struct Packing {
  Val sizes, starts;      // of each step: how many rows, and the first of them
  Val step_of, place_of;  // of each row: its step, and its place in the batch
};

struct Sequence {
  SymInt time, batch;
  std::optional<Packing> packing;
};

Sequence packed_sequence(Tracer& t, const Val& data, const Val& batch_sizes, const SymInt& batch) {
  require(batch_sizes.rank() == 1 && batch_sizes.dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("batch_sizes tensor should be 1D and of dtype int64, but got {} of rank {}",
                      aten_name(batch_sizes.dtype()), batch_sizes.rank()));
  Packing p;
  p.sizes = batch_sizes;
  const Val ends = t.wrap(t.builder().scan(Prim::scan_sum, batch_sizes.id(), 0)[0]);
  const Val total = reduce(Prim::reduce_sum, batch_sizes, {0}, false);
  check(eq(total, t.constant(data.size(0), DType::i64)), total, ErrorCode::runtime,
        "Expected batch_sizes to add up to the rows of data, but found a sum of {value}");
  p.starts = ends - batch_sizes;
  const Val row = t.iota({data.size(0)}, 0, DType::i64);
  p.step_of = bounds_up_to(ends, data.size(0));
  p.place_of =
      row - t.wrap(t.builder().gather(p.starts.id(), {p.step_of.id()}, {0}, false, "batch_sizes"));
  return {batch_sizes.size(0), batch, p};
}

// --- one layer in one direction ---

// The input's part of the gates at a step; of a packed sequence what is not active has any.
Val gates_at(const Val& gates, const Sequence& s, const Val& time) {
  Tracer& t = gates.tracer();
  if (!s.packing) {
    const Val zero = t.constant(0, DType::i64);
    return squeeze(t.wrap(t.builder().dynamic_slice(gates.id(), {time.id(), zero.id(), zero.id()},
                                                    {1, s.batch, gates.size(2)})),
                   0);
  }
  const Val place = t.iota({s.batch}, 0, DType::i64);
  const Val first =
      t.wrap(t.builder().gather(s.packing->starts.id(), {time.id()}, {0}, true, "batch_sizes"));
  const Val row = binary(Prim::min, place + first, full_like(place, gates.size(0) - 1));
  return t.wrap(t.builder().gather(gates.id(), {row.id()}, {0}, true, "batch_sizes"));
}

// Sequences that have ended, or backwards not begun, keep their state.
CellState kept_where_inactive(const CellState& next, const CellState& state, const Sequence& s,
                              const Val& time) {
  if (!s.packing) return next;
  Tracer& t = time.tracer();
  const Val size =
      t.wrap(t.builder().gather(s.packing->sizes.id(), {time.id()}, {0}, true, "batch_sizes"));
  const Val active = unsqueeze(lt(t.iota({s.batch}, 0, DType::i64), size), 1);
  CellState out;
  for (size_t i = 0; i < next.size(); ++i) out.push_back(where(active, next[i], state[i]));
  return out;
}

struct LayerResult {
  Val output;       // as the input, with the state's size
  CellState state;  // the last one
};

LayerResult run_layer(Tracer& t, CellKind kind, const Val& x, const Sequence& s,
                      const CellState& first, const CellWeights& w, bool backwards) {
  const Val gates = input_gates(kind, x, w);
  std::vector<prims::ValueType> params = {{DType::i64, {}}};
  for (const Val& v : first) params.push_back({v.dtype(), v.shape()});
  const auto body = [&](const std::vector<Val>& v) {
    const CellState state(v.begin() + 1, v.end());
    const Val time = backwards ? t.constant(s.time - 1, DType::i64) - v[0] : v[0];
    CellState next = next_state(kind, gates_at(gates, s, time), state, w);
    next = kept_where_inactive(next, state, s, time);
    next.push_back(next[0]);
    return next;
  };
  std::vector<Val> results =
      t.prim(Prim::for_loop, first, {{"count", s.time}, {"stacked", int64_t{1}}},
             {t.region(params, body)});
  Val output = results.back();
  results.pop_back();
  if (backwards) output = t.wrap(t.builder().reverse(output.id(), {0}));
  if (s.packing)
    output =
        t.wrap(t.builder().gather(output.id(), {s.packing->step_of.id(), s.packing->place_of.id()},
                                  {0, 1}, true, "batch_sizes"));
  return {output, results};
}

// --- what is given ---

void require_one_dtype_of_sequence(const Val& x, const std::vector<Val>& states,
                                   const std::vector<Val>& params) {
  const auto same = [&](const Val& v) {
    require(v.dtype() == x.dtype(), ErrorCode::runtime,
            fmt::format("mat1 and mat2 must have the same dtype, but got {} and {}",
                        aten_name(x.dtype()), aten_name(v.dtype())));
  };
  for (const Val& v : params) same(v);
  for (const Val& v : states) same(v);
}

// The weights of each layer and direction, one after another.
std::vector<CellWeights> weights_of(const Network& n, const std::vector<Val>& params,
                                    bool projected) {
  const size_t each = (n.biases ? 4 : 2) + (projected ? 1 : 0);
  require(params.size() % each == 0, ErrorCode::runtime,
          "got an incorrect number of RNN parameters");
  require(static_cast<int64_t>(params.size() / each) == n.layers * n.directions, ErrorCode::runtime,
          "Expected more weights in stacked_rnn");
  std::vector<CellWeights> out;
  for (size_t i = 0; i < params.size(); i += each) {
    CellWeights w{params[i], params[i + 1], {}, {}, {}};
    if (n.biases) w.input_bias = params[i + 2], w.hidden_bias = params[i + 3];
    if (projected) w.projection = params[i + each - 1];
    out.push_back(std::move(w));
  }
  return out;
}

void require_product_sizes(const Val& x, const Val& w) {
  require(w.rank() == 2 && x.size(-1) == w.size(1), ErrorCode::runtime,
          fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and the transpose of {})",
                      shape_text(x.shape()), shape_text(w.shape())));
}

// What the cell takes: every gate of the size of the last state, and biases of all of them.
void require_weights(const Network& n, const Val& x, const CellState& state, const CellWeights& w) {
  require_product_sizes(x, w.input);
  require_product_sizes(state[0], w.hidden);
  const SymInt gates = state.back().size(1) * gate_count(n.kind);
  const auto fits = [&](const Val& v) {
    require(v.size(0) == gates, ErrorCode::runtime,
            fmt::format("Expected weights of {} gates of size {}, but got {}", gate_count(n.kind),
                        state.back().size(1).hint(), shape_text(v.shape())));
  };
  fits(w.input), fits(w.hidden);
  for (const std::optional<Val>* bias : {&w.input_bias, &w.hidden_bias}) {
    if (*bias) fits(**bias);
  }
  if (!w.projection) return;
  require_product_sizes(state[1], *w.projection);
  require(w.projection->size(0) == state[0].size(1), ErrorCode::runtime,
          fmt::format("Expected a projection to {} numbers, but got {}", state[0].size(1).hint(),
                      shape_text(w.projection->shape())));
}

void require_states(const Network& n, const std::vector<Val>& states, const SymInt& batch) {
  for (const Val& v : states) {
    require(v.rank() == 3, ErrorCode::runtime,
            fmt::format("Expected hidden states of 3 dims, but got {}", shape_text(v.shape())));
    require(v.size(0) == SymInt(n.layers * n.directions), ErrorCode::runtime,
            "Expected more hidden states in stacked_rnn");
    require(v.size(1) == batch, ErrorCode::runtime,
            fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at "
                        "non-singleton dimension 0",
                        v.size(1).hint(), batch.hint()));
  }
}

// --- all layers ---

// The output, and the last state of each layer and direction.
std::vector<Val> run_network(Tracer& t, const Network& n, Val x, const Sequence& s,
                             const std::vector<Val>& states, const std::vector<Val>& params) {
  require_one_dtype_of_sequence(x, states, params);
  require_states(n, states, s.batch);
  const bool projected = states.size() == 2 && !(states[0].size(2) == states[1].size(2));
  const std::vector<CellWeights> weights = weights_of(n, params, projected);
  std::vector<std::vector<Val>> last(states.size());
  for (int64_t layer = 0; layer < n.layers; ++layer) {
    std::vector<Val> outputs;
    for (int64_t direction = 0; direction < n.directions; ++direction) {
      const int64_t at = layer * n.directions + direction;
      const CellWeights& w = weights[static_cast<size_t>(at)];
      CellState first;
      for (const Val& v : states) first.push_back(select(v, 0, at));
      require_weights(n, x, first, w);
      const LayerResult r = run_layer(t, n.kind, x, s, first, w, direction == 1);
      outputs.push_back(r.output);
      for (size_t i = 0; i < last.size(); ++i) last[i].push_back(unsqueeze(r.state[i], 0));
    }
    x = outputs.size() == 1 ? outputs[0] : concatenate(outputs, x.rank() - 1);
    if (n.dropout != 0 && n.train && layer + 1 < n.layers)
      x = t.call1("dropout", {x, n.dropout, true});
  }
  std::vector<Val> results = {x};
  for (const std::vector<Val>& v : last) results.push_back(concatenate(v, 0));
  return results;
}

std::vector<Val> over_padded(Tracer& t, const Network& n, const Val& input,
                             const std::vector<Val>& states, const std::vector<Val>& params,
                             bool batch_first) {
  require(input.rank() == 3, ErrorCode::runtime,
          fmt::format("Expected an input of 3 dims (time, batch and inputs), but got {}",
                      shape_text(input.shape())));
  const Val x = batch_first ? transpose(input, {1, 0, 2}) : input;
  require(x.size(0) > SymInt(0), ErrorCode::runtime,
          "Expected sequence length to be larger than 0 in RNN");
  std::vector<Val> results = run_network(t, n, x, {x.size(0), x.size(1), {}}, states, params);
  if (batch_first) results[0] = transpose(results[0], {1, 0, 2});
  return results;
}

std::vector<Val> over_packed(Tracer& t, const Network& n, const Val& data, const Val& batch_sizes,
                             const std::vector<Val>& states, const std::vector<Val>& params) {
  require(data.rank() == 2, ErrorCode::runtime,
          fmt::format("Expected packed data of 2 dims (rows and inputs), but got {}",
                      shape_text(data.shape())));
  require(
      states[0].rank() == 3, ErrorCode::runtime,
      fmt::format("Expected hidden states of 3 dims, but got {}", shape_text(states[0].shape())));
  require(!data.is_empty() && !batch_sizes.is_empty(), ErrorCode::runtime,
          "Expected sequence length to be larger than 0 in RNN");
  return run_network(t, n, data, packed_sequence(t, data, batch_sizes, states[0].size(1)), states,
                     params);
}

void require_two_states(const std::vector<Val>& hx) {
  require(hx.size() == 2, ErrorCode::runtime, "lstm expects two hidden states");
}

Network network_of(CellKind kind, bool has_biases, int64_t num_layers, double dropout, bool train,
                   bool bidirectional) {
  return {kind, has_biases, num_layers, dropout, train, bidirectional ? 2 : 1};
}

std::tuple<Val, Val> two(const std::vector<Val>& results) {
  return {results[0], results[1]};
}
std::tuple<Val, Val, Val> three(const std::vector<Val>& results) {
  return {results[0], results[1], results[2]};
}

}  // namespace

std::tuple<Val, Val, Val> lstm_padded::decompose(Tracer& t, const Val& input,
                                                 const std::vector<Val>& hx,
                                                 const std::vector<Val>& params, bool has_biases,
                                                 int64_t num_layers, double dropout, bool train,
                                                 bool bidirectional, bool batch_first) {
  require_two_states(hx);
  const Network n =
      network_of(CellKind::lstm, has_biases, num_layers, dropout, train, bidirectional);
  return three(over_padded(t, n, input, hx, params, batch_first));
}

std::tuple<Val, Val, Val> lstm_packed::decompose(Tracer& t, const Val& data, const Val& batch_sizes,
                                                 const std::vector<Val>& hx,
                                                 const std::vector<Val>& params, bool has_biases,
                                                 int64_t num_layers, double dropout, bool train,
                                                 bool bidirectional) {
  require_two_states(hx);
  const Network n =
      network_of(CellKind::lstm, has_biases, num_layers, dropout, train, bidirectional);
  return three(over_packed(t, n, data, batch_sizes, hx, params));
}

std::tuple<Val, Val> gru_padded::decompose(Tracer& t, const Val& input, const Val& hx,
                                           const std::vector<Val>& params, bool has_biases,
                                           int64_t num_layers, double dropout, bool train,
                                           bool bidirectional, bool batch_first) {
  const Network n =
      network_of(CellKind::gru, has_biases, num_layers, dropout, train, bidirectional);
  return two(over_padded(t, n, input, {hx}, params, batch_first));
}

std::tuple<Val, Val> gru_packed::decompose(Tracer& t, const Val& data, const Val& batch_sizes,
                                           const Val& hx, const std::vector<Val>& params,
                                           bool has_biases, int64_t num_layers, double dropout,
                                           bool train, bool bidirectional) {
  const Network n =
      network_of(CellKind::gru, has_biases, num_layers, dropout, train, bidirectional);
  return two(over_packed(t, n, data, batch_sizes, {hx}, params));
}

std::tuple<Val, Val> rnn_tanh_padded::decompose(Tracer& t, const Val& input, const Val& hx,
                                                const std::vector<Val>& params, bool has_biases,
                                                int64_t num_layers, double dropout, bool train,
                                                bool bidirectional, bool batch_first) {
  const Network n =
      network_of(CellKind::tanh, has_biases, num_layers, dropout, train, bidirectional);
  return two(over_padded(t, n, input, {hx}, params, batch_first));
}

std::tuple<Val, Val> rnn_tanh_packed::decompose(Tracer& t, const Val& data, const Val& batch_sizes,
                                                const Val& hx, const std::vector<Val>& params,
                                                bool has_biases, int64_t num_layers, double dropout,
                                                bool train, bool bidirectional) {
  const Network n =
      network_of(CellKind::tanh, has_biases, num_layers, dropout, train, bidirectional);
  return two(over_packed(t, n, data, batch_sizes, {hx}, params));
}

std::tuple<Val, Val> rnn_relu_padded::decompose(Tracer& t, const Val& input, const Val& hx,
                                                const std::vector<Val>& params, bool has_biases,
                                                int64_t num_layers, double dropout, bool train,
                                                bool bidirectional, bool batch_first) {
  const Network n =
      network_of(CellKind::relu, has_biases, num_layers, dropout, train, bidirectional);
  return two(over_padded(t, n, input, {hx}, params, batch_first));
}

std::tuple<Val, Val> rnn_relu_packed::decompose(Tracer& t, const Val& data, const Val& batch_sizes,
                                                const Val& hx, const std::vector<Val>& params,
                                                bool has_biases, int64_t num_layers, double dropout,
                                                bool train, bool bidirectional) {
  const Network n =
      network_of(CellKind::relu, has_biases, num_layers, dropout, train, bidirectional);
  return two(over_packed(t, n, data, batch_sizes, {hx}, params));
}

}  // namespace primset::decomps
