// cuBLASLt on one device: its handle, and plans of the products asked for lately.
#ifndef PRIMSET_BACKENDS_CUDA_CUBLASLT_H_
#define PRIMSET_BACKENDS_CUDA_CUBLASLT_H_

#include <primset/plugin.h>

#include <memory>

#include "backends/common/plan_cache.h"
#include "backends/cuda/contraction.h"
#include "backends/cuda/cublaslt_api.h"

namespace primset_cuda {

// What the library may use of a stream's own memory while it computes. It is asked for code that
// needs no more, so code, and the bits, do not depend on how much memory is free.
inline constexpr uint64_t kWorkspaceBytes = uint64_t{32} << 20;

struct MatmulAddresses {
  DevicePointer a = 0, b = 0, d = 0, bias = 0;
};

// A call of the library for one shape, all but its addresses. Used by any number of threads.
class MatmulPlan {
 public:
  // Null when the library has no code for the shape. Throws BackendError for any other failure.
  static std::shared_ptr<const MatmulPlan> make(const CublasLtApi& lt, LtHandle handle,
                                                const MatmulShape& shape, bool tf32);

  bool needs_workspace() const { return workspace_bytes_ > 0; }
  // Enqueues D = op(A) op(B), plus the bias where the shape has one. `workspace` has
  // kWorkspaceBytes, or is 0 where none is needed.
  LtStatus run(LtHandle handle, const MatmulAddresses& at, DevicePointer workspace,
               Stream stream) const;

 private:
  template <typename Tag>
  using Owned = std::unique_ptr<Tag, LtStatus (*)(Tag*)>;
  using Layout = Owned<LtLayoutTag>;
  using Desc = Owned<LtMatmulDescTag>;

  MatmulPlan(const CublasLtApi& lt, const MatmulShape& shape, bool tf32);
  Layout layout(LtType type, int64_t rows, int64_t cols, int64_t ld, int64_t stride) const;
  Desc describe() const;
  bool choose(LtHandle handle);

  const CublasLtApi& lt_;
  const MatmulShape shape_;
  const LtCompute compute_;
  Desc desc_;
  Layout a_, b_, d_;
  LtAlgorithm algorithm_{};
  uint64_t workspace_bytes_ = 0;
};

// Any thread may call any function; the device's context is current.
class MatrixLibrary {
 public:
  // Null where there is no cuBLASLt, or none that starts on this device; the log says what is odd.
  static std::unique_ptr<MatrixLibrary> open(const primset_device_t& device);
  ~MatrixLibrary();
  MatrixLibrary(const MatrixLibrary&) = delete;
  MatrixLibrary& operator=(const MatrixLibrary&) = delete;

  // The library is the faster way from so many multiplications a matrix on.
  uint64_t min_multiplications() const { return settings_.min_multiplications; }
  // Null when the library has no code for the shape.
  std::shared_ptr<const MatmulPlan> plan(const MatmulShape& shape);
  void run(primset_stream_t& stream, const MatmulPlan& plan, const MatmulAddresses& at) const;

 private:
  struct Settings {
    bool tf32 = false;
    uint64_t min_multiplications = kMinMultiplications;
  };
  static Settings settings();

  MatrixLibrary(const DriverApi& cu, const CublasLtApi& lt)
      : cu_(cu), lt_(lt), settings_(settings()) {}

  const DriverApi& cu_;
  const CublasLtApi lt_;
  const Settings settings_;
  LtHandle handle_ = nullptr;

  // Asked for plans of more shapes, the device forgets the one that was not used for longest.
  static constexpr size_t kMostPlans = 1024;
  primset_backend::PlanCache<MatmulShape, MatmulPlan> plans_{kMostPlans};
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CUBLASLT_H_
