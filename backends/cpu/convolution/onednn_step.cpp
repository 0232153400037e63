#include "backends/cpu/convolution/onednn_step.h"

#include <algorithm>
#include <string_view>

#include "backends/common/blocked_signals.h"

namespace primset_cpu {
namespace {

// Attributes that every primitive here has: scratch memory is ours, as oneDNN's is tied to the
// thread that made the primitive.
class StepAttributes {
 public:
  explicit StepAttributes(const OneDnn& dnn) : dnn_(dnn) {
    if (dnn_.dnnl_primitive_attr_create(&attributes_) == dnnl_success)
      dnn_.dnnl_primitive_attr_set_scratchpad_mode(attributes_, dnnl_scratchpad_mode_user);
  }
  ~StepAttributes() {
    if (attributes_) dnn_.dnnl_primitive_attr_destroy(attributes_);
  }
  StepAttributes(const StepAttributes&) = delete;
  StepAttributes& operator=(const StepAttributes&) = delete;

  dnnl_primitive_attr_t get() const { return attributes_; }

 private:
  const OneDnn& dnn_;
  dnnl_primitive_attr_t attributes_ = nullptr;
};

constexpr size_t kMostStepArguments = 5;

}  // namespace

OneDnnStep::~OneDnnStep() {
  if (primitive_) dnn_.dnnl_primitive_destroy(primitive_);
}

bool OneDnnStep::make(const_dnnl_op_desc_t operation, std::initializer_list<int> arguments) {
  const StepAttributes attributes(dnn_);
  dnnl_primitive_desc_t described = nullptr;
  if (!attributes.get() || dnn_.dnnl_primitive_desc_create(&described, operation, attributes.get(),
                                                           dnn_.engine, nullptr) != dnnl_success)
    return false;
  const char* code = "";
  dnn_.dnnl_primitive_desc_query(described, dnnl_query_impl_info_str, 0, &code);
  const bool is_reference = std::string_view(code).starts_with("ref");
  const bool made = !is_reference && make_from(described, arguments);
  dnn_.dnnl_primitive_desc_destroy(described);
  return made;
}

bool OneDnnStep::make_copy(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  const StepAttributes attributes(dnn_);
  dnnl_primitive_desc_t described = nullptr;
  if (!attributes.get() ||
      dnn_.dnnl_reorder_primitive_desc_create(&described, &from, dnn_.engine, &to, dnn_.engine,
                                              attributes.get()) != dnnl_success)
    return false;
  const bool made = make_from(described, {DNNL_ARG_FROM, DNNL_ARG_TO});
  dnn_.dnnl_primitive_desc_destroy(described);
  return made;
}

bool OneDnnStep::make_from(dnnl_primitive_desc_t described, std::initializer_list<int> arguments) {
  for (const int index : arguments) {
    const dnnl_memory_desc_t* layout =
        dnn_.dnnl_primitive_desc_query_md(described, dnnl_query_exec_arg_md, index);
    if (!layout) return false;
    arguments_.push_back({index, *layout});
  }
  const dnnl_memory_desc_t* scratch =
      dnn_.dnnl_primitive_desc_query_md(described, dnnl_query_scratchpad_md, 0);
  scratch_bytes_ = scratch ? dnn_.dnnl_memory_desc_get_size(scratch) : 0;
  if (scratch_bytes_ != 0) arguments_.push_back({DNNL_ARG_SCRATCHPAD, *scratch});
  return arguments_.size() <= kMostStepArguments &&
         dnn_.dnnl_primitive_create(&primitive_, described) == dnnl_success;
}

const dnnl_memory_desc_t& OneDnnStep::layout(int argument) const {
  return std::ranges::find(arguments_, argument, &Argument::index)->layout;
}

dnnl_status_t OneDnnStep::run(ThreadScratch& scratch, std::initializer_list<void*> data) const {
  dnnl_exec_arg_t given[kMostStepArguments];
  int count = 0;
  dnnl_status_t status = dnnl_success;
  for (const Argument& a : arguments_) {
    const auto at = static_cast<size_t>(count);
    void* const memory = at < data.size()
                             ? data.begin()[at]
                             : scratch.memory(ThreadScratch::kScratchpad, scratch_bytes_);
    given[at] = {a.index, nullptr};
    status = dnn_.dnnl_memory_create(&given[at].memory, &a.layout, dnn_.engine, memory);
    if (status != dnnl_success) break;
    ++count;
  }
  if (status == dnnl_success) {
    const primset_backend::BlockedSignals scope;
    status = dnn_.dnnl_primitive_execute(primitive_, scratch.stream(), count, given);
    if (status == dnnl_success) status = dnn_.dnnl_stream_wait(scratch.stream());
  }
  for (int i = 0; i < count; ++i) dnn_.dnnl_memory_destroy(given[i].memory);
  return status;
}

}  // namespace primset_cpu
