// Graph capture: while one is active on a thread, operators called there are recorded into one
// PrimGraph instead of being run.
//
// This functionalizes writes: every piece of memory in the region is a base with a current value,
// and a tensor is a base with a chain of views. Reading applies the chain to the value; writing
// replaces the base's value by its value after the write
// (decomps/engine/functionalization/view_steps.h has both). So the graph is pure. At its end, bases
// that existed before and were written become outputs into their own memory.
#ifndef PRIMSET_SDK_RUNTIME_GRAPH_CAPTURE_H_
#define PRIMSET_SDK_RUNTIME_GRAPH_CAPTURE_H_

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "decomps/engine/functionalization/view_functions.h"
#include "sdk/runtime/call/call.h"
#include "sdk/runtime/graph/view_tree.h"
#include "sdk/runtime/plan/plan_builder.h"
#include "sdk/runtime/tensor/distinct_views.h"

namespace primset::runtime {

class Capture {
 public:
  // `inputs` describe `examples` (symbols.h). The capture becomes this thread's.
  Capture(DeviceState& device, std::span<const Tensor> examples, TraceInputs inputs);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // What the captured function gets in place of the examples.
  const std::vector<Tensor>& arguments() const { return arguments_; }
  // The operator of a call that arrived at dispatch.
  void record(Call& call);
  // The program has read the tensor's sizes or strides, or its storage offset: later calls may
  // depend on them, so they become guards.
  void observe_geometry(const TensorImpl& t);
  void observe_offset(const TensorImpl& t);
  // Ends the region. The graph's arguments are the inputs, then constants().
  Traced finish(std::span<const Tensor> results);
  const std::vector<Tensor>& constants() const { return constants_; }

  // This thread's innermost capture, or null.
  static Capture* active();

 private:
  struct Base {
    decomps::Val value;
    decomps::TensorMeta meta;
    int64_t argument = -1;     // the graph's argument whose memory it is; -1: made inside
    uint32_t graph_input = 0;  // of an argument
    bool written = false;
    const TensorImpl* outside = nullptr;  // an argument's tensor
    std::vector<ViewTree::Id> bits;       // from an argument's memory to its values
  };
  struct Record {
    uint32_t base = 0;
    ViewTree::Id views = ViewTree::kWhole;
    decomps::TensorMeta meta;
  };
  class Actuals;

  void specialize(const prims::SymInt& value) const;
  void answer(Call& call);
  Tensor handle(const decomps::TensorMeta& meta, StorageImpl* storage, int64_t offset);
  const Tensor& remember(Tensor t, Record record);
  void add_argument(const Tensor& example, const decomps::TensorMeta& meta, uint32_t argument);
  Record& record_of(const TensorImpl& t);
  void take_constant(const TensorImpl& t);
  void refuse_shared_memory(const TensorImpl& t) const;
  const Base* base_with_memory_of(const TensorImpl& t) const;

  static ViewTree::Id seen_through_bits(const Base& base);
  decomps::Val read(const Record& r);
  void write(const Record& r, const decomps::Val& value);
  std::vector<decomps::View> views_of(const Call& call,
                                      const std::vector<decomps::Actual>& actuals);
  std::vector<prims::ValueId> inputs_of(const Call& call, const decomps::TracedCall& traced);
  prims::ValueId constant_input(const Call& call, const decomps::InputSource& source, DType dtype);
  prims::ValueId random_input(decomps::InputSource::Kind kind);
  void add_written(Call& call, uint32_t argument, uint32_t element, const decomps::Val* value);
  void see_memory(const Call& call, Record& record, decomps::ViewStep step,
                  const prims::SymInt& offset);
  void add_view(Call& call, const decomps::TracedOutput& o, decomps::TensorMeta meta,
                const decomps::View& view);
  void add_number(Call& call, const decomps::Val& value);
  void add_fresh(Call& call, const decomps::TensorMeta& meta, const decomps::Val& value);
  void add_results(Call& call, const decomps::TracedCall& traced,
                   std::span<const prims::ValueId> values, std::span<const decomps::View> views);
  bool describe_view(const Record& r, decomps::TracedOutput& o) const;
  void add_result_of(const Tensor& t, Traced& out);

  DeviceState& device_;
  Capture* outer_;
  TraceInputs inputs_;
  std::shared_ptr<prims::Graph> graph_;
  const specs::Bundle& bundle_;
  decomps::Tracer tracer_;
  std::vector<decomps::InputSource> sources_;
  std::vector<Tensor> arguments_, constants_;
  std::vector<Base> bases_;
  ViewTree views_;
  // The tensors from outside, which are the first bases; for each of their storages the number of
  // tensors, and whether one was written.
  DistinctViews outside_;
  std::vector<uint32_t> base_of_outside_;
  struct StorageUse {
    uint32_t tensors = 0;
    bool written = false;
  };
  std::unordered_map<const StorageImpl*, StorageUse> storages_;
  std::unordered_map<const TensorImpl*, Record> records_;
  std::vector<Tensor> retained_;  // recorded tensors stay, so that no address is used twice
  std::vector<Tensor> aliases_;   // of tensors from outside, likewise
  prims::ValueId seed_ = prims::kNoValue, offset_ = prims::kNoValue;
  prims::SymInt drawn_ = 0;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_GRAPH_CAPTURE_H_
