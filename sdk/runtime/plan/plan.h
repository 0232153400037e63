// A plan: a traced, scheduled and compiled call, ready to run for every call with its key whose
// numbers satisfy its guards. Symbolic integers are bytecode over one array of slots (bytecode.h).
// A finished plan is immutable, and any number of threads may run it.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_PLAN_H_
#define PRIMSET_SDK_RUNTIME_PLAN_PLAN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "codegen/schedule/program/program.h"
#include "decomps/engine/engine.h"
#include "primset/tensor.h"
#include "sdk/runtime/cache/kernel_cache.h"
#include "sdk/runtime/plan/bytecode.h"
#include "sdk/runtime/plan/check_table.h"
#include "sdk/runtime/plan/host_scalars.h"

namespace primset::runtime {

struct GuardTest {
  Slot slot;
  prims::Guard::Relation relation;  // slot <relation> 0
};

struct OutputPlan {
  decomps::TracedOutput::Kind kind = decomps::TracedOutput::Kind::fresh;
  DType dtype = DType::f32;
  uint32_t rank = 0;
  uint32_t dims = 0;  // into Plan::dim_slots: sizes, then strides
  Slot offset = 0;
  uint32_t argument = 0, element = 0;
  bool conj = false, neg = false;
  bool same_dtype = true;  // a view without reinterpretation
  bool dynamic = false;    // its size is only known during the run
  int32_t graph_output = -1;
  int32_t out_argument = -1;  // out=: written into this argument,
  uint32_t out_element = 0;   // or this element of a list argument
};

// The source of a scalar input of the graph.
struct ScalarSource {
  decomps::InputSource::Kind kind = decomps::InputSource::Kind::scalar;
  uint32_t argument = 0, element = 0;
  DType dtype = DType::f64;
  std::optional<Scalar> constant = {};  // the value, where it is no argument
};

// The last of Plan::scalars, computed by the host before a run.
struct HostScalarsPlan {
  HostScalars expressions;
  std::vector<uint32_t> scalars;  // what they are computed from, in Plan::scalars
  std::vector<Slot> sizes;
};

inline constexpr uint32_t kNoBlock = UINT32_MAX;  // the temporary is not used

struct BufferPlan {
  schedule::Buffer::Kind kind = schedule::Buffer::Kind::temp;
  uint32_t argument = 0;  // input: of the tensor; output: the output's number; table: into tables
  uint32_t element = 0;   // input: of a list argument
  uint32_t element_bytes = 4;
  Slot elements = 0;
  uint32_t block = kNoBlock;  // temp: temporaries of one block have disjoint live ranges
  bool dynamic = false;       // temp: its size is only known during the run
  int32_t scalar = -1;        // input: filled with Plan::scalars[scalar] (scalar_tensors.h)
};

struct ScalarPlan {
  schedule::ScalarParam::Source source = schedule::ScalarParam::Source::integer;
  kir::Scalar type = kir::Scalar::i32;
  uint32_t offset = 0;  // bytes into the scalars
  uint32_t index = 0;   // integer: slot; input: into Plan::scalars
  uint8_t part = 0;
};

struct LaunchPlan {
  KernelPtr kernel;
  struct Binding {
    uint32_t buffer = 0, access = 0;
  };
  std::vector<Binding> bindings;
  std::vector<ScalarPlan> scalars;
  std::array<Slot, 3> groups{};
};

struct CopyPlan {
  uint32_t source = 0, target = 0;
  Slot elements = 0;
};

struct StridedPlan {
  uint32_t buffer = 0;
  DType dtype = DType::f32;
  std::vector<Slot> sizes, strides;
  Slot offset = 0;
};

// Through the host, where it is no copy of bytes.
struct StridedCopyPlan {
  StridedPlan source, target;
};

struct NativePlan {
  static constexpr uint32_t kNested = UINT32_MAX;
  using Operand = StridedPlan;

  std::string name;
  uint32_t number = kNested;  // among the natives of Plan::steps; kNested: inside another step
  std::vector<Operand> operands, results;
  // Attributes: integers may be symbolic.
  struct Attribute {
    std::string name;
    uint32_t kind = 0;  // PRIMSET_ATTR_*
    std::vector<Slot> integers;
    double floating = 0;
    std::string text;
  };
  std::vector<Attribute> attributes;
};

struct StepPlan;
struct ReadCountPlan {
  uint32_t buffer = 0, dynamic = 0;
  bool narrow = false;  // it is an i32
};
struct LoopPlan {
  Slot count = 0;
  uint32_t dynamic = 0;
  std::vector<StepPlan> body;
};
struct WhilePlan {
  uint32_t condition = 0;
  std::vector<StepPlan> test, body;
};
struct BranchPlan {
  uint32_t condition = 0;
  std::vector<StepPlan> then_steps, else_steps;
};
struct StepPlan {
  std::variant<LaunchPlan, CopyPlan, StridedCopyPlan, NativePlan, ReadCountPlan, LoopPlan,
               WhilePlan, BranchPlan>
      step;
};

struct Plan : std::enable_shared_from_this<Plan> {
  // --- which calls it serves ---------------------------------------------------------------------
  Code code;
  uint32_t guard_insts = 0;  // the first instructions of `code`, which the guards need
  std::vector<GuardTest> guards;
  std::vector<std::string>
      guard_texts;  // of the guards; only while recompilations are logged (recompilation_log.h)
  struct SizePair {
    Slot have, want;
  };
  // out=: `fit`: the out tensors have the results' sizes. `resize`: they have not, and the plan
  // only says which sizes they must get; the call then needs another plan. `after`: the sizes are
  // known after the run only, and the results are copied.
  enum class Outs : uint8_t { none, fit, resize, after };
  Outs outs = Outs::none;
  bool rank_differs = false;  // resize: some out tensor has another rank, whatever its sizes
  std::vector<SizePair> out_sizes;

  // --- what they get -----------------------------------------------------------------------------
  std::vector<OutputPlan> outputs;
  std::vector<Slot> dim_slots;
  std::vector<decomps::NumberFit> fits;  // numbers of the call that a dtype must hold
  bool draws_random = false;
  Slot random_counters = 0;

  // --- how ---------------------------------------------------------------------------------------
  std::vector<ScalarSource> scalars;
  std::optional<HostScalarsPlan> host_scalars;
  std::vector<BufferPlan> buffers;
  std::vector<Tensor> tables;  // what buffers of kind table hold
  uint32_t blocks = 0;         // temporaries allocated before the run
  std::vector<StepPlan> steps;
  // It has many steps, which enqueue the same work in every run with the same memory and numbers,
  // so that it may be recorded (recordings.h).
  bool repeatable = false;
  bool has_natives = false;                  // among its steps themselves
  uint64_t id = 0;                           // no two plans of the process have the same
  std::shared_ptr<const CheckTable> checks;  // null when nothing can fail on the device
  bool computes = false;                     // false: its results are views or uninitialised memory
  // What it was compiled from, for printing; null for views, and after drop_sources().
  std::shared_ptr<const prims::Graph> graph;
  std::shared_ptr<const schedule::Program> program;
  size_t returned = 0;            // a captured graph: how many outputs its function returned
  std::vector<Tensor> constants;  // a captured graph's tensors from outside; the last arguments

  // Derives from the steps: repeatable, has_natives, the natives' numbers, id.
  void finish_steps();
  // Frees what it was compiled from: most of a plan's memory, and needed by no run.
  void drop_sources() {
    graph = nullptr;
    program = nullptr;
  }
  // Do the call's numbers satisfy the guards? `slots` has the symbol values; constants and the
  // first guard_insts results are there afterwards.
  bool admits(int64_t* slots) const;
  // The text of the first guard that does not hold; `slots` as for admits().
  std::string broken_guard(int64_t* slots) const;

 private:
  std::optional<size_t> first_broken(int64_t* slots) const;  // into guards
  bool outs_fit(const int64_t* slots) const;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_PLAN_H_
