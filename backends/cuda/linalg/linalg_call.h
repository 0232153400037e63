// A call of a primitive of linear algebra while it runs: where its matrices lie, copies of them as
// the libraries take them, and the memory that these need.
#ifndef PRIMSET_BACKENDS_CUDA_LINALG_LINALG_CALL_H_
#define PRIMSET_BACKENDS_CUDA_LINALG_LINALG_CALL_H_

#include <primset/plugin.h>

#include <cstdint>
#include <vector>

#include "backends/common/call_attributes.h"
#include "backends/cuda/kernels/strided_copy.h"
#include "backends/cuda/linalg/handles.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {

// Sizes of the last two dims, and how many matrices the others count.
struct MatrixSizes {
  int64_t count = 1, rows = 0, columns = 0;

  explicit MatrixSizes(const primset_tensor& t);
  int64_t elements() const { return rows * columns; }
  int64_t least() const { return rows < columns ? rows : columns; }
  int64_t most() const { return rows < columns ? columns : rows; }
};

// How a matrix of a result lies in scratch memory, in elements.
struct ScratchLayout {
  int64_t row_stride, column_stride, matrix_stride;
  bool conjugated = false;  // the result has the conjugates
};

using primset_backend::flag;

// Strides, in elements, of the copies that LinalgCall makes of a tensor: matrix after matrix, by
// columns.
std::vector<int64_t> strides_by_columns(const primset_tensor& t);

class LinalgCall {
 public:
  // pre: find accepts the call, of numbers of this type.
  LinalgCall(primset_stream_t& stream, const primset_primitive_call& call, const NumberType& type);

  const CublasApi& blas() const { return libraries_.blas(); }
  const CusolverApi& solver() const { return libraries_.solver(); }
  const LinalgHandles& handles() const { return handles_; }
  const MatrixKernels& kernels() const { return kernels_; }
  const LibraryTuning& tuning() const { return stream.device->tuning; }

  const primset_tensor& operand(uint32_t i) const { return call.operands[i]; }
  const primset_tensor& result(uint32_t i) const { return call.results[i]; }
  DevicePointer result_at(uint32_t i) const { return address_of(call.results[i]); }
  static DevicePointer address_of(const primset_tensor& t) {
    return t.buffer ? t.buffer->address + t.offset : 0;
  }

  DevicePointer scratch(int64_t bytes) { return scratch_.take(static_cast<uint64_t>(bytes)); }
  // 32 zeroed bits for each of `count`.
  DevicePointer zeroed(int64_t count);
  // Copies of an operand: without gaps, its last two dims by columns; and as it is.
  DevicePointer copied_by_columns(uint32_t operand);
  DevicePointer copied(uint32_t operand);
  void copy_to(DevicePointer to, uint32_t operand);
  void copy_out(DevicePointer from, uint32_t result, const ScratchLayout& layout);

  // A table of the addresses of matrices.
  DevicePointer addresses(DevicePointer first, int64_t stride_bytes, int64_t count);

  // What a function of cuSOLVER wants while it computes.
  struct Work {
    void* device;
    size_t device_bytes;
    void* host;
    size_t host_bytes;
  };
  Work work(size_t device_bytes, size_t host_bytes);

  primset_stream_t& stream;
  const primset_primitive_call& call;
  const NumberType type;

 private:
  const LinalgLibraries& libraries_;
  LinalgHandles& handles_;
  const MatrixKernels& kernels_;
  Scratch scratch_;
};

// Addresses as the libraries take them.
inline void* pointer(DevicePointer p, int64_t bytes = 0) {
  return reinterpret_cast<void*>(p + static_cast<uint64_t>(bytes));
}
template <typename T>
T* pointer_to(DevicePointer p, int64_t elements = 0) {
  return static_cast<T*>(pointer(p)) + elements;
}

// cuBLAS and most of cuSOLVER count in 32 bits; the calls that are taken fit.
inline int as_int(int64_t x) {
  return static_cast<int>(x);
}

// --- the primitives ------------------------------------------------------------------------------

void run_lu(LinalgCall& c);
void run_cholesky(LinalgCall& c);
void run_triangular_solve(LinalgCall& c);
void run_qr(LinalgCall& c);
void run_householder_product(LinalgCall& c);
void run_apply_reflectors(LinalgCall& c);
void run_svd(LinalgCall& c);
void run_eigh(LinalgCall& c);
void run_eig(LinalgCall& c);

// --- which calls are taken as a batch ------------------------------------------------------------

// More than one matrix, each too small to fill the device alone.
bool is_batch(const MatrixSizes& sizes, const LibraryTuning& tuning);
// Up to which order gesvdjBatched takes matrices, and syevjBatched is made for.
inline constexpr int64_t kMostBatchedRotations = 32;

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_LINALG_LINALG_CALL_H_
