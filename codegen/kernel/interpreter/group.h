// Runs one workgroup of a decoded kernel: each thread up to its next synchronisation (a barrier or
// a collective operation of the subgroup), then all of them past it.
#ifndef PRIMSET_CODEGEN_KERNEL_INTERPRETER_GROUP_H_
#define PRIMSET_CODEGEN_KERNEL_INTERPRETER_GROUP_H_

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel/interpreter/memory.h"
#include "codegen/kernel/interpreter/program.h"

namespace primset::kir::interp {

class GroupRunner {
 public:
  GroupRunner(const Kernel& kernel, const Program& program, Memory& memory,
              const InterpreterOptions& options);

  // Throws Error{runtime}.
  void run(std::array<uint32_t, 3> group);

 private:
  enum class State : uint8_t {
    running,
    at_barrier,
    at_exchange,
    at_matrix,
    at_group_matrix,
    finished
  };
  struct PendingCopy {
    Pointer to, from;
    int64_t to_offset, from_offset;  // in bytes
    uint32_t bytes;
    bool keep;  // else zeros
  };
  struct Thread {
    uint32_t number = 0;
    uint32_t pc = 0;
    State state = State::running;
    std::vector<uint64_t> registers;
    std::vector<PendingCopy> started;              // since the last commit
    std::deque<std::vector<PendingCopy>> batches;  // oldest first
  };

  void start(Thread& t);
  void set_leaf(Thread& t, const Leaf& leaf);
  void make_arrays();

  void run_thread(Thread& t);
  // Runs the steps that neither jump nor stop.
  void execute(Thread& t, const Code& c);
  void copy(Thread& t, const Code& c);
  void next_iteration(Thread& t, const Code& c);
  void pointer(Thread& t, const Code& c);
  void memory(Thread& t, const Code& c);
  void contiguous(Thread& t, const Code& c);
  void gather_scatter(Thread& t, const Code& c);
  void atomic(Thread& t, const Code& c);
  void async_copy(Thread& t, const Code& c);
  void finish_copy(const Thread& t, const PendingCopy& copy);
  std::byte* touch_bytes(const Thread& t, Pointer p, int64_t offset, uint32_t bytes, Access kind);
  std::byte* touch(Thread& t, const Code& c, int64_t index, Access kind);
  int64_t index_of(const Thread& t, const Code& c, uint32_t lane) const;

  bool same_place(const Thread& a, const Thread& b) const;
  void pass_exchanges(uint32_t first, uint32_t last);
  bool exchange_values(uint32_t first, uint32_t last);
  std::optional<std::vector<uint64_t>> received(const Thread& t, uint32_t first,
                                                uint32_t last) const;
  bool pass_matrices(uint32_t first, uint32_t last);
  void load_matrices(uint32_t first, const Code& c);
  void multiply_matrices(uint32_t first, const Code& c);
  void run_cooperative(uint32_t first, const Code& c);
  std::byte* cooperative_step(uint32_t first, const Code& c, uint32_t line, uint32_t element,
                              Access kind);
  void load_cooperative(uint32_t first, const Code& c);
  void store_cooperative(uint32_t first, const Code& c);
  void multiply_cooperative(uint32_t first, const Code& c);
  void scale_cooperative(uint32_t first, const Code& c);
  bool pass_group_matrices();
  void multiply_group_matrices(uint32_t first, const Code& c);
  std::vector<double> read_tile(uint32_t first, const Code& c, size_t operand, uint32_t rows,
                                bool by_terms);
  bool pass_barrier();

  std::array<uint32_t, 3> local_id(uint32_t thread) const;
  [[noreturn]] void fail(const Thread& t, const std::string& what) const;

  const Kernel& kernel_;
  const Program& program_;
  Memory& memory_;
  const InterpreterOptions& options_;
  std::array<uint32_t, 3> group_ = {};
  uint32_t group_number_ = 0, epoch_ = 0;
  uint64_t steps_ = 0;
  std::vector<Thread> threads_;
  std::vector<uint64_t> scratch_;
};

}  // namespace primset::kir::interp

#endif  // PRIMSET_CODEGEN_KERNEL_INTERPRETER_GROUP_H_
