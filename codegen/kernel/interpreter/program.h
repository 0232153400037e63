// A kernel decoded for the interpreter: structured control flow turned into jumps, every value into
// a place in a thread's registers. Decoded once a launch.
#ifndef PRIMSET_CODEGEN_KERNEL_INTERPRETER_PROGRAM_H_
#define PRIMSET_CODEGEN_KERNEL_INTERPRETER_PROGRAM_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "codegen/kernel/interpreter/lanes.h"

namespace primset::kir::interp {

enum class Step : uint8_t {
  lanes,         // out = fn(a, b, c)
  shuffle,       // out = lanes of a and b by the list
  moves,         // parallel copies from the move list
  jump,          // to target
  jump_if_zero,  // to target when a's word is 0
  for_test,      // to target unless a < b; c: the step
  for_next,      // a += b, then jump to target; c: the loop's counter
  count,         // increments the loop counter c
  memory,        // Load to Scatter
  atomic,
  pointer,  // PtrAdd, IntToPtr, PtrToInt
  barrier,
  exchange,      // SubgroupShuffleXor to SubgroupBallot
  copy,          // CopyAsync to CopyWait
  matrix,        // MatrixLoad, MatrixMultiplyF16, MatrixMultiplyBf16, Cooperative*
  group_matrix,  // GroupMultiplyF16, GroupMultiplyBf16
  end,
};

inline constexpr uint32_t kMatrixLanes = 32;  // of a subgroup that has matrices
// Of a cooperative matrix a lane has elements kMatrixWords * lane and on, row after row, a word
// each.
inline constexpr uint32_t kMatrixWords = 8;

// Register places are word indices. A pointer takes two words: address, region.
struct Code {
  Step step = Step::end;
  Op op = Op::Barrier;
  Scalar type = Scalar::i32;  // the element moved, or the index type of a loop
  uint16_t lanes = 1;
  uint16_t index_width = 32;         // memory: bits of an index
  uint16_t second_index_width = 32;  // GroupMultiply*: of b's
  uint32_t imm = 0;  // lane, alignment, xor mask, word; lists: position in Program::moves, ::lanes
  uint32_t imm_count = 0;  // lists: length
  Rmw rmw = Rmw::add;
  LaneFn fn = nullptr;
  std::array<uint32_t, 5> in = {};
  uint32_t out = 0;
  uint32_t target = 0;
  uint32_t loops = 0;  // barrier, exchange, matrices: position in Program::loop_sets
  InstId inst = 0;
};

struct Move {
  uint32_t from, to, words;
};

// A leaf whose value depends on the thread or group.
struct Leaf {
  Op op;
  uint32_t dim;
  uint32_t out;
};

struct Alloc {
  uint32_t out;
  uint32_t bytes;
  InstId inst;
};

struct Program {
  std::vector<Code> code;
  std::vector<Move> moves;
  std::vector<uint16_t> lanes;
  std::vector<std::vector<uint32_t>> loop_sets;  // counters of the loops around a barrier
  std::vector<uint64_t> registers;               // a thread's registers at the start
  std::vector<Leaf> leaves;
  std::vector<Alloc> group_allocs, private_allocs;
  std::vector<uint32_t> place;  // by Value::id
};

// scalars: the kernel's scalar arguments. Pointer parameters get address 0 and region = position.
Program decode(const Kernel& kernel, std::span<const uint64_t> scalars,
               const InterpreterOptions& options);

}  // namespace primset::kir::interp

#endif  // PRIMSET_CODEGEN_KERNEL_INTERPRETER_PROGRAM_H_
