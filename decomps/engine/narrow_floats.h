// Machines whose kernels have no f64. Numbers that arguments alone decide keep it: the host
// computes them (sdk/runtime/plan/host_scalars.h). What an operator computes in f64 for the sake of
// digits (a bias correction, the norm of a column, a comparison with a tolerance) is computed in
// f32.
#ifndef PRIMSET_DECOMPS_ENGINE_NARROW_FLOATS_H_
#define PRIMSET_DECOMPS_ENGINE_NARROW_FLOATS_H_

#include <functional>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::decomps {

// By value: a number of rank 0 that scalar inputs, constants and sizes alone decide, element-wise.
// `is_known` tells which sizes the host knows before it runs the graph.
std::vector<bool> host_numbers(const prims::Graph& graph,
                               const std::function<bool(const prims::SymInt&)>& is_known);

// f64 becomes f32 and c128 c64, but not host numbers, which meet the others as one of theirs. A
// graph with tensors of f64 or c128 stays as it is: the machine does not have them.
void narrow_floats(prims::Graph& graph, const std::function<bool(const prims::SymInt&)>& is_known);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_NARROW_FLOATS_H_
