// Runs a PrimGraph on a device through the runtime's own planner and executor, outside of any
// operator: what the primitive level and mutation testing need.
#ifndef PRIMSET_CONFORMANCE_RUNNER_GRAPH_LAUNCH_H_
#define PRIMSET_CONFORMANCE_RUNNER_GRAPH_LAUNCH_H_

#include <primset/tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "prims/graph/graph.h"
#include "specs/bundle/model.h"

namespace primset::runtime {
struct Plan;
}

namespace primset::conformance {

class GraphLaunch {
 public:
  // `inputs` follow graph.inputs, scalar ones as tensors of rank 0. `outputs` are where the results
  // go, one an output of the graph, of its dtype and sizes; empty: the runtime makes them, as it
  // must where sizes are only known during the run.
  GraphLaunch(const specs::Bundle& bundle, const prims::Graph& graph,
              std::span<const Tensor> inputs, std::span<const Tensor> outputs, Device device);
  ~GraphLaunch();

  // Waits for the device. May be called again.
  std::vector<Tensor> run();

 private:
  Device device_;
  std::vector<Tensor> tensors_;
  std::unique_ptr<runtime::Plan> plan_;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_GRAPH_LAUNCH_H_
