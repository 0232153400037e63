// A graph of operations as cuDNN takes it: descriptors, and the plan by which the library runs it.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_GRAPH_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_GRAPH_H_

#include <primset/plugin.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cuda/libraries/cudnn_api.h"

namespace primset_cuda {

// The library's handle. A call sets its stream first, so that threads take turns.
class CudnnHandle {
 public:
  // Null where there is no cuDNN; the log says what is odd. The device's context is current.
  static std::shared_ptr<const CudnnHandle> open(primset_device_t& device);

  explicit CudnnHandle(std::shared_ptr<const CudnnApi> api);
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;

  const CudnnApi& api() const { return *api_; }
  DnnHandle get() const { return handle_; }
  std::mutex& mutex() const { return mutex_; }

 private:
  const std::shared_ptr<const CudnnApi> api_;
  DnnHandle handle_ = nullptr;
  mutable std::mutex mutex_;
};

// Nullopt when no graph of ours has tensors of this PRIMSET_* type.
std::optional<DnnType> dnn_type(uint32_t dtype);

// Thrown when the library refuses a descriptor: it has no code for what is described.
struct CudnnRefusal {};

// A descriptor, owned. Its functions throw CudnnRefusal, and BackendError for any other failure.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const CudnnApi& api, DnnKind kind);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : api_(other.api_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  DnnDescriptor get() const { return descriptor_; }

  template <typename T>
  CudnnDescriptor& set(DnnAttribute attribute, std::span<const T> values) {
    set_values(attribute, type_of<T>(), static_cast<int64_t>(values.size()), values.data());
    return *this;
  }
  template <typename T>
  CudnnDescriptor& set(DnnAttribute attribute, T value) {
    return set(attribute, std::span<const T>(&value, 1));
  }
  CudnnDescriptor& set(DnnAttribute attribute, const CudnnDescriptor& value) {
    return set(attribute, value.descriptor_);
  }
  // Nothing is set afterwards.
  CudnnDescriptor& finalize();
  bool try_finalize();

  // At most `most` values.
  template <typename T>
  std::vector<T> read(DnnAttribute attribute, int64_t most) const {
    std::vector<T> values(static_cast<size_t>(most));
    values.resize(static_cast<size_t>(read_values(attribute, type_of<T>(), most, values.data())));
    return values;
  }
  // Into a descriptor that stands already, as the library wants it.
  void read_into(DnnAttribute attribute, CudnnDescriptor& out) const;
  // Of an attribute whose values are descriptors: each is made here and filled by the library.
  std::vector<CudnnDescriptor> read_descriptors(DnnAttribute attribute, DnnKind kind,
                                                int64_t most) const;

 private:
  template <typename T>
  static constexpr DnnValues type_of() {
    if constexpr (std::is_same_v<T, DnnHandle>)
      return DnnValues::handle;
    else if constexpr (std::is_same_v<T, DnnDescriptor>)
      return DnnValues::descriptor;
    else if constexpr (std::is_same_v<T, DnnType>)
      return DnnValues::type;
    else if constexpr (std::is_same_v<T, DnnConvolutionMode>)
      return DnnValues::convolution_mode;
    else if constexpr (std::is_same_v<T, DnnHeuristicsMode>)
      return DnnValues::heuristics_mode;
    else if constexpr (std::is_same_v<T, DnnPointwiseMode>)
      return DnnValues::pointwise_mode;
    else if constexpr (std::is_same_v<T, DnnReductionMode>)
      return DnnValues::reduction_mode;
    else if constexpr (std::is_same_v<T, DnnNote>)
      return DnnValues::note;
    else if constexpr (std::is_same_v<T, void*>)
      return DnnValues::pointer;
    else if constexpr (std::is_same_v<T, float>)
      return DnnValues::f32;
    else if constexpr (std::is_same_v<T, double>)
      return DnnValues::f64;
    else if constexpr (std::is_same_v<T, bool>)
      return DnnValues::boolean;
    else {
      static_assert(std::is_same_v<T, int64_t>);
      return DnnValues::int64;
    }
  }
  void set_values(DnnAttribute attribute, DnnValues type, int64_t count, const void* values);
  int64_t read_values(DnnAttribute attribute, DnnValues type, int64_t most, void* values) const;

  const CudnnApi& api_;
  DnnDescriptor descriptor_ = nullptr;
};

// What an engine must be to be chosen.
struct CudnnDemands {
  uint64_t most_workspace = 0;
  // f32 goes through tensor cores only as TF32, of which not every engine says that it cuts.
  bool tensor_cores = true;
};

// As a plan's run takes it.
inline void* cudnn_address(DevicePointer p) {
  return reinterpret_cast<void*>(p);
}

// How one graph is computed: engine and workspace.
class CudnnPlan {
 public:
  // The graph of `operations`, by the engine that the library reckons fastest of those that give
  // the same bits each time, add products up as they are, and meet the demands.
  // Throws CudnnRefusal when there is none, and BackendError for any other failure. The caller
  // holds the handle's mutex.
  static CudnnPlan choose(const CudnnHandle& dnn, std::span<const CudnnDescriptor> operations,
                          const CudnnDemands& demands);

  uint64_t workspace_bytes() const { return workspace_bytes_; }
  // For the log: the engine's number, unique within a version of the library.
  int64_t engine() const { return engine_; }
  // Enqueues it on `stream`: tensors by their ids, and addresses of the same count.
  void run(const CudnnHandle& dnn, std::span<const int64_t> ids, std::span<void* const> addresses,
           void* workspace, Stream stream) const;

 private:
  CudnnPlan(CudnnDescriptor plan, int64_t engine, uint64_t workspace_bytes)
      : plan_(std::move(plan)), engine_(engine), workspace_bytes_(workspace_bytes) {}

  CudnnDescriptor plan_;
  int64_t engine_;
  uint64_t workspace_bytes_;
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_CUDNN_GRAPH_H_
