// Graphs: a region of operator calls, traced once, fused across operators, run many times.
//
//   Graph graph = Graph::capture({x, w}, [](std::span<const Tensor> in) {
//     return std::vector<Tensor>{primset::relu(primset::mm(in[0], in[1]))};
//   });
//   std::vector<Tensor> y = graph.run({x2, w2});
//
// While a graph is captured, the function runs once; its operators are recorded and not computed,
// so it must not read values. Tensors made outside become constants of the graph: their memory is
// read, and written where the function writes to them, at every run. Random operators draw anew at
// each run. Sizes may differ between runs; a run whose sizes violate a guard of the trace calls the
// function again.
#ifndef PRIMSET_GRAPH_H_
#define PRIMSET_GRAPH_H_

#include <primset/export.h>
#include <primset/tensor.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace primset {

class PRIMSET_API Graph {
 public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  static Graph capture(std::span<const Tensor> example_inputs, Function function);
  static Graph capture(std::initializer_list<Tensor> example_inputs, Function function) {
    return capture(std::span<const Tensor>(example_inputs.begin(), example_inputs.size()),
                   std::move(function));
  }

  std::vector<Tensor> run(std::span<const Tensor> inputs) const;
  std::vector<Tensor> run(std::initializer_list<Tensor> inputs) const {
    return run(std::span<const Tensor>(inputs.begin(), inputs.size()));
  }
  // The primitive graph and the program of the newest trace, as text.
  std::string to_string() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace primset

#endif  // PRIMSET_GRAPH_H_
