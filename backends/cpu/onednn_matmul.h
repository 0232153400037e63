// One matrix product by oneDNN, on the calling thread.
#ifndef PRIMSET_BACKENDS_CPU_ONEDNN_MATMUL_H_
#define PRIMSET_BACKENDS_CPU_ONEDNN_MATMUL_H_

#include <cstdint>
#include <memory>

#include "backends/cpu/onednn_api.h"

namespace primset_cpu {

// What a product's code depends on. Strides in elements; c is of f32, or of 32-bit integers where a
// and b are of 8 bits, with dense columns.
struct MatmulShape {
  dnnl_data_type_t dtype = dnnl_f32;  // of a and b
  int64_t m = 0, n = 0, k = 0;
  int64_t a_rows = 0, a_cols = 0, b_rows = 0, b_cols = 0, c_rows = 0;
  friend bool operator==(const MatmulShape&, const MatmulShape&) = default;
};

// Immutable once made; any number of threads may run it at once, each through a MatmulRun.
class Matmul {
 public:
  // Null when oneDNN has no code for it on this CPU. Made once a shape, then remembered.
  static std::shared_ptr<const Matmul> get(const OneDnn& dnn, const MatmulShape& shape);
  // oneDNN's code for small matrices, which demands operands without gaps. Other code may add in
  // another order.
  bool batched_kernel() const { return batched_kernel_; }
  ~Matmul();
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

 private:
  friend class MatmulRun;
  explicit Matmul(const OneDnn& dnn) : dnn_(dnn) {}
  bool create(const MatmulShape& shape);

  const OneDnn& dnn_;
  dnnl_memory_desc_t a_{}, b_{}, c_{}, scratch_{};
  size_t scratch_bytes_ = 0;
  bool batched_kernel_ = false;
  dnnl_primitive_t primitive_ = nullptr;
};

// What one thread needs to run products: a stream and memory for intermediate values. Making one
// costs as much as a small product, so they are kept and lent.
class ThreadScratch {
 public:
  static std::unique_ptr<ThreadScratch> take(const OneDnn& dnn);  // throws std::bad_alloc
  static void give_back(std::unique_ptr<ThreadScratch> scratch);
  ~ThreadScratch();
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;

  dnnl_stream_t stream() const { return stream_; }
  enum Space { kScratchpad, kPackedA, kPackedB, kNarrow };
  static constexpr int kSpaces = kNarrow + 1;
  // Aligned to 64 bytes; valid until the next call for the same space.
  void* memory(Space space, size_t bytes);

 private:
  explicit ThreadScratch(const OneDnn& dnn) : dnn_(dnn) {}

  const OneDnn& dnn_;
  dnnl_stream_t stream_ = nullptr;
  struct Memory {
    std::unique_ptr<char[]> data;
    size_t bytes = 0;
  } memory_[kSpaces];
};

// A product that one thread runs many times, on other memory each time.
class MatmulRun {
 public:
  MatmulRun(const Matmul& matmul, ThreadScratch& scratch);
  ~MatmulRun();
  MatmulRun(const MatmulRun&) = delete;
  MatmulRun& operator=(const MatmulRun&) = delete;

  // The caller holds a OneThread.
  dnnl_status_t run(const void* a, const void* b, void* c);

 private:
  const Matmul& matmul_;
  ThreadScratch& thread_scratch_;
  dnnl_exec_arg_t arguments_[4];
  int count_ = 0;
  dnnl_status_t made_ = dnnl_success;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_ONEDNN_MATMUL_H_
