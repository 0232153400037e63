// Attention as cuDNN takes it: tensors [batch, heads, rows, columns] of halves whose rows have no
// gaps.
#ifndef PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_SHAPE_H_
#define PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_SHAPE_H_

#include <primset/plugin.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/cuda/libraries/cudnn_api.h"

namespace primset_cuda {

// Of every tensor's address.
inline constexpr int64_t kAttentionAlignment = 16;

// In elements, from one batch, head and row to the next.
using AttentionStrides = std::array<int64_t, 3>;

struct AttentionShape {
  DnnType type = DnnType::f16;
  int64_t batch = 1, heads = 1, queries = 0, keys = 0;
  int64_t width = 0;        // of queries and keys
  int64_t value_width = 0;  // of values and results
  AttentionStrides q{}, k{}, v{}, y{};
  bool causal = false;
  float scale = 1;

  auto operator<=>(const AttentionShape&) const = default;
};

struct AttentionTensors {
  const primset_tensor *q = nullptr, *k = nullptr, *v = nullptr;
  const primset_tensor *y = nullptr, *logsumexp = nullptr;
};

struct AttentionCall {
  AttentionShape shape;  // with dense strides of what is copied
  AttentionTensors tensors;
};

// Nullopt when the call is no attention that cuDNN could compute.
std::optional<AttentionCall> read_cudnn_attention(std::string_view name,
                                                  const primset_primitive_call& call);

// Whether the library takes a tensor of the call as it lies; others are copied.
bool lies_for_attention(const primset_tensor& t);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_SHAPE_H_
