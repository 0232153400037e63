// One call of oneDNN, on the calling thread: a primitive and how its operands lie in memory.
#ifndef PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_STEP_H_
#define PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_STEP_H_

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "backends/cpu/onednn_api.h"
#include "backends/cpu/onednn_matmul.h"

namespace primset_cpu {

// Immutable once made; any number of threads may run it at once.
class OneDnnStep {
 public:
  explicit OneDnnStep(const OneDnn& dnn) : dnn_(dnn) {}
  ~OneDnnStep();
  OneDnnStep(const OneDnnStep&) = delete;
  OneDnnStep& operator=(const OneDnnStep&) = delete;

  // Of a descriptor of one of the library's operations. False when the library has no code for it
  // on this CPU but its reference's loops, which are slower than generated kernels.
  bool make(const_dnnl_op_desc_t operation, std::initializer_list<int> arguments);
  // A copy from one layout and type to others.
  bool make_copy(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to);

  // The layout of an operand that the library chose.
  const dnnl_memory_desc_t& layout(int argument) const;
  size_t bytes(int argument) const { return dnn_.dnnl_memory_desc_get_size(&layout(argument)); }

  // The caller holds a OneThread. Data is of the order of `arguments`, or from and to.
  dnnl_status_t run(ThreadScratch& scratch, std::initializer_list<void*> data) const;

 private:
  bool make_from(dnnl_primitive_desc_t described, std::initializer_list<int> arguments);

  struct Argument {
    int index;
    dnnl_memory_desc_t layout;
  };

  const OneDnn& dnn_;
  std::vector<Argument> arguments_;  // the scratchpad, where there is one, is the last
  size_t scratch_bytes_ = 0;
  dnnl_primitive_t primitive_ = nullptr;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_CONVOLUTION_ONEDNN_STEP_H_
