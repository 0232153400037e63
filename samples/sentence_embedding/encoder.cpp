#include "encoder.h"

#include <primset/ops/activation.h>
#include <primset/ops/attention.h>
#include <primset/ops/indexing.h>
#include <primset/ops/linalg.h>
#include <primset/ops/matmul.h>
#include <primset/ops/normalization.h>
#include <primset/ops/pointwise_binary.h>
#include <primset/ops/reduction.h>
#include <primset/ops/view.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace sentence_embedding {

using primset::DType;
using primset::Tensor;
using Sizes = std::vector<int64_t>;

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
    return {Tensor::from_host(weights.data(), {count * out, in}, DType::f32, device_),
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

Encoder::Encoder(const ModelConfig& config, const SafetensorsFile& weights, primset::Device device,
                 Mode mode)
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
  if (mode == Mode::graph) capture();
}

// The operators are traced once, on any input: sizes are symbols. What can be one kernel becomes
// one.
void Encoder::capture() {
  const Tensor ids = Tensor::of<int64_t>({0, 0, 0, 0, 0, 0}, {2, 3}, device_);
  const Tensor mask = Tensor::of<float>({1, 1, 1, 1, 1, 1}, {2, 3}, device_);
  graph_ = primset::Graph::capture({ids, mask}, [this](std::span<const Tensor> in) {
    return std::vector<Tensor>{compute(in[0], in[1])};
  });
}

Tensor Encoder::embed(const Tensor& ids, const Tensor& mask) const {
  return graph_ ? graph_->run({ids, mask})[0] : compute(ids, mask);
}

// --- the model ----------------------------------------------------------------------------------

Tensor Encoder::linear(const Tensor& x, const Linear& map) const {
  return primset::linear(x, map.weight, map.bias);
}

Tensor Encoder::normalize(const Tensor& x, const Norm& norm) const {
  return primset::layer_norm(x, {config_.hidden}, norm.weight, norm.bias, config_.layer_norm_eps);
}

// What a token is, where it stands, and that it belongs to the first of BERT's two texts.
Tensor Encoder::token_vectors(const Tensor& ids) const {
  const Tensor words = embedding(words_, ids);
  const Tensor places = slice(positions_, /*dim=*/0, /*start=*/0, /*end=*/ids.size(1));
  return normalize(add(add(words, select(token_types_, 0, 0)), places), embedding_norm_);
}

// x: [sentences, tokens, hidden]; bias: [sentences, 1, 1, tokens], added to every head's scores.
Tensor Encoder::attention(const Tensor& x, const Layer& layer, const Tensor& bias) const {
  const int64_t sentences = x.size(0), tokens = x.size(1);
  const int64_t heads = config_.heads, width = config_.hidden / heads;
  const Tensor all = linear(x, layer.query_key_value);
  // Each of query, key and value: [sentences, heads, tokens, width]
  const Tensor split = permute(view(all, {sentences, tokens, 3, heads, width}), {2, 0, 3, 1, 4});
  const Tensor query = select(split, 0, 0), key = select(split, 0, 1), value = select(split, 0, 2);
  const Tensor mixed = scaled_dot_product_attention(query, key, value, bias);
  const Tensor joined = reshape(transpose(mixed, 1, 2), {sentences, tokens, config_.hidden});
  return linear(joined, layer.attention_out);
}

Tensor Encoder::compute(const Tensor& ids, const Tensor& mask) const {
  const int64_t sentences = ids.size(0), tokens = ids.size(1);
  // 0 for a token; for padding so low that softmax makes it 0.
  const Tensor bias =
      view(mul(sub(mask, 1), std::numeric_limits<float>::max()), {sentences, 1, 1, tokens});
  Tensor x = token_vectors(ids);
  for (const Layer& layer : layers_) {
    x = normalize(add(x, attention(x, layer, bias)), layer.attention_norm);
    const Tensor wide = gelu(linear(x, layer.intermediate));
    x = normalize(add(x, linear(wide, layer.out)), layer.out_norm);
  }
  // The mean over the tokens that are not padding, brought to length 1.
  const Tensor weighted = mul(x, unsqueeze(mask, 2));
  const Tensor mean = div(sum(weighted, {1}), sum(mask, {1}, /*keepdim=*/true));
  const Tensor length = linalg_vector_norm(mean, 2, {1}, /*keepdim=*/true);
  return div(mean, clamp_min(length, 1e-12));
}

Tensor cosine_similarities(const Tensor& rows) {
  return mm(rows, t(rows));
}

}  // namespace sentence_embedding
