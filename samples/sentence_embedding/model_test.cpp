// What needs the model's own files: its vocabulary against the real tokenizer, its weights and its
// configuration. SENTENCE_EMBEDDING_MODEL is the folder that fetch_model makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model_config.h"
#include "safetensors.h"
#include "tokenizer.h"
#include "tokenizer_cases.h"

namespace sentence_embedding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::filesystem::path kModel = SENTENCE_EMBEDDING_MODEL;

class ModelTokenizer : public testing::Test {
 protected:
  const Tokenizer tokenizer = Tokenizer::load(kModel / "vocab.txt", 256);
};

TEST_F(ModelTokenizer, HasTheWholeVocabulary) {
  EXPECT_EQ(tokenizer.size(), 30522u);
  EXPECT_EQ(tokenizer.word(101), "[CLS]");
  EXPECT_EQ(tokenizer.pad_id(), 0);
}

TEST_F(ModelTokenizer, GivesWhatTheRealTokenizerGives) {
  for (const IdsCase& c : kModelCases) EXPECT_EQ(tokenizer.encode(c.text), c.ids) << c.text;
}

TEST_F(ModelTokenizer, CutsWhatTheRealTokenizerCuts) {
  for (const IdsCase& c : kRepeatedCases) EXPECT_EQ(tokenizer.encode(c.text), c.ids) << c.text;
}

TEST(Model, Weights) {
  const SafetensorsFile file(kModel / "model.safetensors");
  EXPECT_EQ(file.tensors().size(), 104u);
  EXPECT_THAT(file.tensor("embeddings.word_embeddings.weight").shape, ElementsAre(30522, 384));
}

TEST(Model, Configuration) {
  const ModelConfig config = load_model_config(kModel);
  EXPECT_EQ(config.hidden, 384);
  EXPECT_EQ(config.layers, 6);
  EXPECT_EQ(config.heads, 12);
  EXPECT_EQ(config.max_tokens, 256);
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
}

// A copy of the model's configuration in which one entry is another.
class ChangedConfig {
 public:
  ChangedConfig(const std::string& file, const char* key, const nlohmann::json& value) {
    namespace fs = std::filesystem;
    folder_ = fs::path(testing::TempDir()) / "changed_config";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "1_Pooling");
    for (const char* name : {"config.json", "tokenizer_config.json", "sentence_bert_config.json",
                             "1_Pooling/config.json"})
      fs::copy_file(kModel / name, folder_ / name);
    nlohmann::json json = nlohmann::json::parse(std::ifstream(folder_ / file));
    if (value.is_null())
      json.erase(key);
    else
      json[key] = value;
    std::ofstream(folder_ / file) << json;
  }
  void operator()() const { load_model_config(folder_); }

 private:
  std::filesystem::path folder_;
};

TEST(Model, RefusesWhatItDoesNotDo) {
  const auto refuses = [](const std::string& message) {
    return ThrowsMessage<std::runtime_error>(HasSubstr(message));
  };
  const ChangedConfig unchanged("config.json", "hidden_size", 384);
  EXPECT_NO_THROW(unchanged());
  EXPECT_THAT(ChangedConfig("config.json", "hidden_act", "relu"),
              refuses("'hidden_act' is \"relu\", expected \"gelu\""));
  EXPECT_THAT(ChangedConfig("config.json", "num_attention_heads", 7), refuses("no multiple"));
  EXPECT_THAT(ChangedConfig("config.json", "num_hidden_layers", nullptr),
              refuses("'num_hidden_layers' is missing"));
  EXPECT_THAT(ChangedConfig("config.json", "hidden_size", -384), refuses("is -384, expected"));
  EXPECT_THAT(ChangedConfig("config.json", "layer_norm_eps", 0), refuses("a number above 0"));
  EXPECT_THAT(ChangedConfig("tokenizer_config.json", "do_lower_case", false),
              refuses("'do_lower_case' is false"));
  EXPECT_THAT(ChangedConfig("1_Pooling/config.json", "pooling_mode_cls_token", true),
              refuses("'pooling_mode_cls_token' is true"));
  EXPECT_THAT(ChangedConfig("sentence_bert_config.json", "max_seq_length", 513),
              refuses("expected 2 to 512"));
}

}  // namespace
}  // namespace sentence_embedding
