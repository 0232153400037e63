// The whole model on the CPU against PyTorch.
#include "encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "batching.h"
#include "tokenizer.h"
#include "tokenizer_cases.h"

namespace sentence_embedding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::filesystem::path kModel = SENTENCE_EMBEDDING_MODEL;
constexpr float kTolerance = 2e-6f;

// The first numbers of the embeddings, and the similarities to the first sentence, as
// PyTorch 2.13.0 computes them from these weights in f64 (reference_model.py).
struct EmbeddingCase {
  std::string sentence;
  std::vector<float> first;
  float similarity;
};
const std::vector<EmbeddingCase>& cases() {
  static const std::vector<EmbeddingCase> list = {
      {"A man is eating food.",
       {0.0332416f, 0.0044061f, -0.0062769f, 0.0483787f, -0.1387022f, -0.0336174f},
       1.0f},
      {"Someone is having a meal.",
       {-0.0052397f, 0.0285619f, -0.0228595f, 0.0128225f, -0.1217923f, -0.024396f},
       0.688833f},
      {"", {-0.1188384f, 0.0482987f, -0.0025481f, -0.0110112f, 0.0519508f, 0.0102917f}, 0.02534f},
      {"Der Zug nach Zürich hat Verspätung.",
       {-0.0680109f, 0.0864148f, 0.0571872f, 0.0181441f, 0.0758968f, 0.0156671f},
       0.027539f},
      {"猫はソファの上で眠っている。",
       {0.0120614f, 0.1265116f, 0.0245706f, -0.0232314f, 0.0058553f, 0.0658282f},
       -0.049984f},
      {repeated("word ", 300),
       {-0.0081237f, -0.095586f, -0.0386731f, 0.049662f, -0.0437937f, 0.0237198f},
       0.022314f},
  };
  return list;
}

class EncoderTest : public testing::Test {
 protected:
  // Loading takes longer than the tests: once for all of them.
  static void SetUpTestSuite() {
    const SafetensorsFile weights(kModel / "model.safetensors");
    encoder_ = new Encoder(load_model_config(kModel), weights, "cpu");
    const Tokenizer tokenizer = Tokenizer::load(kModel / "vocab.txt", 256);
    for (const EmbeddingCase& c : cases()) tokens_.push_back(tokenizer.encode(c.sentence));
  }
  static void TearDownTestSuite() {
    delete encoder_;
    encoder_ = nullptr;
    tokens_.clear();
  }
  static std::vector<float> embeddings(size_t batch) {
    return embed_all(*encoder_, tokens_, batch, /*pad_id=*/0);
  }

  static inline Encoder* encoder_ = nullptr;
  static inline std::vector<TokenIds> tokens_;
};

TEST_F(EncoderTest, GivesWhatPyTorchGives) {
  const std::vector<float> rows = embeddings(2);
  for (size_t i = 0; i < cases().size(); ++i)
    for (size_t j = 0; j < cases()[i].first.size(); ++j)
      EXPECT_NEAR(rows[i * 384 + j], cases()[i].first[j], kTolerance) << i << ", " << j;
}

// Fusing across operators changes no bit.
TEST_F(EncoderTest, GraphGivesTheBitsOfEager) {
  const SafetensorsFile weights(kModel / "model.safetensors");
  const Encoder eager(load_model_config(kModel), weights, "cpu", Encoder::Mode::eager);
  EXPECT_EQ(embed_all(eager, tokens_, 4, /*pad_id=*/0), embeddings(4));
}

TEST_F(EncoderTest, PaddingChangesNothing) {
  const std::vector<float> alone = embeddings(1), together = embeddings(cases().size());
  for (size_t i = 0; i < alone.size(); ++i) ASSERT_NEAR(alone[i], together[i], kTolerance) << i;
}

TEST_F(EncoderTest, Similarities) {
  const std::vector<float> rows = embeddings(32);
  const auto count = static_cast<int64_t>(cases().size());
  const std::vector<float> cosines =
      cosine_similarities(
          primset::Tensor::from_host(rows.data(), {count, 384}, primset::DType::f32, "cpu"))
          .to_vector<float>();
  for (size_t i = 0; i < cases().size(); ++i)
    EXPECT_NEAR(cosines[i], cases()[i].similarity, kTolerance) << i;
}

TEST_F(EncoderTest, RefusesWeightsOfAnotherShape) {
  const SafetensorsFile weights(kModel / "model.safetensors");
  ModelConfig config = load_model_config(kModel);
  config.intermediate = 768;
  EXPECT_THAT([&] { Encoder encoder(config, weights, "cpu"); },
              ThrowsMessage<std::runtime_error>(HasSubstr(
                  "'encoder.layer.0.intermediate.dense.weight' has the shape [1536, 384], "
                  "the model's configuration implies [768, 384]")));
}

TEST(Batches, LongestFirst) {
  const std::vector<TokenIds> sentences = {{1, 2}, {1, 2, 3}, {1, 2}, {1, 2, 3, 4}, {1, 2, 3}};
  EXPECT_THAT(plan_batches(sentences, 2),
              ElementsAre(ElementsAre(3, 1), ElementsAre(4, 0), ElementsAre(2)));
  EXPECT_THAT(plan_batches({}, 2), ElementsAre());
}

}  // namespace
}  // namespace sentence_embedding
