// Random graphs for tests of schedules: with the layouts of their inputs and outputs, and what the
// inputs hold. A seed stands for one and the same case on every machine.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_GRAPH_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/schedule/options.h"
#include "prims/reference/reference.h"

namespace primset::schedule {

struct RandomCase {
  uint64_t seed = 0;
  std::shared_ptr<prims::Graph> graph;
  Options options;
  std::vector<prims::reference::Array> inputs;  // scalar ones too
  std::vector<int64_t> symbols;                 // of the call
  std::vector<uint32_t> dynamic;                // symbols that the run gives a value
};

RandomCase random_case(uint64_t seed);

// What `check` nodes call their errors; an index out of bounds is another one.
inline constexpr const char* kCheckCode = "value";

// An array of small numbers that its dtype holds.
prims::reference::Array random_array(DType dtype, std::vector<int64_t> shape, uint64_t seed);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_GRAPH_H_
