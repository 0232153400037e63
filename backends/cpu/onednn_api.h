// oneDNN, opened when it is first needed: a machine without it only loses the faster way, and a
// process that multiplies no matrices and convolves nothing does not pay for loading it.
#ifndef PRIMSET_BACKENDS_CPU_ONEDNN_API_H_
#define PRIMSET_BACKENDS_CPU_ONEDNN_API_H_

#include <oneapi/dnnl/dnnl.h>

#include "backends/common/shared_library.h"

#define PRIMSET_ONEDNN_FUNCTIONS(X)                      \
  X(dnnl_binary_desc_init)                               \
  X(dnnl_dilated_convolution_backward_data_desc_init)    \
  X(dnnl_dilated_convolution_backward_weights_desc_init) \
  X(dnnl_dilated_convolution_forward_desc_init)          \
  X(dnnl_engine_create)                                  \
  X(dnnl_get_effective_cpu_isa)                          \
  X(dnnl_matmul_desc_init)                               \
  X(dnnl_memory_create)                                  \
  X(dnnl_memory_desc_equal)                              \
  X(dnnl_memory_desc_get_size)                           \
  X(dnnl_memory_desc_init_by_strides)                    \
  X(dnnl_memory_desc_init_by_tag)                        \
  X(dnnl_memory_desc_init_submemory)                     \
  X(dnnl_memory_destroy)                                 \
  X(dnnl_memory_set_data_handle)                         \
  X(dnnl_primitive_attr_create)                          \
  X(dnnl_primitive_attr_destroy)                         \
  X(dnnl_primitive_attr_set_scratchpad_mode)             \
  X(dnnl_primitive_create)                               \
  X(dnnl_primitive_desc_create)                          \
  X(dnnl_primitive_desc_destroy)                         \
  X(dnnl_primitive_desc_query)                           \
  X(dnnl_primitive_desc_query_md)                        \
  X(dnnl_primitive_destroy)                              \
  X(dnnl_primitive_execute)                              \
  X(dnnl_reorder_primitive_desc_create)                  \
  X(dnnl_stream_create)                                  \
  X(dnnl_stream_destroy)                                 \
  X(dnnl_stream_wait)                                    \
  X(dnnl_version)

namespace primset_cpu {

struct OneDnn {
  PRIMSET_ONEDNN_FUNCTIONS(PRIMSET_DECLARED_MEMBER)

  dnnl_engine_t engine = nullptr;
  // Without AVX-512 oneDNN adds a product's terms in another order for each direction, by rows or
  // by columns, in which an operand lies.
  bool order_by_direction = false;
  // Of the OpenMP library that oneDNN uses; null where it uses none.
  void (*omp_set_num_threads)(int) = nullptr;
  int (*omp_get_max_threads)() = nullptr;
};

// Null where there is no usable oneDNN 2.x. Any thread.
const OneDnn* onednn();

// While it lives, oneDNN runs on the calling thread alone: it decides by the number of OpenMP
// threads where to cut sums, and results must not depend on that. The parallelism is ThreadPool's.
class OneThread {
 public:
  explicit OneThread(const OneDnn& dnn) : dnn_(dnn) {
    if (!dnn_.omp_set_num_threads || !dnn_.omp_get_max_threads) return;
    before_ = dnn_.omp_get_max_threads();
    dnn_.omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ > 0) dnn_.omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const OneDnn& dnn_;
  int before_ = 0;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_ONEDNN_API_H_
