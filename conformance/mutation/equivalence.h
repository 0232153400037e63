// Mistakes at one node that change nothing, whatever the inputs are: no case could catch them.
#ifndef PRIMSET_CONFORMANCE_MUTATION_EQUIVALENCE_H_
#define PRIMSET_CONFORMANCE_MUTATION_EQUIVALENCE_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "prims/graph/graph.h"

namespace primset::conformance {

bool are_one_number(const std::optional<Scalar>& a, const std::optional<Scalar>& b);

// Would the primitive `other` give the same of these operands? So do siblings that differ in what
// they make of NaN or of signs where there are none.
bool means_the_same(const prims::Graph& graph, const prims::Node& node, prims::Prim other);

// Is the result what this operand is? x * 1, x & x, the minimum of x and what is never less.
bool leaves_alone(const prims::Graph& graph, const prims::Node& node, size_t operand);

// Do two operands give the same in either order? The factors of a fused product do, powers of one
// matrix, and those of a difference that is squared.
bool commutes(const prims::Graph& graph, const prims::Node& node, size_t first);

// Does a flag of that name have no say at this node?
bool decides_nothing(const prims::Graph& graph, const prims::Node& node, std::string_view flag);

// Of the node's dims: is it the same when those at `place` and behind it change places? Of a
// Fourier transform the last of them alone is special, the one with half of the elements.
bool order_decides_nothing(const prims::Node& node, size_t place, size_t count);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_MUTATION_EQUIVALENCE_H_
