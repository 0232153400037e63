// For tests of schedules: a program's results beside the reference interpreter's.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_SCHEDULE_TEST_UTIL_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_SCHEDULE_TEST_UTIL_H_

#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"

namespace primset::schedule {

prims::SymInts row_major(const prims::SymInts& shape);
prims::SymInts column_major(const prims::SymInts& shape);
Options row_major_options(const prims::Graph& g);  // of all inputs and outputs

struct CheckedRun {
  std::string name;
  int64_t index_bound = 0;  // integer inputs are drawn below this
  bool in_tables = false;
  int64_t shift = 0;  // every buffer begins so many elements behind a boundary of 64 bytes
  uint64_t seed = 7;  // of the inputs
};

// Runs the program of `g`, made with `options`, on random inputs and expects the reference's
// results.
void check_program(const prims::Graph& g, const Program& program, const Options& options,
                   const kir::TargetModel& target, const std::vector<int64_t>& symbols,
                   const CheckedRun& run);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_SCHEDULE_TEST_UTIL_H_
