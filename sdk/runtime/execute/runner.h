// One run of a plan: makes its results, binds memory, takes its steps. What others call is in
// executor.h.
//
//   runner.cpp           results, memory, launches, control flow
//   runner_numbers.cpp   scalar arguments, random positions, what launches are given of them
//   runner_natives.cpp   what the plugin runs itself
//   runner_repeats.cpp   runs that are played from a recording
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_RUNNER_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/executor.h"
#include "sdk/runtime/execute/native.h"
#include "sdk/runtime/execute/recordings.h"

namespace primset::runtime {

// Where a buffer of the program is.
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

  // What a run does before its steps: results, memory; then, with the stream's lock, the rest.
  void prepare();
  void begin(StreamLock& lock);

  // What a launch is given; false when its grid is empty.
  struct LaunchData {
    uint32_t groups[3];
    SmallVector<Bound, 12> memory;
    SmallVector<primset_binding, 12> bindings;
    SmallVector<uint64_t, 32> scalars;
  };
  bool gather(const LaunchPlan& l, LaunchData& d);
  // Would the driver end the launch's loops too early? `spare`: rounds that the launch takes
  // besides.
  bool has_long_loops(const LaunchPlan& l, const LaunchData& d, uint32_t spare) const;
  // Nothing is in memory that others own.
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
  Bound number_buffer(uint64_t bytes);
  // Numbers that are tensors to the device (host_values.h).
  void fill_numbers();
  void bind_errors();
  void release_blocks();
  // Of a buffer, also one whose size the run itself found out.
  const Bound& memory(uint32_t buffer);
  void order();
  template <typename F>
  void for_each_storage(F f) const;

  // --- numbers
  void load_scalars();
  Generator::Position position();
  void write_scalar(const ScalarPlan& p, std::byte* to) const;

  // --- runs that repeat
  // Of a repeatable plan. Enqueues the run by way of a recording; false when it is to be launched.
  bool run_again();
  bool sign(const LaunchPlan& l, RunSignature& words);
  bool sign(const CopyPlan& c, RunSignature& words);
  bool sign(const NativePlan& n, RunSignature& words);
  template <typename Step>
  bool sign(const Step&, RunSignature&) {
    return false;  // asks the host what to do
  }

  // --- steps
  void run_steps(const std::vector<StepPlan>& steps);
  void step(const LaunchPlan& l);
  void step(const CopyPlan& c);
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
  // Those whose sizes are known before the run: what one refuses is found out while another plan
  // can still do it.
  void find_natives();
  // Of those, or null.
  FoundNative* found_native(const NativePlan& n);
  [[noreturn]] void refused(const NativePlan& n) const;
  void run_native(FoundNative& found);
  bool all_dense(const NativePlan& n) const;
  NativeCall native_call(const NativePlan& n, bool make_dense);
  void add_dense(const NativePlan::Operand& o, NativeCall& call);

  const Plan& plan_;
  const RunInputs& in_;
  int64_t* slots_;
  DeviceState& device_;
  Results& results_;
  StreamState* stream_ = nullptr;
  StreamLock* lock_ = nullptr;
  bool exact_ = true;
  bool drawn_ = false;
  Generator::Position position_{};
  SmallVector<Bound, 12> bound_;
  SmallVector<Block, 4> blocks_;
  SmallVector<Block, 1> dynamic_blocks_;
  SmallVector<Scalar, 4> scalars_;
  std::vector<FoundNative> natives_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_RUNNER_H_
