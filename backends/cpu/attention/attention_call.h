// A call of the primitive attention, as the CPU's kernel takes it.
#ifndef PRIMSET_BACKENDS_CPU_ATTENTION_ATTENTION_CALL_H_
#define PRIMSET_BACKENDS_CPU_ATTENTION_ATTENTION_CALL_H_

#include <primset/plugin.h>

#include <cstdint>
#include <optional>

namespace primset_cpu {

// q [batch..., queries, width], k [batch..., keys, width], v [batch..., keys, value_width] and,
// where there is one, mask [batch..., queries, keys], with any strides; y and logsumexp without
// gaps.
struct AttentionCall {
  const primset_tensor *q, *k, *v, *mask, *y, *logsumexp;  // mask: null without one
  int64_t batch, queries, keys, width, value_width;
  bool causal;
  float scale;

  // Where the matrix of one index of the batch dims begins, in elements.
  int64_t offset(const primset_tensor& t, int64_t index) const;
};

// Nothing where the kernel does not do it: q, k and v are of f32 or bf16, a mask is of bool or of
// their dtype.
std::optional<AttentionCall> read_attention(const primset_primitive_call& call);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_ATTENTION_ATTENTION_CALL_H_
