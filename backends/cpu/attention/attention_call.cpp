#include "backends/cpu/attention/attention_call.h"

#include <algorithm>

#include "backends/common/call_attributes.h"

namespace primset_cpu {
namespace {

int64_t rows_of(const primset_tensor& t) {
  return t.sizes[t.rank - 2];
}
int64_t columns_of(const primset_tensor& t) {
  return t.sizes[t.rank - 1];
}

bool same_batch(const primset_tensor& a, const primset_tensor& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank - 2, b.sizes);
}

bool takes_mask(const AttentionCall& c) {
  if (!c.mask) return true;
  const bool known = c.mask->dtype == PRIMSET_BOOL || c.mask->dtype == c.q->dtype;
  return known && same_batch(*c.mask, *c.q) && rows_of(*c.mask) == c.queries &&
         columns_of(*c.mask) == c.keys;
}

}  // namespace

int64_t AttentionCall::offset(const primset_tensor& t, int64_t index) const {
  int64_t out = 0;
  for (uint32_t d = t.rank - 2; d-- > 0;) {
    out += index % t.sizes[d] * t.strides[d];
    index /= t.sizes[d];
  }
  return out;
}

std::optional<AttentionCall> read_attention(const primset_primitive_call& call) {
  const bool known = (call.operand_count == 3 || call.operand_count == 4) && call.result_count == 2;
  if (!known) return std::nullopt;
  const primset_tensor* const o = call.operands;
  AttentionCall c{};
  c.q = &o[0], c.k = &o[1], c.v = &o[2];
  c.mask = call.operand_count == 4 ? &o[3] : nullptr;
  c.y = &call.results[0], c.logsumexp = &call.results[1];
  const uint32_t dtype = c.q->dtype;
  if (dtype != PRIMSET_F32 && dtype != PRIMSET_BF16) return std::nullopt;
  for (const primset_tensor* t : {c.q, c.k, c.v, c.y})
    if (t->dtype != dtype || t->rank < 2 || !same_batch(*t, *c.q)) return std::nullopt;
  c.batch = 1;
  for (uint32_t d = 0; d + 2 < c.q->rank; ++d) c.batch *= c.q->sizes[d];
  c.queries = rows_of(*c.q), c.keys = rows_of(*c.k);
  c.width = columns_of(*c.q), c.value_width = columns_of(*c.v);
  c.causal = primset_backend::flag(call, "causal");
  c.scale = static_cast<float>(primset_backend::number(call, "scale"));
  const bool fits = columns_of(*c.k) == c.width && rows_of(*c.v) == c.keys && c.width > 0;
  return fits && takes_mask(c) ? std::optional(c) : std::nullopt;
}

}  // namespace primset_cpu
