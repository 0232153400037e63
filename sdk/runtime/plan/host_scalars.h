// Numbers that a device's kernels cannot compute in. On a device without f64 (or 64-bit integers) a
// Python number, alpha or eps is reduced to what an operator computes in before the launches: each
// expression of scalar arguments, constants and sizes that is wide inside and narrow at its end is
// taken out of the graph, evaluated by the reference interpreter, and passed as one more scalar.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_HOST_SCALARS_H_
#define PRIMSET_SDK_RUNTIME_PLAN_HOST_SCALARS_H_

#include <primset/scalar.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "decomps/engine/trace.h"
#include "prims/graph/graph.h"

namespace primset::runtime {

struct HostScalars {
  // Its scalar inputs are `inputs` and behind them `sizes`; its outputs are, in their order, the
  // last inputs of the graph that it was taken from.
  prims::Graph graph;
  std::vector<uint32_t> inputs;  // of that graph
  prims::SymInts sizes;

  // The outputs' values for the inputs', those of sizes behind the others. Any thread may call it.
  std::vector<Scalar> evaluate(std::span<const Scalar> values) const;
};

struct HostScalarsQuestions {
  std::function<bool(DType)> lacks;                    // kernels do not have the dtype
  std::function<bool(const prims::SymInt&)> is_known;  // the size is known before the run
};

// Takes such expressions out of the graph's body, with others of numbers that nothing uses, and
// adds their results to its inputs and `sources`. Nullopt when there are none.
std::optional<HostScalars> take_host_scalars(prims::Graph& graph,
                                             std::vector<decomps::InputSource>& sources,
                                             const HostScalarsQuestions& ask);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_HOST_SCALARS_H_
