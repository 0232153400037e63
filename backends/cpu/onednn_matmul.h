// One matrix product by oneDNN, on the calling thread.
#ifndef PRIMSET_BACKENDS_CPU_ONEDNN_MATMUL_H_
#define PRIMSET_BACKENDS_CPU_ONEDNN_MATMUL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/onednn_api.h"

namespace primset_cpu {

// What a product's code depends on. Strides in elements; c is of f32 with dense columns.
struct MatmulShape {
  dnnl_data_type_t dtype = dnnl_f32;  // of a and b
  int64_t m = 0, n = 0, k = 0;
  int64_t a_rows = 0, a_cols = 0, b_rows = 0, b_cols = 0, c_rows = 0;
  friend bool operator==(const MatmulShape&, const MatmulShape&) = default;
};

// Immutable once made; any number of threads may run it at once.
class Matmul {
 public:
  // Null when oneDNN has no code for it on this CPU. Made once a shape, then remembered.
  static std::shared_ptr<const Matmul> get(const OneDnn& dnn, const MatmulShape& shape);
  ~Matmul();
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  // `scratch` grows as needed and may be used again. The caller holds a OneThread.
  dnnl_status_t run(dnnl_stream_t stream, const void* a, const void* b, void* c,
                    std::vector<char>& scratch) const;

 private:
  explicit Matmul(const OneDnn& dnn) : dnn_(dnn) {}
  bool create(const MatmulShape& shape);

  const OneDnn& dnn_;
  dnnl_memory_desc_t a_{}, b_{}, c_{}, scratch_{};
  size_t scratch_bytes_ = 0;
  dnnl_primitive_t primitive_ = nullptr;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_ONEDNN_MATMUL_H_
