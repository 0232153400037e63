// One run of a plan: allocates results, binds memory, executes the steps. Callers use executor.h.
//
//   runner.cpp           results, memory, launches, control flow
//   runner_numbers.cpp   scalar arguments, generator positions, scalar parameters of launches
//   runner_natives.cpp   native primitives
//   runner_repeats.cpp   runs that are replayed from a recording
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_RUNNER_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/executor.h"
#include "sdk/runtime/execute/native_primitive.h"
#include "sdk/runtime/execute/recordings.h"

namespace primset::runtime {

// The memory of a program's buffer; `host` is its CPU address, or null.
struct Bound {
  primset_buffer buffer = nullptr;
  uint64_t offset = 0, bytes = 0;
  std::byte* host = nullptr;
};

class Runner {
 public:
  Runner(const Plan& plan, const RunInputs& in, Results& results)
      : plan_(plan), in_(in), slots_(in.slots), device_(*in.device), results_(results) {}
  ~Runner() {
    if (!blocks_.empty() || !dynamic_blocks_.empty()) release_blocks();
  }

  void run();

  // Before the steps: results and memory; then, under the stream's lock, error slots and stream
  // order.
  void prepare();
  void begin(StreamLock& lock);

  // The grid, memory and scalars of a launch.
  struct LaunchData {
    uint32_t groups[3];
    SmallVector<Bound, 12> memory;
    SmallVector<primset_binding, 12> bindings;
    SmallVector<uint64_t, 32> scalars;
  };
  // Evaluates them; false: the grid is empty.
  bool gather(const LaunchPlan& l, LaunchData& d);
  // May the launch reach the driver's loop limit? `spare`: further iterations, of its table form.
  bool has_long_loops(const LaunchPlan& l, const LaunchData& d, uint32_t spare) const;
  // No buffer is imported memory, which may alias another buffer.
  bool exact() const { return exact_; }

 private:
  // --- results
  using Dims = SmallVector<int64_t, kInlineRank>;
  void make_results();
  void dims(const OutputPlan& o, Dims& sizes, Dims& strides) const;
  TensorImpl* fresh(const OutputPlan& o);
  TensorImpl* view(const OutputPlan& o);
  void finish_dynamic_results();
  void make_dynamic_result(size_t k);

  // --- memory
  uint64_t bytes_of(const BufferPlan& b) const;
  void bind_buffers();
  Bound temporary(const BufferPlan& b);
  Bound scratch_buffer(uint64_t bytes);
  // Scalars that are tensors to the device (scalar_tensors.h).
  void fill_scalar_tensors();
  void bind_errors();
  void release_blocks();
  // The memory of a buffer; allocates one whose size only the run knows.
  const Bound& memory(uint32_t buffer);
  void order();
  template <typename F>
  void for_each_storage(F f) const;

  // --- numbers
  void load_scalars();
  void compute_scalars(const HostScalarsPlan& plan);
  Generator::Position position();
  void write_scalar(const ScalarPlan& p, std::byte* to) const;

  // --- runs that repeat
  // For a repeatable plan: enqueues the run by a recording; false: launch it.
  bool run_again();
  bool sign(const LaunchPlan& l, RunSignature& words);
  bool sign(const CopyPlan& c, RunSignature& words);
  bool sign(const NativePlan& n, RunSignature& words);
  template <typename Step>
  bool sign(const Step&, RunSignature&) {
    return false;  // depends on a value that the host reads
  }

  // --- steps
  void run_steps(const std::vector<StepPlan>& steps);
  void step(const LaunchPlan& l);
  void step(const CopyPlan& c);
  void step(const StridedCopyPlan& c);
  void step(const NativePlan& n);
  void step(const ReadCountPlan& r);
  void step(const LoopPlan& l);
  void step(const WhilePlan& w);
  void step(const BranchPlan& b);
  void restart_hazards();
  template <typename T>
  T read(uint32_t buffer);
  void set_dynamic(uint32_t number, int64_t value);
  std::vector<int64_t> values(const std::vector<Slot>& list) const;

  // --- natives
  struct FoundNative {
    const NativePlan* plan;
    NativeCall call;
    primset_primitive primitive;
  };
  // Asks the plugin for those whose sizes are known before the run, while another plan can still be
  // used if it refuses.
  void find_natives();
  // Of those, or null.
  FoundNative* found_native(const NativePlan& n);
  [[noreturn]] void refused(const NativePlan& n) const;
  void run_native(FoundNative& found);
  bool has_error_slot(const NativePlan& n) const;
  void enqueue_native(FoundNative& found);
  bool all_dense(const NativePlan& n) const;
  NativeCall native_call(const NativePlan& n, bool make_dense);
  std::vector<std::byte> read_packed(const StridedPlan& o);
  void write_packed(const StridedPlan& o, std::span<const std::byte> packed);
  void add_dense(const StridedPlan& o, NativeCall& call);

  const Plan& plan_;
  const RunInputs& in_;
  int64_t* slots_;
  DeviceState& device_;
  Results& results_;
  StreamState* stream_ = nullptr;
  StreamLock* lock_ = nullptr;
  bool exact_ = true;
  bool drawn_ = false;
  bool is_recording_ = false;
  Generator::Position position_{};
  SmallVector<Bound, 12> bound_;
  SmallVector<Block, 4> blocks_;
  SmallVector<Block, 1> dynamic_blocks_;
  SmallVector<Scalar, 4> scalars_;
  std::vector<FoundNative> natives_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_RUNNER_H_
