#include "backends/cuda/attention/attention_shape.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "backends/common/call_attributes.h"
#include "backends/cuda/kernels/dense_copy.h"
#include "backends/cuda/libraries/cudnn_graph.h"

namespace primset_cuda {
namespace {

// Size and stride of dim `from_last` of a tensor of two to four dims, which has one batch and one
// head when it says nothing of them.
int64_t size_of(const primset_tensor& t, uint32_t from_last) {
  return from_last < t.rank ? t.sizes[t.rank - 1 - from_last] : 1;
}
int64_t stride_of(const primset_tensor& t, uint32_t from_last) {
  return from_last < t.rank ? t.strides[t.rank - 1 - from_last] : 0;
}

// What a dim of one element steps over does not matter: it counts as dense.
AttentionStrides strides_of(const primset_tensor& t) {
  const bool as_it_lies = lies_for_attention(t);
  AttentionStrides out{};
  int64_t step = size_of(t, 0);
  for (uint32_t d = 1; d < 4; step *= size_of(t, d), ++d)
    out[3 - d] = as_it_lies && size_of(t, d) > 1 ? stride_of(t, d) : step;
  return out;
}

bool is_of(const primset_tensor& t, uint32_t dtype, uint32_t rank) {
  return t.dtype == dtype && t.rank == rank &&
         std::all_of(t.sizes, t.sizes + t.rank, [](int64_t n) { return n > 0; });
}

// One dtype and rank; without a mask, which would be a fourth operand.
std::optional<AttentionTensors> tensors_of(std::string_view name,
                                           const primset_primitive_call& call) {
  if (name != "attention" || call.operand_count != 3 || call.result_count != 2) return std::nullopt;
  const AttentionTensors t{&call.operands[0], &call.operands[1], &call.operands[2],
                           &call.results[0], &call.results[1]};
  const uint32_t dtype = t.q->dtype, rank = t.q->rank;
  if (rank < 2 || rank > 4 || !is_of(*t.logsumexp, PRIMSET_F32, rank - 1)) return std::nullopt;
  for (const primset_tensor* x : {t.q, t.k, t.v, t.y})
    if (!is_of(*x, dtype, rank)) return std::nullopt;
  return t;
}

}  // namespace

// The library reads rows in pieces of 16 bytes.
bool lies_for_attention(const primset_tensor& t) {
  constexpr int64_t kPiece = kAttentionAlignment / 2;
  if (tensor_address(t) % kAttentionAlignment != 0) return false;
  if (size_of(t, 0) > 1 && stride_of(t, 0) != 1) return false;
  for (uint32_t d = 1; d < t.rank; ++d)
    if (size_of(t, d) > 1 && (stride_of(t, d) <= 0 || stride_of(t, d) % kPiece != 0)) return false;
  return true;
}

std::optional<AttentionCall> read_cudnn_attention(std::string_view name,
                                                  const primset_primitive_call& call) {
  const auto t = tensors_of(name, call);
  const auto type = t ? dnn_type(t->q->dtype) : std::nullopt;
  if (type != DnnType::f16 && type != DnnType::bf16) return std::nullopt;
  AttentionShape s;
  s.type = *type;
  s.batch = size_of(*t->q, 3);
  s.heads = size_of(*t->q, 2);
  s.queries = size_of(*t->q, 1);
  s.keys = size_of(*t->k, 1);
  s.width = size_of(*t->q, 0);
  s.value_width = size_of(*t->v, 0);
  s.q = strides_of(*t->q);
  s.k = strides_of(*t->k);
  s.v = strides_of(*t->v);
  s.y = strides_of(*t->y);
  s.causal = primset_backend::flag(call, "causal");
  s.scale = static_cast<float>(primset_backend::number(call, "scale"));
  if (!std::isfinite(s.scale)) return std::nullopt;
  return AttentionCall{s, *t};
}

}  // namespace primset_cuda
