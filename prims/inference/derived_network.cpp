// Recurrent cells, distances and losses.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

// The gates are [..., parts * n] beside a state [..., n].
void require_gates(const Call& c, size_t gates, size_t state, int64_t parts) {
  bool real = is_floating(c.dtype(gates)) && is_floating(c.dtype(state));
  c.require_shared(real || (is_complex(c.dtype(gates)) && is_complex(c.dtype(state))),
                   "_c1: gates and state are floating, or complex");
  SymInts want = c.shape(state);
  c.require_shared(!want.empty(), "_c2: the state has a dim");
  want.back() = want.back() * parts;
  c.require_shared(equal_shapes(c.shape(gates), want),
                   "_c3: the gates are as many parts of the state's size");
}

Types lstm_cell(const Call& c) {
  require_gates(c, 0, 1, 4);
  return {c.type(1), c.type(1)};
}

Types gru_cell(const Call& c) {
  require_gates(c, 0, 2, 3);
  require_gates(c, 1, 2, 3);
  return {c.type(2)};
}

// [..., n, m] for x [..., n, k] and y [..., m, k].
SymInts pairs(const Call& c, size_t x, size_t y) {
  size_t r = c.rank(x);
  c.require_shared(r >= 2 && c.rank(y) == r, "_c1: x and y are matrices in batches of one rank");
  SymInts shape = c.shape(x);
  for (size_t d = 0; d < r; ++d) {
    c.require_shared(d == r - 2 || shape[d] == c.shape(y)[d],
                     "_c2: x and y differ in their rows only");
  }
  shape[r - 1] = c.shape(y)[r - 2];
  return shape;
}

Types cdist(const Call& c) {
  c.require_signature_dtypes();
  return {{c.dtype(0), pairs(c, 0, 1)}};
}

Types cdist_backward(const Call& c) {
  c.require_signature_dtypes();
  SymInts shape = pairs(c, 1, 2);
  c.require(equal_shapes(c.shape(0), shape) && equal_shapes(c.shape(3), shape),
            "cdist_backward_c3: grad and d have a number a pair");
  return {c.type(1)};
}

// log_probs is [time, batch, classes], targets [batch, targets], the lengths [batch].
SymInts alignments(const Call& c, size_t log_probs) {
  c.require_shared(c.rank(log_probs) == 3 && c.rank(log_probs + 1) == 2,
                   "_c1: log_probs has three dims and targets two");
  const SymInts &p = c.shape(log_probs), &targets = c.shape(log_probs + 1);
  bool batched = p[1] == targets[0];
  for (size_t i : {log_probs + 2, log_probs + 3})
    batched = batched && c.rank(i) == 1 && c.shape(i)[0] == p[1];
  c.require_shared(batched, "_c2: targets and lengths are of one batch");
  return {p[1], p[0], 2 * targets[1] + 1};
}

Types ctc_loss(const Call& c) {
  c.require_signature_dtypes();
  SymInts shape = alignments(c, 0);
  return {{c.dtype(0), {shape[0]}}, {c.dtype(0), shape}};
}

Types ctc_loss_backward(const Call& c) {
  c.require_signature_dtypes();
  c.require(equal_shapes(c.shape(6), alignments(c, 1)),
            "ctc_loss_backward_c3: log_alpha is [batch, time, 2 targets + 1]");
  return {c.type(1)};
}

}  // namespace

void add_derived_network_rules(RuleTable& t) {
  t.set(Prim::lstm_cell, lstm_cell);
  t.set(Prim::gru_cell, gru_cell);
  t.set(Prim::cdist, cdist);
  t.set(Prim::cdist_backward, cdist_backward);
  t.set(Prim::ctc_loss, ctc_loss);
  t.set(Prim::ctc_loss_backward, ctc_loss_backward);
}

}  // namespace primset::prims
