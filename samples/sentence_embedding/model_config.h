// What a model's folder says about the model: config.json, sentence_bert_config.json,
// tokenizer_config.json and 1_Pooling/config.json, as sentence-transformers writes them.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_MODEL_CONFIG_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_MODEL_CONFIG_H_

#include <cstdint>
#include <filesystem>

namespace sentence_embedding {

struct ModelConfig {
  int64_t vocabulary;
  int64_t hidden;
  int64_t layers;
  int64_t heads;
  int64_t intermediate;
  int64_t positions;
  int64_t token_types;
  double layer_norm_eps;
  int64_t max_tokens;  // of a sentence, [CLS] and [SEP] included
};

// Throws std::runtime_error naming the file and the entry that is missing, out of range, or asks
// for something this sample does not do (another activation, another pooling, a cased vocabulary):
// it would compute something, but not the model.
ModelConfig load_model_config(const std::filesystem::path& folder);

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_MODEL_CONFIG_H_
