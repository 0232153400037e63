// Products of matrices, convolutions and attention over dot_general.
#include "decomps/primitives/contraction.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;

Ints dims_between(int64_t first, int64_t end) {
  Ints dims(static_cast<size_t>(end - first));
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

Val dot(const Val& a, const Val& b, Ints a_contract, Ints b_contract, Ints a_batch, Ints b_batch) {
  Tracer& t = a.tracer();
  return t.wrap(t.builder().dot_general(a.id(), b.id(), std::move(a_contract),
                                        std::move(b_contract), std::move(a_batch),
                                        std::move(b_batch), opmath_type(a.dtype())));
}

bool is_one(const ScalarArg& s) {
  return s.constant && s.constant->to_double() == 1;
}

Val scaled(Tracer& t, const Val& x, const ScalarArg& s) {
  return is_one(s) ? x : x * t.scalar(s, x.dtype());
}

// The activations in the compute dtype; gelu_tanh by 0.5 (1 + tanh u) = sigmoid(2 u).
Val activated(const Val& x, const std::string& activation) {
  if (activation == "none") return x;
  if (activation == "relu") return math::max(x, full_like(x, Scalar(0)));
  if (activation == "gelu") return x * unary(Prim::normal_cdf, x);
  if (activation == "gelu_tanh") {
    const Val u = (x + x * x * x * Scalar(0.044715)) * Scalar(0.7978845608028654);
    return x * (Scalar(1.0) + math::tanh(u)) * Scalar(0.5);
  }
  require(activation == "silu", ErrorCode::internal,
          fmt::format("matmul has no activation '{}'", activation));
  return x * unary(Prim::sigmoid, x);
}

}  // namespace

Val matmul::decompose(Tracer& t, const Val& a, const Val& b, const std::optional<Val>& bias,
                      const ScalarArg& scale, const std::string& activation) {
  const int64_t rank = a.rank();
  const Ints batch = dims_between(0, rank - 2);
  Val c = scaled(t, dot(a, b, {rank - 1}, {rank - 2}, batch, batch), scale);
  if (bias) c = c + opmath(*bias);
  return convert(activated(c, activation), a.dtype());
}

namespace {

struct Convolution {
  const Val &x, &w;
  const SymInts &stride, &padding, &dilation, &output_padding;
  SymInt groups;
  int64_t spatial;  // how many dims

  Ints spatial_dims() const { return dims_between(2, 2 + spatial); }
  SymInts kernel() const {
    const SymInts s = w.shape();
    return {s.begin() + 2, s.end()};
  }
};

// Dim `dim` of size g * n as the two dims g and n.
Val split(const Val& x, int64_t dim, const SymInt& g, const SymInt& n) {
  SymInts shape = x.shape();
  shape[static_cast<size_t>(dim)] = n;
  shape.insert(shape.begin() + dim, g);
  return reshape(x, shape);
}

// [batch, group, channel of the group, ...] to [batch, channels, ...].
Val joined_groups(const Val& y, const SymInt& channels) {
  SymInts shape = y.shape();
  shape.erase(shape.begin() + 1);
  shape[1] = channels;
  return reshape(y, shape);
}

Val padded(const Val& x, const SymInts& low, const SymInts& high) {
  SymInts before(2, SymInt(0)), behind(2, SymInt(0));
  before.insert(before.end(), low.begin(), low.end());
  behind.insert(behind.end(), high.begin(), high.end());
  Tracer& t = x.tracer();
  const Val zero = t.constant(Scalar(0.0), x.dtype());
  return t.wrap(
      t.builder().pad(x.id(), zero.id(), before, behind, SymInts(before.size(), SymInt(0))));
}

// [group, batch, places..., channel of the group] to [batch, channels, places...].
Val channels_second(const Val& y, const SymInt& channels) {
  const int64_t rank = y.rank();
  Ints order = {1, 0, rank - 1};
  for (int64_t d = 2; d < rank - 1; ++d) order.push_back(d);
  return joined_groups(transpose(y, order), channels);
}

// The windows [batch, group, channel, places..., kernel...] as a matrix for whoever has them in
// memory: by the longer of their innermost dims, the places as usual or, of a weight's gradient,
// the kernel. Then what is summed over is outermost, or innermost.
struct WindowMatrix {
  Val windows;    // [group, ...]
  Ints contract;  // channel and kernel
};

WindowMatrix window_matrix(const Val& windows, int64_t spatial) {
  const int64_t rank = windows.rank();
  const Ints places = dims_between(3, 3 + spatial), kernel = dims_between(3 + spatial, rank);
  Ints order{1}, summed{2};
  summed.insert(summed.end(), kernel.begin(), kernel.end());
  Ints free{0};
  free.insert(free.end(), places.begin(), places.end());
  const bool kernel_inside = windows.size(rank - 1) > windows.size(places.back());
  for (const Ints* part : kernel_inside ? std::array{&free, &summed} : std::array{&summed, &free})
    order.insert(order.end(), part->begin(), part->end());
  const int64_t first = kernel_inside ? 2 + spatial : 1;
  return {transpose(windows, order), dims_between(first, first + 1 + spatial)};
}

// Filters of one channel each: a window is read for few outputs, and no product is worth its
// matrix. What is summed over is outermost, so that neighbours in memory are summed side by side.
Val filtered_by_channel(const Convolution& c, const Val& windows, const SymInt& outputs) {
  const Val of_channel = split(windows, 1, c.groups, 1);  // [batch, group, 1, places..., kernel...]
  SymInts filters = {1, c.groups, outputs};
  filters.insert(filters.end(), static_cast<size_t>(c.spatial), SymInt(1));
  for (const SymInt& k : c.kernel()) filters.push_back(k);
  const int64_t places_end = 3 + c.spatial;
  Ints order = dims_between(places_end, places_end + c.spatial);
  for (int64_t d = 0; d < places_end; ++d) order.push_back(d);
  const Val products =
      opmath(transpose(of_channel, order)) * opmath(transpose(reshape(c.w, filters), order));
  const Val sums = reduce(Prim::reduce_sum, products, dims_between(0, c.spatial), false);
  return joined_groups(sums, c.w.size(0));
}

// A product of windows of the padded input with the kernel.
Val convolved(Tracer& t, const Convolution& c) {
  const Val field = padded(c.x, c.padding, c.padding);
  const Val windows =
      t.wrap(t.builder().window(field.id(), c.spatial_dims(), c.kernel(), c.stride, c.dilation));
  const SymInt inputs = c.w.size(1), outputs = prims::floor_div(c.w.size(0), c.groups);
  if (inputs.same(SymInt(1)) && !c.groups.same(SymInt(1)))
    return filtered_by_channel(c, windows, outputs);
  const WindowMatrix a = window_matrix(split(windows, 1, c.groups, inputs), c.spatial);
  const Val b = split(c.w, 0, c.groups, outputs);
  return channels_second(dot(a.windows, b, a.contract, dims_between(2, 3 + c.spatial), {0}, {0}),
                         c.w.size(0));
}

// The adjoint: what each input place adds to a window of the output, added up. Neither more
// products than there are nor zeros between the inputs.
Val deconvolved(Tracer& t, const Convolution& c) {
  const SymInt inputs = prims::floor_div(c.w.size(0), c.groups), outputs = c.w.size(1);
  const SymInt channels = outputs * c.groups;
  // [batch, group, channel, places...] by [group, channel, output, kernel...]
  const Val a = split(c.x, 1, c.groups, inputs), b = split(c.w, 0, c.groups, inputs);
  const Val terms = dot(a, b, {2}, {1}, {1}, {0});  // [group, batch, places..., output, kernel...]
  Ints order = {1, 0, 2 + c.spatial};
  for (int64_t d = 2; d < 2 + c.spatial; ++d) order.push_back(d);
  for (int64_t d = 3 + c.spatial; d < terms.rank(); ++d) order.push_back(d);
  const Val windows = joined_groups(transpose(terms, order), channels);
  SymInts shape = {c.x.size(0), channels}, high;
  const SymInts kernel = c.kernel();
  SymInts low;
  for (size_t i = 0; i < kernel.size(); ++i) {
    shape.push_back((c.x.size(static_cast<int64_t>(i) + 2) - 1) * c.stride[i] +
                    c.dilation[i] * (kernel[i] - 1) + 1);
    low.push_back(-c.padding[i]);
    high.push_back(c.output_padding[i] - c.padding[i]);
  }
  const Val field = t.prim1(Prim::window_scatter_add, {windows},
                            {{"dims", c.spatial_dims()},
                             {"sizes", kernel},
                             {"strides", c.stride},
                             {"dilations", c.dilation},
                             {"shape", shape}});
  return padded(field, low, high);
}

}  // namespace

Val convolution::decompose(Tracer& t, const Val& x, const Val& w, const std::optional<Val>& bias,
                           const SymInts& stride, const SymInts& padding, const SymInts& dilation,
                           bool transposed, const SymInts& output_padding, SymInt groups) {
  const Convolution c{x, w, stride, padding, dilation, output_padding, groups, x.rank() - 2};
  Val y = transposed ? deconvolved(t, c) : convolved(t, c);
  if (bias) {
    SymInts shape(static_cast<size_t>(x.rank()), SymInt(1));
    shape[1] = bias->size(0);
    y = y + reshape(opmath(*bias), shape);
  }
  return convert(y, x.dtype());
}

namespace {

Val masked(const Val& scores, const Val& mask) {
  const Val none = math::number(scores, -math::kInfinity);
  return is_bool(mask.dtype()) ? where(mask, scores, none) : scores + opmath(mask);
}

// A query sees the keys up to its own place.
Val causally_masked(Tracer& t, const Val& scores) {
  const int64_t rank = scores.rank();
  const Val query = t.iota(scores.shape(), rank - 2, DType::i64);
  const Val key = t.iota(scores.shape(), rank - 1, DType::i64);
  return where(le(key, query), scores, math::number(scores, -math::kInfinity));
}

}  // namespace

// The weights are divided by their sum behind the second product, so that a kernel may carry
// maximum and sum along as it goes over tiles (Dao et al., FlashAttention, 2022).
std::tuple<Val, Val> attention::decompose(Tracer& t, const Val& q, const Val& k, const Val& v,
                                          const std::optional<Val>& mask, bool causal,
                                          const ScalarArg& scale) {
  const int64_t rank = q.rank();
  const Ints batch = dims_between(0, rank - 2);
  Val scores = scaled(t, dot(q, k, {rank - 1}, {rank - 1}, batch, batch), scale);
  if (mask) scores = masked(scores, *mask);
  if (causal) scores = causally_masked(t, scores);
  const Val greatest = reduce(Prim::reduce_max, scores, {rank - 1}, true);
  const Val hidden = eq(greatest, Scalar(-math::kInfinity));
  const Val shift = where(hidden, math::number(greatest, 0.0), greatest);
  const Val weights = math::exp(scores - shift);
  const Val sum = reduce(Prim::reduce_sum, weights, {rank - 1}, true);
  const Val y = dot(convert(weights, v.dtype()), v, {rank - 1}, {rank - 2}, batch, batch);
  const Val shares = where(hidden, math::number(sum, 0.0), y / sum);
  const Val log_sum = squeeze(where(hidden, greatest, math::log(sum) + shift), rank - 1);
  return {convert(shares, q.dtype()), convert(log_sum, DType::f32)};
}

}  // namespace primset::decomps::prim
