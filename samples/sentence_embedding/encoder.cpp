#include "encoder.h"

#include <primset/invoke.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace sentence_embedding {
namespace {

using primset::DType;
using primset::Operator;
using primset::Scalar;
using primset::Tensor;
using Sizes = std::vector<int64_t>;

// --- the operators, by their ATen names ---------------------------------------------------------

Tensor embedding(const Tensor& table, const Tensor& ids) {
  static const Operator op("embedding");
  return op(table, ids).tensor();
}
Tensor add(const Tensor& a, const Tensor& b) {
  static const Operator op("add.Tensor");
  return op(a, b).tensor();
}
// a + scale * b
Tensor add_scaled(const Tensor& a, const Tensor& b, double scale) {
  static const Operator op("add.Tensor");
  const primset::Value args[] = {a, b};
  const primset::NamedValue named[] = {{"alpha", scale}};
  return op.invoke(args, named)[0].tensor();
}
Tensor sub(const Tensor& a, const Scalar& b) {
  static const Operator op("sub.Scalar");
  return op(a, b).tensor();
}
Tensor mul(const Tensor& a, const Scalar& b) {
  static const Operator op("mul.Scalar");
  return op(a, b).tensor();
}
Tensor mul(const Tensor& a, const Tensor& b) {
  static const Operator op("mul.Tensor");
  return op(a, b).tensor();
}
Tensor div(const Tensor& a, const Tensor& b) {
  static const Operator op("div.Tensor");
  return op(a, b).tensor();
}
Tensor gelu(const Tensor& x) {
  static const Operator op("gelu");
  return op(x).tensor();
}
Tensor softmax(const Tensor& x, int64_t dim) {
  static const Operator op("_softmax");
  return op(x, dim, /*half_to_float=*/false).tensor();
}
Tensor sum(const Tensor& x, int64_t dim, bool keepdim) {
  static const Operator op("sum.dim_IntList");
  return op(x, Sizes{dim}, keepdim).tensor();
}
Tensor length(const Tensor& x, int64_t dim) {
  static const Operator op("linalg_vector_norm");
  return op(x, Scalar(2), Sizes{dim}, /*keepdim=*/true).tensor();
}
Tensor clamp_min(const Tensor& x, const Scalar& min) {
  static const Operator op("clamp_min");
  return op(x, min).tensor();
}
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  static const Operator op("native_layer_norm");
  const primset::Value args[] = {x, Sizes{x.size(-1)}, weight, bias, eps};
  return op.invoke(args)[0].tensor();
}
// x @ weight + bias
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  static const Operator op("addmm");
  return op(bias, x, weight).tensor();
}
Tensor mm(const Tensor& a, const Tensor& b) {
  static const Operator op("mm");
  return op(a, b).tensor();
}
Tensor bmm(const Tensor& a, const Tensor& b) {
  static const Operator op("bmm");
  return op(a, b).tensor();
}
Tensor view(const Tensor& x, Sizes sizes) {
  static const Operator op("view");
  return op(x, std::move(sizes)).tensor();
}
// A view where there is one, else a copy.
Tensor reshape(const Tensor& x, Sizes sizes) {
  static const Operator op("reshape");
  return op(x, std::move(sizes)).tensor();
}
Tensor permute(const Tensor& x, Sizes dims) {
  static const Operator op("permute");
  return op(x, std::move(dims)).tensor();
}
Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  static const Operator op("transpose.int");
  return op(x, a, b).tensor();
}
Tensor select(const Tensor& x, int64_t dim, int64_t index) {
  static const Operator op("select.int");
  return op(x, dim, index).tensor();
}
Tensor first_rows(const Tensor& x, int64_t count) {
  static const Operator op("slice.Tensor");
  return op(x, /*dim=*/0, /*start=*/0, count).tensor();
}

}  // namespace

// --- weights ------------------------------------------------------------------------------------

class Encoder::Loader {
 public:
  Loader(const SafetensorsFile& file, primset::Device device) : file_(file), device_(device) {}

  Tensor tensor(const std::string& name, const Sizes& shape) const {
    return Tensor::from_host(checked(name, shape).data(), shape, DType::f32, device_);
  }
  Norm norm(const std::string& name, int64_t hidden) const {
    return {tensor(name + ".weight", {hidden}), tensor(name + ".bias", {hidden})};
  }
  // Several linear maps of one input as one: their outputs side by side.
  Linear linear(const std::vector<std::string>& names, int64_t in, int64_t out) const {
    const auto count = static_cast<int64_t>(names.size());
    std::vector<std::byte> weights, biases;
    for (const std::string& name : names) {
      append(weights, checked(name + ".weight", {out, in}));
      append(biases, checked(name + ".bias", {out}));
    }
    const Tensor weight = Tensor::from_host(weights.data(), {count * out, in}, DType::f32, device_);
    return {transpose(weight, 0, 1),
            Tensor::from_host(biases.data(), {count * out}, DType::f32, device_)};
  }

 private:
  using Bytes = std::span<const std::byte>;

  static void append(std::vector<std::byte>& to, Bytes bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
  }
  Bytes checked(const std::string& name, const Sizes& shape) const {
    const StoredTensor& stored = file_.tensor(name);
    if (stored.dtype != DType::f32)
      throw std::runtime_error("weight '" + name + "' is " +
                               std::string(primset::name(stored.dtype)) + ", expected f32");
    if (stored.shape != shape)
      throw std::runtime_error("weight '" + name + "' has the shape " + text(stored.shape) +
                               ", the model's configuration implies " + text(shape));
    return stored.data;
  }
  static std::string text(const Sizes& shape) {
    std::string out;
    for (int64_t size : shape) out += (out.empty() ? "[" : ", ") + std::to_string(size);
    return out.empty() ? "[]" : out + "]";
  }

  const SafetensorsFile& file_;
  primset::Device device_;
};

Encoder::Encoder(const ModelConfig& config, const SafetensorsFile& weights, primset::Device device)
    : config_(config), device_(device) {
  const Loader load(weights, device);
  const int64_t hidden = config.hidden;
  words_ = load.tensor("embeddings.word_embeddings.weight", {config.vocabulary, hidden});
  positions_ = load.tensor("embeddings.position_embeddings.weight", {config.positions, hidden});
  token_types_ =
      load.tensor("embeddings.token_type_embeddings.weight", {config.token_types, hidden});
  embedding_norm_ = load.norm("embeddings.LayerNorm", hidden);
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string prefix = "encoder.layer." + std::to_string(i) + ".";
    const std::string self = prefix + "attention.self.";
    Layer layer;
    layer.query_key_value =
        load.linear({self + "query", self + "key", self + "value"}, hidden, hidden);
    layer.attention_out = load.linear({prefix + "attention.output.dense"}, hidden, hidden);
    layer.attention_norm = load.norm(prefix + "attention.output.LayerNorm", hidden);
    layer.intermediate = load.linear({prefix + "intermediate.dense"}, hidden, config.intermediate);
    layer.out = load.linear({prefix + "output.dense"}, config.intermediate, hidden);
    layer.out_norm = load.norm(prefix + "output.LayerNorm", hidden);
    layers_.push_back(std::move(layer));
  }
}

// --- the model ----------------------------------------------------------------------------------

Tensor Encoder::normalize(const Tensor& x, const Norm& norm) const {
  return layer_norm(x, norm.weight, norm.bias, config_.layer_norm_eps);
}

// What a token is, where it stands, and that it belongs to the first of BERT's two texts.
Tensor Encoder::token_vectors(const Tensor& ids) const {
  const Tensor words = embedding(words_, ids);
  const Tensor places = first_rows(positions_, ids.size(1));
  const Tensor sum = add(add(words, select(token_types_, 0, 0)), places);
  return normalize(sum, embedding_norm_);
}

// x: [sentences * tokens, hidden]; bias: [sentences, 1, 1, tokens], added to every head's scores.
Tensor Encoder::attention(const Tensor& x, const Layer& layer, const Tensor& bias) const {
  const int64_t sentences = bias.size(0), tokens = bias.size(3);
  const int64_t heads = config_.heads, width = config_.hidden / heads;
  const Tensor all = linear(x, layer.query_key_value.weight, layer.query_key_value.bias);
  // [3, sentences, heads, tokens, width]
  const Tensor split = permute(view(all, {sentences, tokens, 3, heads, width}), {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) {
    return reshape(select(split, 0, i), {sentences * heads, tokens, width});
  };
  const Tensor products = bmm(part(0), transpose(part(1), 1, 2));
  const Tensor scores = add_scaled(bias, view(products, {sentences, heads, tokens, tokens}),
                                   1 / std::sqrt(static_cast<double>(width)));
  const Tensor weights = view(softmax(scores, -1), {sentences * heads, tokens, tokens});
  const Tensor mixed = view(bmm(weights, part(2)), {sentences, heads, tokens, width});
  const Tensor joined = reshape(transpose(mixed, 1, 2), {sentences * tokens, config_.hidden});
  return linear(joined, layer.attention_out.weight, layer.attention_out.bias);
}

Tensor Encoder::embed(const Tensor& ids, const Tensor& mask) const {
  const int64_t sentences = ids.size(0), tokens = ids.size(1);
  // 0 for a token; for padding so low that softmax makes it 0.
  const Tensor bias =
      view(mul(sub(mask, 1), std::numeric_limits<float>::max()), {sentences, 1, 1, tokens});
  Tensor x = view(token_vectors(ids), {sentences * tokens, config_.hidden});
  for (const Layer& layer : layers_) {
    x = normalize(add(attention(x, layer, bias), x), layer.attention_norm);
    const Tensor wide = gelu(linear(x, layer.intermediate.weight, layer.intermediate.bias));
    x = normalize(add(linear(wide, layer.out.weight, layer.out.bias), x), layer.out_norm);
  }
  // The mean over the tokens that are not padding, brought to length 1.
  const Tensor weighted =
      mul(view(x, {sentences, tokens, config_.hidden}), view(mask, {sentences, tokens, 1}));
  const Tensor mean = div(sum(weighted, 1, false), sum(mask, 1, true));
  return div(mean, clamp_min(length(mean, 1), 1e-12));
}

Tensor cosine_similarities(const Tensor& rows) {
  return mm(rows, transpose(rows, 0, 1));
}

}  // namespace sentence_embedding
