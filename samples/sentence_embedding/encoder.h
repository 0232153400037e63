// The transformer: token numbers to one vector a sentence, with Primset's operators on any device.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_ENCODER_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_ENCODER_H_

#include <primset/device.h>
#include <primset/graph.h>
#include <primset/tensor.h>

#include <optional>
#include <vector>

#include "model_config.h"
#include "safetensors.h"

namespace sentence_embedding {

// Immutable after construction.
class Encoder {
 public:
  // How it computes: as one graph, captured once and fused across operators, or each operator as it
  // comes. The results have the same bits.
  enum class Mode { graph, eager };

  // Copies the weights to the device. Throws std::runtime_error when one is missing or is not an
  // f32 tensor of the shape that the configuration implies.
  Encoder(const ModelConfig& config, const SafetensorsFile& weights, primset::Device device,
          Mode mode = Mode::graph);
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // ids: i64 [sentences, tokens], padded at the end; mask: f32 of the same sizes, 1 for a token and
  // 0 for padding. Result: f32 [sentences, hidden], each row of length 1.
  primset::Tensor embed(const primset::Tensor& ids, const primset::Tensor& mask) const;

  primset::Device device() const { return device_; }
  int64_t hidden() const { return config_.hidden; }

 private:
  struct Linear {
    primset::Tensor weight;  // [out, in]
    primset::Tensor bias;
  };
  struct Norm {
    primset::Tensor weight, bias;
  };
  struct Layer {
    Linear query_key_value;  // the three side by side: one product instead of three
    Linear attention_out;
    Norm attention_norm;
    Linear intermediate;
    Linear out;
    Norm out_norm;
  };

  class Loader;
  void capture();
  // What embed() does, operator by operator.
  primset::Tensor compute(const primset::Tensor& ids, const primset::Tensor& mask) const;
  primset::Tensor linear(const primset::Tensor& x, const Linear& map) const;
  primset::Tensor normalize(const primset::Tensor& x, const Norm& norm) const;
  primset::Tensor token_vectors(const primset::Tensor& ids) const;
  primset::Tensor attention(const primset::Tensor& x, const Layer& layer,
                            const primset::Tensor& bias) const;

  ModelConfig config_;
  primset::Device device_;
  primset::Tensor words_, positions_, token_types_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
  std::optional<primset::Graph> graph_;
};

// The cosine of the angle between any two rows; `rows` [n, hidden] have length 1. Result: [n, n].
primset::Tensor cosine_similarities(const primset::Tensor& rows);

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_ENCODER_H_
