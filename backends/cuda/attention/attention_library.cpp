#include "backends/cuda/attention/attention_library.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "backends/cuda/attention/attention_graph.h"
#include "backends/cuda/kernels/dense_copy.h"
#include "backends/cuda/kernels/strided_copy.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

// An engine that needs more memory is not taken, however much is free.
constexpr uint64_t kMostAttentionBytes = uint64_t{256} << 20;

bool takes(const primset_tensor* t) {
  return lies_for_attention(*t);
}
bool takes_logsumexp(const primset_tensor* t) {
  return lies_dense(*t, kAttentionAlignment);
}

struct AttentionMemory {
  DevicePointer q = 0, k = 0, v = 0, y = 0, logsumexp = 0;
};

// What a call reads and writes, copied where the library does not take it as it lies.
class PlacedTensors {
 public:
  PlacedTensors(primset_stream_t& stream, const AttentionTensors& t,
                std::optional<Scratch>& scratch)
      : stream_(stream), scratch_(scratch), tensors_(t) {
    memory_ = {operand(t.q), operand(t.k), operand(t.v), place(t.y, takes(t.y)),
               place(t.logsumexp, takes_logsumexp(t.logsumexp))};
  }

  const AttentionMemory& memory() const { return memory_; }
  // Copies the results to where the caller wants them.
  void finish() const {
    if (memory_.y != tensor_address(*tensors_.y)) copy_from_dense(stream_, memory_.y, *tensors_.y);
    if (memory_.logsumexp != tensor_address(*tensors_.logsumexp))
      copy_from_dense(stream_, memory_.logsumexp, *tensors_.logsumexp);
  }

 private:
  DevicePointer place(const primset_tensor* t, bool as_it_lies) {
    if (as_it_lies) return tensor_address(*t);
    if (!scratch_) scratch_.emplace(stream_);
    return scratch_->take(tensor_bytes(*t));
  }
  DevicePointer operand(const primset_tensor* t) {
    const DevicePointer at = place(t, takes(t));
    if (at != tensor_address(*t)) copy_to_dense(stream_, *t, at);
    return at;
  }

  primset_stream_t& stream_;
  std::optional<Scratch>& scratch_;
  const AttentionTensors& tensors_;
  AttentionMemory memory_;
};

}  // namespace

std::shared_ptr<const CudnnPlan> AttentionLibrary::plan(const AttentionShape& shape) {
  const RelaxedCapture relaxed(device_.cu);
  return plans_.get(shape, [&]() -> std::shared_ptr<const CudnnPlan> {
    const std::lock_guard lock(dnn_->mutex());
    const auto& host = device_.driver->host();
    try {
      auto plan = std::make_shared<const CudnnPlan>(CudnnPlan::choose(
          *dnn_, attention_operations(dnn_->api(), shape), {kMostAttentionBytes, true}));
      primset_backend::log(host, PRIMSET_LOG_DEBUG,
                           "cuda: attention by cuDNN's engine " + std::to_string(plan->engine()) +
                               " with a workspace of " + std::to_string(plan->workspace_bytes()) +
                               " bytes");
      return plan;
    } catch (const CudnnRefusal&) {
      primset_backend::log(host, PRIMSET_LOG_DEBUG, "cuda: cuDNN has no code for an attention");
      return nullptr;
    }
  });
}

bool AttentionLibrary::takes_as_they_lie(const AttentionTensors& t) {
  return takes(t.q) && takes(t.k) && takes(t.v) && takes(t.y) && takes_logsumexp(t.logsumexp);
}

bool AttentionLibrary::can_copy(const AttentionTensors& t) {
  return std::ranges::all_of(
      std::initializer_list<const primset_tensor*>{t.q, t.k, t.v, t.y, t.logsumexp},
      [](const primset_tensor* x) { return dense_copy_launches(*x) <= kMostCopyLaunches; });
}

// Numbers are read before the library's call returns.
void AttentionLibrary::run(primset_stream_t& stream, const std::shared_ptr<const CudnnPlan>& plan,
                           const AttentionCall& call) const {
  std::optional<Scratch> scratch;
  const PlacedTensors placed(stream, call.tensors, scratch);
  const AttentionMemory& at = placed.memory();
  const DevicePointer workspace = workspace_of(stream, plan->workspace_bytes(), scratch);
  float scale = call.shape.scale, hidden = -std::numeric_limits<float>::infinity();
  constexpr int64_t ids[] = {kAttentionQ,         kAttentionK,     kAttentionV,     kAttentionY,
                             kAttentionLogsumexp, kAttentionScale, kAttentionHidden};
  void* const addresses[] = {cudnn_address(at.q),
                             cudnn_address(at.k),
                             cudnn_address(at.v),
                             cudnn_address(at.y),
                             cudnn_address(at.logsumexp),
                             &scale,
                             &hidden};
  const size_t count = call.shape.causal ? std::size(ids) : std::size(ids) - 1;
  if (stream.is_recording) stream.recorded.push_back(plan);
  {
    const std::lock_guard lock(dnn_->mutex());
    plan->run(*dnn_, std::span(ids).first(count), std::span<void* const>(addresses).first(count),
              cudnn_address(workspace), stream.handle);
  }
  placed.finish();
}

}  // namespace primset_cuda
