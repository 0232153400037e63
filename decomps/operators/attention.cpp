#include "decomps/operators/attention.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

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
  require(mod(heads, x.size(-3)) == SymInt(0), ErrorCode::runtime,
          "Number of heads in key and value must divide the number of heads in ");
  return x.tracer().call1("repeat_interleave.self_int",
                          {x, floor_div(heads, x.size(-3)), int64_t{-3}});
}

struct Attention {
  Val query, key, value;  // of one batch
  std::optional<Val> mask;
  bool causal;
  double scale;
};

void require_same_dtypes(const Val& query, const Val& key, const Val& value) {
  const DType type = query.dtype();
  require(type == key.dtype() && type == value.dtype(), ErrorCode::runtime,
          fmt::format("Expected query, key, and value to have the same dtype, but got query.dtype: "
                      "{} key.dtype: {} and value.dtype: {} instead.",
                      cpp_name(type), cpp_name(key.dtype()), cpp_name(value.dtype())));
  require(query.rank() >= 2 && key.rank() >= 2 && value.rank() >= 2, ErrorCode::runtime,
          fmt::format("Expected query, key, and value to all be  at least 2 dimensional, but got "
                      "query.dim: {} key.dim: {} and value.dim: {} instead.",
                      query.rank(), key.rank(), value.rank()));
  require(is_floating(type), ErrorCode::runtime,
          fmt::format("expected scalar type Float but found {}", aten_name(type)));
}

void require_mask_dtype(const std::optional<Val>& mask, DType type) {
  if (!mask) return;
  require(is_bool(mask->dtype()) || mask->dtype() == type || mask->dtype() == DType::f32,
          ErrorCode::runtime,
          fmt::format("Expected attn_mask dtype to be bool or float or to match query dtype, but "
                      "got attn_mask.dtype: {} and  query.dtype: {} instead.",
                      cpp_name(mask->dtype()), cpp_name(type)));
}

void require_mask(const std::optional<Val>& mask, bool causal, DType type) {
  require_mask_dtype(mask, type);
  require(!mask || !causal, ErrorCode::runtime,
          "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
          "is_causal=True");
}

void require_inner_sizes(const Val& q, const Val& k, const Val& v, const SymInt& batch) {
  const auto same = [&](const SymInt& want, const SymInt& have) {
    require(want == have, ErrorCode::runtime,
            fmt::format("Expected size for first two dimensions of batch2 tensor to be: [{}, {}] "
                        "but got: [{}, {}].",
                        batch.hint(), want.hint(), batch.hint(), have.hint()));
  };
  same(q.size(-1), k.size(-1));
  same(k.size(-2), v.size(-2));
}

Attention attention_of(const Val& query, const Val& key, const Val& value,
                       const std::optional<Val>& mask, bool causal,
                       const std::optional<double>& scale, bool enable_gqa) {
  require_same_dtypes(query, key, value);
  require_mask(mask, causal, query.dtype());
  const bool grouped = enable_gqa && query.rank() >= 3;
  const Val k = grouped ? repeated_heads(key, query.size(-3)) : key;
  const Val v = grouped ? repeated_heads(value, query.size(-3)) : value;
  const std::array<SymInts, 3> batches = {batch_of(query), batch_of(k), batch_of(v)};
  const SymInts batch = broadcast_shapes(batches);
  require_inner_sizes(query, k, v, prims::product(batch));
  // The head's size is part of the plan: it is small, and the kernel is made for it.
  const double factor =
      scale ? *scale : 1.0 / std::sqrt(static_cast<double>(query.size(-1).specialize()));
  Attention a{
      with_batch(query, batch), with_batch(k, batch), with_batch(v, batch), {}, causal, factor};
  if (mask) {
    SymInts scores = batch;
    scores.insert(scores.end(), {query.size(-2), k.size(-2)});
    require_expandable(mask->shape(), scores);
    a.mask = broadcast_to(*mask, scores);
  }
  return a;
}

// The weights are needed by themselves: to be dropped, or as a result.
struct Weighted {
  Val values, weights;
};

Val scores_of(Tracer& t, const Attention& a) {
  const int64_t rank = a.query.rank();
  const std::vector<int64_t> batch = dims_from(0, rank - 2);
  const DType type = opmath_type(a.query.dtype());
  Val s = t.wrap(t.builder().dot_general(a.query.id(), a.key.id(), {rank - 1}, {rank - 1}, batch,
                                         batch, type)) *
          Scalar(a.scale);
  const Val none = full_like(s, -std::numeric_limits<double>::infinity());
  if (a.mask) s = is_bool(a.mask->dtype()) ? where(*a.mask, s, none) : s + convert(*a.mask, type);
  if (!a.causal) return s;
  const Val row = t.iota(s.shape(), rank - 2, DType::i64);
  const Val column = t.iota(s.shape(), rank - 1, DType::i64);
  return where(le(column, row), s, none);
}

// A row that is masked throughout gives zeros.
Val weights_of(Tracer& t, const Attention& a) {
  const Val scores = scores_of(t, a);
  const int64_t last = scores.rank() - 1;
  const Val most = reduce(Prim::reduce_max, scores, {last}, true);
  const Val hidden = eq(most, Scalar(-std::numeric_limits<double>::infinity()));
  const Val powers = unary(Prim::exp, scores - where(hidden, full_like(most, 0), most));
  const Val sum = reduce(Prim::reduce_sum, powers, {last}, true);
  return powers / where(hidden, full_like(sum, 1), sum);
}

Weighted weighted(Tracer& t, const Attention& a, Val weights) {
  const int64_t rank = a.query.rank();
  const std::vector<int64_t> batch = dims_from(0, rank - 2);
  const DType type = a.query.dtype();
  const Val rounded = convert(weights, type);
  const Val y = t.wrap(t.builder().dot_general(rounded.id(), a.value.id(), {rank - 1}, {rank - 2},
                                               batch, batch, opmath_type(type)));
  return {convert(y, type), rounded};
}

void require_attention_dropout(double p) {
  require(p >= 0 && p <= 1, ErrorCode::runtime,
          fmt::format("dropout probability has to be between 0 and 1, but got {}", p));
}

Val dropped(Tracer& t, const Val& weights, double p, const RngArg& stream) {
  return t.prim(Prim::dropout, {stream.seed, stream.offset, weights}, {{"p", Scalar(p)}})[0];
}

Val dropped(Tracer& t, const Val& weights, double p) {
  require_attention_dropout(p);
  return p == 0 ? weights : dropped(t, weights, p, t.draw(weights.numel()));
}

// The values, and the logarithms of the softmax's denominators.
std::vector<Val> fused_attention(Tracer& t, const Attention& a) {
  return t.prim(Prim::attention, {a.query, a.key, a.value, a.mask.value_or(Val())},
                {{"causal", a.causal}, {"scale", Scalar(a.scale)}});
}

}  // namespace

Val scaled_dot_product_attention::decompose(Tracer& t, const Val& query, const Val& key,
                                            const Val& value, const std::optional<Val>& attn_mask,
                                            double dropout_p, bool is_causal,
                                            const std::optional<double>& scale, bool enable_gqa) {
  require_same_dtypes(query, key, value);
  require_mask_dtype(attn_mask, query.dtype());
  // Where nobody asks, or there is nothing to answer with, ATen looks at no other size.
  if (query.size(-2) == SymInt(0) || value.numel() == SymInt(0)) {
    SymInts shape = query.shape();
    shape.back() = value.size(-1);
    return zeros(t, shape, query.dtype());
  }
  const Attention a = attention_of(query, key, value, attn_mask, is_causal, scale, enable_gqa);
  if (dropout_p != 0) return weighted(t, a, dropped(t, weights_of(t, a), dropout_p)).values;
  return fused_attention(t, a)[0];
}

// What a back end's own kernel gives in PyTorch, which has none: the results of its flash kernels
// for batches without padding. These have no bounds of sequences, and no mask to debug.
std::tuple<Val, Val, Val, Val, Val, Val, Val, Val, Val>
_scaled_dot_product_fused_attention_overrideable::decompose(Tracer& t, const Val& query,
                                                            const Val& key, const Val& value,
                                                            const std::optional<Val>& attn_bias,
                                                            double dropout_p, bool is_causal, bool,
                                                            const std::optional<double>& scale) {
  constexpr const char* kName = "_scaled_dot_product_fused_attention_overrideable";
  require_rank(kName, "query", query, 4);
  require_rank(kName, "key", key, 4);
  require_rank(kName, "value", value, 4);
  require_attention_dropout(dropout_p);
  const Attention a = attention_of(query, key, value, attn_bias, is_causal, scale, false);
  const std::vector<Val> fused = fused_attention(t, a);
  const auto number = [&](const SymInt& n) { return t.constant(n, DType::i64); };
  const Val none = zeros(t, {SymInt(0)}, DType::i64),
            no_mask = zeros(t, {SymInt(0)}, query.dtype());
  RngArg stream{number(0), number(0)};
  Val y = fused[0];
  if (dropout_p != 0) {
    const Val weights = weights_of(t, a);
    stream = t.draw(weights.numel());
    y = weighted(t, a, dropped(t, weights, dropout_p, stream)).values;
  }
  return {y,           fused[1],      none,   none, number(query.size(2)), number(key.size(2)),
          stream.seed, stream.offset, no_mask};
}

std::tuple<Val, Val> _scaled_dot_product_attention_math::decompose(
    Tracer& t, const Val& query, const Val& key, const Val& value,
    const std::optional<Val>& attn_mask, double dropout_p, bool is_causal,
    const std::optional<Val>& dropout_mask, const std::optional<double>& scale, bool enable_gqa) {
  Attention a = attention_of(query, key, value, attn_mask, is_causal, scale, enable_gqa);
  // Here a bool mask is a number that is added, true being 1.
  if (a.mask) a.mask = convert(*a.mask, query.dtype());
  Val weights = weights_of(t, a);
  if (!dropout_mask) {
    const Weighted w = weighted(t, a, dropped(t, weights, dropout_p));
    return {w.values, w.weights};
  }
  // The mask says which weights stay; the values make up for the others.
  weights = where(logical(*dropout_mask), weights, full_like(weights, 0));
  a.value = convert(opmath(a.value) * Scalar(1.0 / (1.0 - dropout_p)), a.value.dtype());
  const Weighted w = weighted(t, a, weights);
  return {w.values, w.weights};
}

}  // namespace primset::decomps
