#include "decomps/attention.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace primset::decomps {
namespace {

SymInts batch_of(const Val& x) {
  const SymInts shape = x.shape();
  return {shape.begin(), shape.end() - 2};
}

Val with_batch(const Val& x, SymInts batch) {
  const SymInts shape = x.shape();
  batch.insert(batch.end(), shape.end() - 2, shape.end());
  return broadcast_to(x, batch);
}

// Grouped queries: each key and value head serves several query heads.
Val repeated_heads(const Val& x, const SymInt& heads) {
  const SymInt times = floor_div(heads, x.size(-3));
  return x.tracer().call1("repeat_interleave.self_int", {x, times, int64_t{-3}});
}

}  // namespace

Val scaled_dot_product_attention::decompose(Tracer& t, const Val& query, const Val& key,
                                            const Val& value, const std::optional<Val>& attn_mask,
                                            double dropout_p, bool is_causal,
                                            const std::optional<double>& scale, bool enable_gqa) {
  require(query.dtype() == key.dtype() && query.dtype() == value.dtype(), ErrorCode::runtime,
          "Expected query, key, and value to have the same dtype");
  require(query.rank() >= 2 && key.rank() >= 2 && value.rank() >= 2, ErrorCode::runtime,
          "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 "
          "dimensional");
  require(
      !(is_causal && attn_mask), ErrorCode::runtime,
      "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  require(dropout_p == 0, ErrorCode::not_implemented,
          "scaled_dot_product_attention: dropout_p > 0 is not implemented");
  const bool grouped = enable_gqa && query.rank() >= 3;
  const Val k = grouped ? repeated_heads(key, query.size(-3)) : key;
  const Val v = grouped ? repeated_heads(value, query.size(-3)) : value;
  const std::array<SymInts, 3> batches = {batch_of(query), batch_of(k), batch_of(v)};
  const SymInts batch = broadcast_shapes(batches);
  Val mask;
  if (attn_mask) {
    SymInts scores = batch;
    scores.insert(scores.end(), {query.size(-2), k.size(-2)});
    mask = broadcast_to(*attn_mask, scores);
  }
  // The head's size is part of the plan: it is small, and the kernel is made for it.
  const double factor =
      scale ? *scale : 1.0 / std::sqrt(static_cast<double>(query.size(-1).specialize()));
  return t.prim(Prim::attention,
                {with_batch(query, batch), with_batch(k, batch), with_batch(v, batch), mask},
                {{"causal", is_causal}, {"scale", Scalar(factor)}})[0];
}

}  // namespace primset::decomps
