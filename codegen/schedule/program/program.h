// A scheduled graph: buffers, kernels in kernel IR, and the steps that run them. Sizes, strides and
// grids are symbolic integers, so one Program serves all calls that satisfy the graph's guards. The
// runtime emits, loads and launches the kernels (sdk/runtime/plan/plan_builder.h).
#ifndef PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_H_
#define PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

using BufferId = uint32_t;

// Device memory that a program accesses.
struct Buffer {
  enum class Kind : uint8_t {
    input,   // graph tensor input `index`
    output,  // graph output `index`; may be the memory of an input (Output::writes_input)
    temp,    // allocated for the run
    table,   // numbers that never change, `data`
    errors,  // the stream's error slots (see ErrorSlot)
  };
  Kind kind = Kind::temp;
  uint32_t index = 0;
  DType dtype = DType::f32;
  prims::SymInt elements = 0;  // from the first element to one past the last that is accessed
  std::string note;            // the value it holds, for printing
  std::shared_ptr<const std::vector<std::byte>> data = nullptr;  // table: its elements
};

// One scalar in a kernel's parameter block, after the pointers.
struct ScalarParam {
  enum class Source : uint8_t {
    integer,     // `value`, as i32 or i64
    input,       // graph scalar input `index`, converted to `type` (part 1: imaginary)
    error_base,  // i32: what the runtime adds to this program's check codes (see ErrorSlot)
  };
  Source source = Source::integer;
  kir::Type type;
  prims::SymInt value = 0;
  uint32_t index = 0;
  uint8_t part = 0;
};

struct BufferUse {
  BufferId buffer = 0;
  bool read = false, written = false;
};

struct LaunchStep {
  uint32_t kernel = 0;  // index into Program::kernels
  std::vector<BufferUse> buffers;
  std::vector<ScalarParam> scalars;
  std::array<prims::SymInt, 3> groups = {1, 1, 1};
  uint32_t graph_node = 0;  // a node it computes, for error texts
};

// dst[0 .. elements) = src, both dense from their first element.
struct CopyStep {
  BufferId source = 0, target = 0;
  prims::SymInt elements = 0;
};

// Elements in memory of any strides. Sizes, strides and offsets count elements.
struct StridedTensor {
  BufferId buffer = 0;
  DType dtype = DType::f32;
  prims::SymInts sizes, strides;
  prims::SymInt offset = 0;
};

// target = source, of equal sizes, on a device that takes no kernels.
struct StridedCopyStep {
  StridedTensor source, target;
};

// A primitive that the plugin computes (PRIMSET_EXT_PRIMITIVES). Operands may have any strides;
// results are dense and row-major.
struct NativeStep {
  prims::NodeId node = 0;
  std::vector<StridedTensor> operands, results;
  // A check: its result is the stream's error slot, and this the code that it stores there.
  std::optional<uint32_t> check_code = {};
};

// Reads a rank-0 i64, or i32, from the device and makes it the value of a symbol (compact,
// set_dim).
struct ReadCountStep {
  BufferId buffer = 0;
  uint32_t symbol = 0;
};

struct Step;

// Runs `body` for symbol = 0 .. count - 1.
struct LoopStep {
  prims::SymInt count = 0;
  uint32_t symbol = 0;
  std::vector<Step> body;
};

// Runs `body` while the bool in `condition` is true; `test` computes it.
struct WhileStep {
  BufferId condition = 0;
  std::vector<Step> test, body;
};

struct BranchStep {
  BufferId condition = 0;
  std::vector<Step> then_steps, else_steps;
};

struct Step {
  std::variant<LaunchStep, CopyStep, StridedCopyStep, NativeStep, ReadCountStep, LoopStep,
               WhileStep, BranchStep>
      step;
};

struct CheckSite {  // what an error slot's code stands for
  std::string code, message;
};

struct Program {
  std::shared_ptr<const prims::Graph> graph;
  std::vector<Buffer> buffers;
  // Unlike each other: launches of the same code share one, whatever its parameters are called.
  std::vector<kir::Kernel> kernels;
  std::vector<Step> steps;
  std::vector<CheckSite> checks;  // slot code c > 0 stands for checks[c - 1]
};

// The first failed check of a stream's work: kernels write it with one compare-and-swap on `code`.
struct ErrorSlot {
  uint32_t code = 0;  // 0: none; else 1 + index into Program::checks + the program's base
  uint32_t reserved = 0;
  int64_t value = 0;  // the offending value, floats as the bit pattern of a double
};

// The text of `primset explain`.
std::string print(const Program& program);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_PROGRAM_PROGRAM_H_
