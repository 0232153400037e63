// Makes a failing case small.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_SHRINK_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_SHRINK_H_

#include <string>

#include "codegen/schedule/testing/random/check_case.h"

namespace primset::schedule {

// A case that fails still, with fewer outputs and nodes: outputs are dropped, and values become
// inputs that hold what they were.
RandomCase shrunk(const RandomCase& c, const RandomTarget& target);

// The graph, and the strides of its inputs and outputs.
std::string text(const RandomCase& c);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_SHRINK_H_
