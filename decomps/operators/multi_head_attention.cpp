// Attention with its projections, as the fast path of nn.MultiheadAttention calls it, and the
// gradient of fused attention.
#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/attention.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

// [batch, time, heads * n] as [batch, heads, time, n].
Val split_heads(const Val& x, int64_t heads) {
  const SymInts shape = {x.size(0), x.size(1), SymInt(heads), floor_div(x.size(2), heads)};
  return transpose(reshape(x, shape), {0, 2, 1, 3});
}

// Third i of the last dim, or of the first one of weights and biases.
Val third(const Val& x, int64_t dim, int64_t i) {
  const SymInt n = floor_div(x.size(dim), 3);
  return slice(x, dim, n * i, n * (i + 1), 1);
}

double head_scale(const SymInt& width, int64_t heads) {
  return 1.0 / std::sqrt(static_cast<double>(width.specialize() / heads));
}

}  // namespace

std::tuple<Val, Val, Val> _transform_bias_rescale_qkv::decompose(Tracer&, const Val& qkv,
                                                                 const Val& qkv_bias,
                                                                 int64_t num_heads) {
  if (!is_floating(qkv.dtype())) not_implemented_for("transform_bias_rescale_qkv", qkv.dtype());
  require(qkv.rank() == 3 && qkv_bias.rank() == 1, ErrorCode::index,
          fmt::format("Dimension out of range (expected qkv of 3 dims and a bias of 1, but got {} "
                      "and {})",
                      qkv.rank(), qkv_bias.rank()));
  const SymInt width = floor_div(qkv.size(2), 3);
  require(num_heads > 0 && mod(width, num_heads) == SymInt(0), ErrorCode::runtime,
          "Expected D % num_head == 0 to be true, but got false.");
  require(qkv_bias.size(0) == qkv.size(2), ErrorCode::runtime,
          fmt::format("Expected a bias of {} numbers, but got {}", qkv.size(2).hint(),
                      qkv_bias.size(0).hint()));
  const Val sum = opmath(qkv) + convert(qkv_bias, opmath_type(qkv.dtype()));
  const auto part = [&](int64_t i) { return split_heads(third(sum, 2, i), num_heads); };
  const Val q = part(0) * Scalar(head_scale(width, num_heads));
  return {convert(q, qkv.dtype()), convert(part(1), qkv.dtype()), convert(part(2), qkv.dtype())};
}

namespace {

struct Projections {
  const Val &qkv_weight, &qkv_bias, &proj_weight, &proj_bias;
};

void require_attention_shapes(const Val& query, const Val& key, const Val& value, int64_t embed_dim,
                              int64_t num_head, const Projections& p) {
  require(query.rank() == 3, ErrorCode::runtime,
          fmt::format("expected 3-D `query`, got {}-D tensor", query.rank()));
  require(query.size(2) == SymInt(embed_dim), ErrorCode::runtime,
          fmt::format("passed-in embed_dim {} didn't match last dim of query {}", embed_dim,
                      query.size(2).hint()));
  require(equal_sizes(query.shape(), key.shape()) && equal_sizes(query.shape(), value.shape()),
          ErrorCode::runtime, "expected `query`/`key`/`value` shapes to match");
  require(p.qkv_weight.rank() == 2 && p.qkv_weight.size(1) == SymInt(embed_dim), ErrorCode::runtime,
          "expected `qkv_weight` second dim to be embed_Dim");
  require(p.qkv_weight.size(0) == SymInt(3 * embed_dim), ErrorCode::runtime,
          "expected `qkv_weight` first dim to be 3x embed_dim");
  require(p.qkv_bias.rank() == 1 && p.qkv_bias.size(0) == SymInt(3 * embed_dim), ErrorCode::runtime,
          "expected `qkv_bias` first dim and first dim of query to be equal");
  require(num_head > 0 && embed_dim % num_head == 0, ErrorCode::runtime,
          "`embed_dim` must divide evenly by `num_heads`");
  require(p.proj_weight.rank() == 2 && p.proj_weight.size(1) == SymInt(embed_dim),
          ErrorCode::runtime,
          fmt::format("expected `proj_weight` to be a matrix of embed_dim {} columns, but got {}",
                      embed_dim, shape_text(p.proj_weight.shape())));
}

// Where the scores [batch, heads, queries, keys] are hidden. at::MaskType: 0 for [queries, keys],
// 1 for [batch, keys], 2 for all four dims.
Val hidden_scores(const Val& mask, const std::optional<int64_t>& type) {
  require(type.has_value(), ErrorCode::runtime, "Mask Type should be defined");
  const Val m = logical(mask);
  const int64_t ranks[] = {2, 2, 4};
  require(*type >= 0 && *type <= 2 && m.rank() == ranks[*type], ErrorCode::runtime,
          fmt::format("Expected a mask of type 0 or 1 and 2 dims or of type 2 and 4 dims, but got "
                      "type {} and {}",
                      *type, shape_text(mask.shape())));
  return *type == 1 ? unsqueeze(unsqueeze(m, 1), 1) : m;
}

Val over_heads(const Val& a, const Val& b, int64_t a_dim, int64_t b_dim) {
  Tracer& t = a.tracer();
  return t.wrap(t.builder().dot_general(a.id(), b.id(), {a_dim}, {b_dim}, {0, 1}, {0, 1},
                                        opmath_type(a.dtype())));
}

}  // namespace

// Where each row is masked throughout, the softmax is NaN.
std::tuple<Val, Val> _native_multi_head_attention::decompose(
    Tracer& t, const Val& query, const Val& key, const Val& value, int64_t embed_dim,
    int64_t num_head, const Val& qkv_weight, const Val& qkv_bias, const Val& proj_weight,
    const Val& proj_bias, const std::optional<Val>& mask, bool need_weights,
    bool average_attn_weights, const std::optional<int64_t>& mask_type) {
  require_attention_shapes(query, key, value, embed_dim, num_head,
                           {qkv_weight, qkv_bias, proj_weight, proj_bias});
  const DType type = query.dtype();
  const auto projected = [&](const Val& x, int64_t i) {
    return split_heads(t.call1("linear", {x, third(qkv_weight, 0, i), third(qkv_bias, 0, i)}),
                       num_head);
  };
  const Val q = projected(query, 0), k = projected(key, 1), v = projected(value, 2);
  Val scores = over_heads(q, k, 3, 3) * Scalar(head_scale(SymInt(embed_dim), num_head));
  if (mask)
    scores = where(hidden_scores(*mask, mask_type), math::number(scores, -math::kInfinity), scores);
  const Val weights = convert(t.prim1(Prim::softmax, {scores}, {{"dim", int64_t{3}}}), type);
  const Val heads = transpose(convert(over_heads(weights, v, 3, 2), type), {0, 2, 1, 3});
  const Val y = t.call1("linear", {reshape(heads, query.shape()), proj_weight, proj_bias});
  if (!need_weights) return {y, zeros(t, {SymInt(0)}, type)};
  if (!average_attn_weights) return {y, weights};
  const Val sum = reduce(Prim::reduce_sum, opmath(weights), {1}, false);
  return {y, convert(sum / Scalar(static_cast<double>(num_head)), type)};
}

namespace {

struct FusedOperands {
  const Val &grad_out, &query, &key, &value, &out, &logsumexp;
};

// Of queries [batch, heads, queries, n] and as many heads of keys [.., keys, n] and values.
void require_fused_operands(const FusedOperands& o) {
  constexpr const char* kName = "_scaled_dot_product_fused_attention_overrideable_backward";
  const DType type = o.query.dtype();
  require_rank(kName, "query", o.query, 4);
  require_rank(kName, "key", o.key, 4);
  require_rank(kName, "value", o.value, 4);
  const SymInt batch = o.query.size(0), heads = o.query.size(1), queries = o.query.size(2);
  const SymInt width = o.value.size(3);
  const SymInts values = {batch, heads, queries, width};
  require_sizes(kName, "key", o.key, "query's heads",
                {batch, heads, o.key.size(2), o.query.size(3)});
  require_sizes(kName, "value", o.value, "key's heads", {batch, heads, o.key.size(2), width});
  require_sizes(kName, "grad_out", o.grad_out, "the values", values);
  require_sizes(kName, "out", o.out, "the values", values);
  require_sizes(kName, "logsumexp", o.logsumexp, "the queries", {batch, heads, queries});
  require_dtype(kName, "key", o.key, type);
  require_dtype(kName, "value", o.value, type);
  require_dtype(kName, "grad_out", o.grad_out, type);
  require_dtype(kName, "out", o.out, type);
}

}  // namespace

std::tuple<Val, Val, Val, Val> _scaled_dot_product_fused_attention_overrideable_backward::decompose(
    Tracer& t, const Val& grad_out, const Val& query, const Val& key, const Val& value,
    const Val& attn_bias, const std::vector<bool>& grad_input_mask, const Val& out,
    const Val& logsumexp, const Val&, const Val&, SymInt, SymInt, double dropout_p, bool is_causal,
    const Val&, const Val&, const std::optional<double>& scale) {
  require(dropout_p == 0, ErrorCode::not_implemented,
          fmt::format("_scaled_dot_product_fused_attention_overrideable_backward: expected a "
                      "dropout_p of 0, but got {}",
                      dropout_p));
  require_fused_operands({grad_out, query, key, value, out, logsumexp});
  const bool biased = attn_bias.numel() > SymInt(0);
  SymInts scores = query.shape();
  scores.back() = key.size(-2);
  if (biased) require_expandable(attn_bias.shape(), scores);
  const Val mask = biased ? broadcast_to(attn_bias, scores) : Val();
  const double factor = scale ? *scale : head_scale(query.size(-1), 1);
  const auto r = t.prim(Prim::attention_backward,
                        {grad_out, query, key, value, out, convert(logsumexp, DType::f32), mask},
                        {{"causal", is_causal}, {"scale", Scalar(factor)}});
  const auto wanted = [&](size_t i) {
    return grad_input_mask[i] ? r[i] : zeros(t, {SymInt(0)}, query.dtype());
  };
  Val by_bias = zeros(t, {SymInt(0)}, query.dtype());
  if (biased && grad_input_mask[3]) by_bias = t.call1("sum_to_size", {r[3], attn_bias.shape()});
  return {wanted(0), wanted(1), wanted(2), by_bias};
}

}  // namespace primset::decomps
