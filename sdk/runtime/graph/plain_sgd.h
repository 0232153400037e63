// For tests: a step of stochastic gradient descent, as small as an optimizer's step can be.
#ifndef PRIMSET_SDK_RUNTIME_GRAPH_PLAIN_SGD_H_
#define PRIMSET_SDK_RUNTIME_GRAPH_PLAIN_SGD_H_

#include <iterator>
#include <vector>

#include "primset/invoke.h"

namespace primset::runtime {

// `op` is _fused_sgd or _fused_sgd_; the lists are parameters, gradients and momentum buffers. The
// rate is 1 and nothing decays; `further` are keyword arguments besides.
inline std::vector<Value> plain_sgd(std::string_view op, std::initializer_list<Value> lists,
                                    double momentum = 0, std::vector<NamedValue> further = {}) {
  const NamedValue rates[] = {{"weight_decay", 0.0},   {"momentum", momentum}, {"lr", 1.0},
                              {"dampening", 0.0},      {"nesterov", false},    {"maximize", false},
                              {"is_first_step", false}};
  further.insert(further.begin(), std::begin(rates), std::end(rates));
  return invoke(op, std::span<const Value>(lists.begin(), lists.size()), further);
}

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_GRAPH_PLAIN_SGD_H_
