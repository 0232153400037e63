// Gradients of convolutions, which are convolutions (of the input by the adjoint, of the weight by
// exchanging batch and channels), and of attention.
#include <algorithm>
#include <numeric>

#include "decomps/primitives/contraction.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

using Dims = std::vector<int64_t>;

struct Windows {
  const SymInts &stride, &padding, &dilation;
  bool transposed;
  const SymInt& groups;
};

Val convolved_by(Tracer& t, const Val& x, const Val& w, const Windows& g,
                 const SymInts& output_padding) {
  return t.prim1(Prim::convolution, {x, w, Val()},
                 {{"stride", g.stride},
                  {"padding", g.padding},
                  {"dilation", g.dilation},
                  {"transposed", g.transposed},
                  {"output_padding", output_padding},
                  {"groups", g.groups}});
}

Val cut_to(const Val& x, const SymInts& sizes) {
  Val y = x;
  for (int64_t d = 2; d < x.rank(); ++d) y = slice(y, d, 0, sizes[static_cast<size_t>(d)], 1);
  return y;
}

// [batch, groups * channels, ...] to [channels, groups * batch, ...].
Val channels_first(const Val& x, const SymInt& groups) {
  const SymInt batch = x.size(0), channels = prims::floor_div(x.size(1), groups);
  SymInts split = x.shape();
  split[1] = channels;
  split.insert(split.begin() + 1, groups);
  Dims order = {2, 1, 0};
  for (int64_t d = 3; d < static_cast<int64_t>(split.size()); ++d) order.push_back(d);
  SymInts shape = x.shape();
  shape[0] = channels;
  shape[1] = groups * batch;
  return reshape(transpose(reshape(x, split), order), shape);
}

Val channels_swapped(const Val& x) {
  Dims order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return transpose(x, order);
}

}  // namespace

// The adjoint of the convolution, padded so that its result has x's sizes.
Val convolution_backward_input::decompose(Tracer& t, const Val& grad, const Val& w,
                                          const SymInts& sizes, const SymInts& stride,
                                          const SymInts& padding, const SymInts& dilation,
                                          bool transposed, SymInt groups) {
  SymInts rest(stride.size(), SymInt(0));
  for (size_t i = 0; i < rest.size() && !transposed; ++i) {
    const auto d = static_cast<int64_t>(i) + 2;
    rest[i] = sizes[i + 2] -
              ((grad.size(d) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (w.size(d) - 1) + 1);
  }
  const Windows adjoint{stride, padding, dilation, !transposed, groups};
  // Padding of the output is seen by no element of the input.
  return cut_to(convolved_by(t, grad, w, adjoint, rest), sizes);
}

// What each kernel element saw of the input, times the gradient there: the gradient is the kernel
// now, so that stride and dilation change places.
Val convolution_backward_weight::decompose(Tracer& t, const Val& grad, const Val& x,
                                           const SymInts& sizes, const SymInts& stride,
                                           const SymInts& padding, const SymInts& dilation,
                                           bool transposed, SymInt groups) {
  const Val& field = transposed ? grad : x;
  const Val& kernel = transposed ? x : grad;
  const Val w =
      convolved_by(t, channels_first(field, groups), channels_swapped(kernel),
                   {dilation, padding, stride, false, groups}, SymInts(stride.size(), SymInt(0)));
  return channels_swapped(cut_to(w, sizes));
}

namespace {

// The product of two batches over a dim of each.
Val contracted(const Val& a, const Val& b, int64_t a_dim, int64_t b_dim) {
  Dims batch(static_cast<size_t>(a.rank() - 2));
  std::iota(batch.begin(), batch.end(), 0);
  Tracer& t = a.tracer();
  return t.wrap(t.builder().dot_general(a.id(), b.id(), {a_dim}, {b_dim}, batch, batch,
                                        opmath_type(a.dtype())));
}

Val masked_scores(Tracer& t, const Val& scores, const std::optional<Val>& mask, bool causal) {
  const Val none = math::number(scores, -math::kInfinity);
  Val s = scores;
  if (mask) s = is_bool(mask->dtype()) ? where(*mask, s, none) : s + opmath(*mask);
  if (!causal) return s;
  const int64_t rank = s.rank();
  const Val query = t.iota(s.shape(), rank - 2, DType::i64);
  return where(le(t.iota(s.shape(), rank - 1, DType::i64), query), s, none);
}

}  // namespace

// The weights w = exp(scores - logsumexp) are made anew. Of y = w v with the gradient g, the
// scores' gradient is w (g v^T - sum of g y), as in Dao et al., FlashAttention, 2022, algorithm 4.
std::tuple<Val, Val, Val, Val> attention_backward::decompose(
    Tracer& t, const Val& grad, const Val& q, const Val& k, const Val& v, const Val& y,
    const Val& logsumexp, const std::optional<Val>& mask, bool causal, const ScalarArg& scale) {
  const int64_t row = q.rank() - 2, last = q.rank() - 1;
  const DType type = q.dtype();
  Val scores = contracted(q, k, last, last);
  const Val factor = t.scalar(scale, scores.dtype());
  scores = masked_scores(t, scores * factor, mask, causal);
  const Val log_sum = unsqueeze(convert(logsumexp, scores.dtype()), last);
  const Val hidden = eq(log_sum, Scalar(-math::kInfinity));
  const Val weights = where(hidden, math::number(scores, 0.0), math::exp(scores - log_sum));
  const Val grad_v = contracted(convert(weights, type), grad, row, row);
  const Val along = reduce(Prim::reduce_sum, opmath(grad) * opmath(y), {last}, false);
  const Val slope = weights * (contracted(grad, v, last, last) - unsqueeze(along, last));
  const Val rounded = convert(slope, type);
  const Val grad_q = contracted(rounded, k, last, row) * factor;
  const Val grad_k = contracted(rounded, q, row, row) * factor;
  return {convert(grad_q, type), convert(grad_k, type), convert(grad_v, type), rounded};
}

}  // namespace primset::decomps::prim
