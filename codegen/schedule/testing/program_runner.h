// For tests: runs a Program on host memory, its kernels either as native images or, for SIMT
// targets, in the kernel interpreter, which also finds races and accesses out of bounds.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_PROGRAM_RUNNER_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_PROGRAM_RUNNER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "codegen/kernel/ir/target_model.h"
#include "codegen/schedule/program/program.h"

namespace primset::schedule {

struct RunnerTensor {
  std::vector<std::byte> bytes;  // the buffer, from the tensor's first element on
};

struct RunnerResult {
  std::vector<RunnerTensor> outputs;  // the buffers, one a graph output
  std::vector<RunnerTensor> inputs;   // one a graph input, as they are then; empty: a scalar
  std::vector<int64_t> symbols;       // sizes that the run made among them
  ErrorSlot error;
  size_t launches = 0;
};

struct RunOptions {
  bool in_tables = false;  // every launch stands in a table (kir::table_form) between two others
  int64_t shift = 0;       // every buffer begins so many elements behind a boundary of 64 bytes
  // CPU kernels too run in the kernel interpreter, and what is read has been written.
  bool interpret = false;
  std::byte poison{0xa5};  // what fresh memory is filled with
};

// inputs: one a graph input; scalar inputs hold one element. symbols: their values.
RunnerResult run_program(const Program& program, const kir::TargetModel& target,
                         std::span<const RunnerTensor> inputs, std::vector<int64_t> symbols,
                         const RunOptions& options = {});

// A SIMT machine for the interpreter; one that copies asynchronously and multiplies matrices; and
// one whose subgroups have so many lanes, and ballots.
kir::TargetModel simt_model();
kir::TargetModel matrix_model();
kir::TargetModel group_matrix_model();  // in workgroup memory too
kir::TargetModel cooperative_model();   // as only the device knows
kir::TargetModel ballot_model(uint32_t subgroup);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_PROGRAM_RUNNER_H_
