// Kernel IR: a small typed, structured SSA form between schedules and emitters.
//
// A Kernel is one entry point. It is launched over a grid of workgroups; on a CPU a workgroup is
// one thread and the lanes of vec<T, N> are its parallelism, on a GPU a workgroup is a SIMT group
// and values are scalars or short vectors. Nothing here knows a target beyond what TargetModel
// (target_model.h) says.
//
// Parameters: first all pointers to global memory, then scalars (see param_layout()).
// Ownership: a Kernel owns its instructions and blocks; Value, BlockId and InstId are indices into
// it. Threads: a Kernel is built by one thread; a finished one may be read by many.
#ifndef PRIMSET_CODEGEN_KERNEL_IR_IR_H_
#define PRIMSET_CODEGEN_KERNEL_IR_IR_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel/ir/type.h"
#include "sdk/base/small_vector.h"

namespace primset::kir {

// --- operations ----------------------------------------------------------------------------------

enum class Op : uint8_t {
#define PRIMSET_KIR_OP(id, text, operands, results, group) id,
#include "codegen/kernel/ir/ops.def"
#undef PRIMSET_KIR_OP
};

enum class Group : uint8_t {
  Leaf,
  IntBinary,
  IntUnary,
  FloatUnary,
  FloatBinary,
  FloatTernary,
  FloatDevice,
  Compare,
  Choice,
  Convert,
  Vector,
  Pointer,
  Memory,
  Hint,
  Atomic,
  Alloc,
  Async,
  Matrix,
  Sync,
  Subgroup,
  Control,
};

struct OpInfo {
  std::string_view text;
  int operands;  // -1: varies
  int results;
  Group group;
};
const OpInfo& info(Op op);

// fadd, fmin and fmax work on f32 and f64; in fmin and fmax NaN wins, and -0 < +0 is not told
// apart.
enum class Rmw : uint8_t {
  add,
  min_s,
  max_s,
  min_u,
  max_u,
  and_,
  or_,
  xor_,
  exchange,
  fadd,
  fmin,
  fmax
};
std::string_view name(Rmw r);
constexpr bool is_float(Rmw r) {
  return r >= Rmw::fadd;
}
// The operation that ops.def or name(Rmw) spells so; false when there is none.
bool parse_op(std::string_view text, Op& op);
bool parse_rmw(std::string_view text, Rmw& rmw);

// --- instructions --------------------------------------------------------------------------------

struct Value {
  uint32_t id = UINT32_MAX;
  constexpr bool valid() const { return id != UINT32_MAX; }
  friend constexpr auto operator<=>(const Value&, const Value&) = default;
};
using InstId = uint32_t;
using BlockId = uint32_t;

struct Imm {
  uint64_t bits = 0;  // Const
  // Param, ids, Extract, Insert, SubgroupShuffleXor, SubgroupBallot, CopyWait, MatrixLoad,
  // GroupMultiply*, CooperativeLoad
  uint32_t index = 0;
  uint32_t align = 0;  // Memory: bytes the address is known to be a multiple of; never 0 there
  Scalar elem = Scalar::i32;    // Alloc, Hint, CopyAsync
  uint32_t count = 0;           // Alloc, Hint, CopyAsync, CooperativeLoad, CooperativeStore
  Rmw rmw = Rmw::add;           // AtomicRmw
  std::vector<uint16_t> lanes;  // Shuffle

  friend bool operator==(const Imm&, const Imm&) = default;
};

struct Inst {
  Op op = Op::Const;
  Imm imm;
  SmallVector<Value, 3> operands;
  SmallVector<Value, 2> results;
  std::vector<BlockId> regions;
};

// Collective: the threads of a workgroup, or the lanes of a subgroup, execute it together.
bool is_collective(Op op);
// No memory access, no effect, not collective: may be repeated, reused or dropped.
bool is_pure(Op op);
// Operand order does not matter (integers and integer comparisons only).
bool is_commutative(Op op);

// A straight list of instructions; regions of control flow are blocks with parameters. A region
// ends in a yield, the kernel's body does not.
struct Block {
  std::vector<Value> params;
  std::vector<InstId> insts;
};

struct Param {
  std::string name;
  Type type;             // ptr<global>, or i32, i64, f32, f64 with one lane
  bool written = false;  // pointers: the kernel stores through it
  bool read = false;     // pointers: the kernel loads through it
  // Pointers: nothing writes this memory during the launch, through this or any other pointer, so
  // loads from it may be hoisted past stores (metadata, inputs known not to be donated).
  bool invariant = false;
  // Pointers, a hint: an evict-last cache policy for its loads, so that stores leave the cache
  // first. The text of kernel IR calls it `kept`.
  bool evict_last = false;
};

// Byte offsets of the parameters in the launch's parameter block: pointers come first, 8 bytes
// each; scalars follow, each aligned to its size. size is a multiple of 8.
struct ParamLayout {
  std::vector<uint32_t> offsets;
  uint32_t size = 0;
  uint32_t pointers = 0;  // number of leading pointers
};

struct Kernel {
  std::string name;                                // a C identifier; the entry point's name
  std::array<uint32_t, 3> group_size = {1, 1, 1};  // threads a workgroup; {1,1,1} on a CPU
  // An occupancy hint: registers should allow this many workgroups on a
  // multiprocessor; 0: none. Its text is `resident(n)`; CUDA: __launch_bounds__, .minnctapersm.
  uint32_t min_groups_per_multiprocessor = 0;
  std::vector<Param> params;
  std::vector<Inst> insts;
  std::vector<Block> blocks;  // blocks[0] is the body
  std::vector<Type> types;    // by Value::id

  Type type(Value v) const { return types[v.id]; }
  const Block& body() const { return blocks[0]; }
};

ParamLayout param_layout(const std::vector<Param>& params);
// Workgroup memory that the kernel declares; each array begins at a multiple of 16.
uint32_t group_memory_bytes(const Kernel& kernel);
// Does it multiply matrices in workgroup memory?
bool multiplies_in_group(const Kernel& kernel);
// Does it have cooperative matrices?
bool is_cooperative(const Kernel& kernel);
bool is_cooperative(Op op);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_IR_IR_H_
