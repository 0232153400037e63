// Mutants: graphs with one mistake, of the kinds that people make. A suite of cases is as good as
// the share of mutants it tells from the original.
#ifndef PRIMSET_CONFORMANCE_MUTATION_MUTANTS_H_
#define PRIMSET_CONFORMANCE_MUTATION_MUTANTS_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::conformance {

enum class MutationKind : uint8_t {
  swap_operands,   // a - b becomes b - a
  replace,         // a primitive becomes its sibling: min max, lt le, floor ceil
  drop_node,       // f(x) becomes x: a lost convert, a lost abs
  drop_operand,    // x * alpha becomes x
  wrong_dim,       // along another dim
  off_by_one,      // a slice, pad or window begins one later
  wrong_constant,  // one more
  flip_flag,       // descending, upper, largest ...
  drop_check,      // an error is not noticed
  lost_tail,       // the last index of an output is not written
  low_precision,   // an output passes through a narrower dtype
};
std::string_view name(MutationKind kind);

// One mistake, named so that it means the same in graphs that differ in shape: the `ordinal`-th
// place of its kind and primitive, in the order of nodes.
struct Mutation {
  MutationKind kind{};
  std::string primitive;
  uint32_t ordinal = 0;
  uint32_t choice = 0;  // among the ways to make the mistake there

  std::string to_string() const;  // "replace max#0.1"
  friend auto operator<=>(const Mutation&, const Mutation&) = default;
};

// How many places there are for each primitive; of several graphs, in the one that has most.
using Places = std::map<std::string, uint32_t, std::less<>>;
void count_places(const prims::Graph& graph, Places& places);

// Every mistake that might be made in these places. apply() tells whether it can be: trying all of
// them would copy a long graph more often than it has nodes.
std::vector<Mutation> candidate_mutations(const Places& places);

// All mistakes that can be made in this graph and leave it well-formed, each of them tried.
std::vector<Mutation> find_mutations(const prims::Graph& graph);

// A copy with the mistake; empty when the graph has no such place, or the mistake makes no
// difference or no well-formed graph there.
std::optional<prims::Graph> apply(const prims::Graph& graph, const Mutation& mutation);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_MUTATION_MUTANTS_H_
