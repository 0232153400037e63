#include "model_config.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace sentence_embedding {
namespace {

using nlohmann::json;

// One JSON file and its name for messages.
class ConfigFile {
 public:
  explicit ConfigFile(const std::filesystem::path& path) : path_(path.string()) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error(path_ + ": cannot be read");
    json_ = json::parse(in, nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) throw std::runtime_error(path_ + ": is no JSON object");
  }

  int64_t size(const char* key) const {
    const json& value = entry(key);
    // Far above any model there is, far below where products of sizes overflow.
    constexpr int64_t kMax = 1 << 24;
    const int64_t size = value.is_number_integer() ? value.get<int64_t>() : 0;
    if (size < 1 || size > kMax) wrong(key, "a size from 1 to " + std::to_string(kMax));
    return size;
  }
  double positive(const char* key) const {
    const json& value = entry(key);
    if (!value.is_number() || !(value.get<double>() > 0)) wrong(key, "a number above 0");
    return value;
  }
  void require(const char* key, const json& wanted) const {
    if (entry(key) != wanted) wrong(key, wanted.dump());
  }

 private:
  const json& entry(const char* key) const {
    const auto it = json_.find(key);
    if (it == json_.end()) throw std::runtime_error(path_ + ": '" + key + "' is missing");
    return *it;
  }
  [[noreturn]] void wrong(const char* key, const std::string& expected) const {
    const json& value = entry(key);
    // A list may be nested deeper than writing it out takes.
    const std::string seen = value.is_structured() ? "a list or an object" : value.dump();
    throw std::runtime_error(path_ + ": '" + key + "' is " + seen + ", expected " + expected);
  }

  std::string path_;
  json json_;
};

}  // namespace

ModelConfig load_model_config(const std::filesystem::path& folder) {
  const ConfigFile model(folder / "config.json");
  model.require("model_type", "bert");
  model.require("hidden_act", "gelu");
  model.require("position_embedding_type", "absolute");
  ModelConfig config{};
  config.vocabulary = model.size("vocab_size");
  config.hidden = model.size("hidden_size");
  config.layers = model.size("num_hidden_layers");
  config.heads = model.size("num_attention_heads");
  config.intermediate = model.size("intermediate_size");
  config.positions = model.size("max_position_embeddings");
  config.token_types = model.size("type_vocab_size");
  config.layer_norm_eps = model.positive("layer_norm_eps");
  if (config.hidden % config.heads != 0)
    throw std::runtime_error((folder / "config.json").string() +
                             ": 'hidden_size' is no multiple of 'num_attention_heads'");

  const ConfigFile tokenizer(folder / "tokenizer_config.json");
  tokenizer.require("do_lower_case", true);
  tokenizer.require("tokenize_chinese_chars", true);

  const ConfigFile pooling(folder / "1_Pooling" / "config.json");
  pooling.require("pooling_mode_mean_tokens", true);
  pooling.require("pooling_mode_cls_token", false);
  pooling.require("pooling_mode_max_tokens", false);

  const std::filesystem::path sentence = folder / "sentence_bert_config.json";
  config.max_tokens = ConfigFile(sentence).size("max_seq_length");
  if (config.max_tokens < 2 || config.max_tokens > config.positions)
    throw std::runtime_error(sentence.string() + ": 'max_seq_length' is " +
                             std::to_string(config.max_tokens) + ", expected 2 to " +
                             std::to_string(config.positions));
  return config;
}

}  // namespace sentence_embedding
