// Operators that read a value before they are carried out.
#include <gtest/gtest.h>

#include "primset/graph.h"
#include "primset/invoke.h"
#include "primset/statistics.h"

namespace primset {
namespace {

using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

Tensor floats(Floats values, IntList sizes) {
  return Tensor::of<float>(std::span<const float>(values), sizes);
}
Tensor longs(Longs values, IntList sizes) {
  return Tensor::of<int64_t>(std::span<const int64_t>(values), sizes);
}
Tensor one(std::string_view name, std::initializer_list<Value> args) {
  return invoke(name, std::vector<Value>(args))[0].tensor();
}

TEST(ValueReads, NarrowAtATensorIsAView) {
  const Tensor x = floats({1, 2, 3, 4, 5}, {5});
  const Tensor part = one("narrow.Tensor", {x, 0, longs({-3}, {}), 2});
  EXPECT_EQ(part.to_vector<float>(), (Floats{3, 4}));
  one("fill_.Scalar", {part, 9.0});
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2, 9, 9, 5}));
  EXPECT_THROW(one("narrow.Tensor", {x, 0, longs({4}, {}), 2}), Error);
  EXPECT_THROW(one("narrow.Tensor", {x, 0, longs({1}, {1}), 2}), Error);
}

TEST(ValueReads, RepeatInterleaveFindsItsSize) {
  const Tensor x = floats({1, 2, 3, 4}, {2, 2}), repeats = longs({2, 1}, {2});
  EXPECT_EQ(one("repeat_interleave.Tensor", {repeats}).to_vector<int64_t>(), (Longs{0, 0, 1}));
  EXPECT_EQ(one("repeat_interleave.self_Tensor", {x, repeats, 1}).to_vector<float>(),
            (Floats{1, 1, 2, 3, 3, 4}));
  EXPECT_EQ(one("repeat_interleave.self_Tensor", {x, longs({2}, {})}).to_vector<float>(),
            (Floats{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_THROW(one("repeat_interleave.Tensor", {longs({2, -1}, {2})}).to_vector<int64_t>(), Error);
}

TEST(ValueReads, BincountHasABinForTheGreatest) {
  const Tensor x = longs({0, 3, 3}, {3});
  EXPECT_EQ(one("bincount", {x}).to_vector<int64_t>(), (Longs{1, 0, 0, 2}));
  EXPECT_EQ(one("bincount", {x, Tensor(), 6}).to_vector<int64_t>(), (Longs{1, 0, 0, 2, 0, 0}));
  EXPECT_EQ(one("bincount", {x, floats({1, 0.5f, 2}, {3})}).to_vector<float>(),
            (Floats{1, 0, 0, 2.5f}));
}

TEST(ValueReads, TrainingUpdatesTheRunningStatistics) {
  const Tensor x = floats({1, 3}, {2, 1}), mean = floats({0}, {1}), variance = floats({1}, {1});
  const auto out =
      invoke("native_batch_norm", {x, Tensor(), Tensor(), mean, variance, true, 0.5, 0.0});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].tensor().to_vector<float>(), (Floats{-1, 1}));
  EXPECT_EQ(mean.to_vector<float>(), (Floats{1}));
  EXPECT_EQ(variance.to_vector<float>(), (Floats{1.5f}));
  one("batch_norm", {x, Tensor(), Tensor(), mean, variance, true, 0.5, 0.0, false});
  EXPECT_EQ(mean.to_vector<float>(), (Floats{1.5f}));
}

// PyTorch's numbers.
TEST(RunningStatistics, AreFoldedOfABatchOrOfShares) {
  const Tensor x = floats({1, 2, 6}, {3, 1}), mean = floats({1}, {1}), variance = floats({2}, {1});
  invoke("batch_norm_update_stats", {x, mean, variance, 0.5});
  EXPECT_EQ(mean.to_vector<float>(), (Floats{2}));
  EXPECT_EQ(variance.to_vector<float>(), (Floats{4.5f}));
  // Two shares of 2 numbers: 1 and 3 about 2, and 4 and 4; the variance of all is 1.5 biased.
  const Tensor means = floats({2, 4}, {2, 1}), roots = floats({0.5f, 0.5773502692f}, {2, 1});
  for (const bool counted : {false, true}) {
    const Tensor m = floats({0}, {1}), v = floats({0}, {1});
    if (counted) {
      invoke("batch_norm_gather_stats_with_counts",
             {x, means, roots, m, v, 1.0, 3.0, floats({2, 2}, {2})});
    } else {
      invoke("batch_norm_gather_stats", {x, means, roots, m, v, 1.0, 3.0, 2});
    }
    EXPECT_FLOAT_EQ(m.to_vector<float>()[0], 3);
    EXPECT_NEAR(v.to_vector<float>()[0], 2, 1e-5);
  }
}

TEST(RunningStatistics, OfInstancesAreMeansOverTheBatch) {
  const Tensor x = floats({1, 3, 2, 8}, {2, 1, 2}), mean = floats({0}, {1}),
               variance = floats({1}, {1});
  const Tensor y =
      one("instance_norm", {x, Tensor(), Tensor(), mean, variance, true, 0.5, 0.0, false});
  EXPECT_EQ(y.to_vector<float>(), (Floats{-1, 1, -1, 1}));
  EXPECT_EQ(mean.to_vector<float>(), (Floats{1.75f}));
  EXPECT_EQ(variance.to_vector<float>(), (Floats{5.5f}));
}

TEST(ValueReads, CopiesOfStridedViewsSeeTheMemory) {
  const Tensor x = floats({1, 2, 3, 4, 5, 6}, {2, 3}), turned = one("t", {x});
  EXPECT_EQ(one("as_strided_copy", {turned, Longs{2, 2}, Longs{1, 2}, 1}).to_vector<float>(),
            (Floats{2, 4, 3, 5}));
  const Tensor row = one("select.int", {x, 0, 0});
  EXPECT_EQ(one("as_strided_copy", {row, Longs{2}, Longs{5}}).to_vector<float>(), (Floats{1, 6}));
  EXPECT_THROW(one("as_strided_copy", {row, Longs{2}, Longs{6}}), Error);
}

TEST(ValueReads, WhereOfAConditionIsNonzero) {
  const auto out = invoke("where", {floats({0, 1, 2, 0}, {2, 2})})[0].as<std::vector<Tensor>>();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].to_vector<int64_t>(), (Longs{0, 1}));
  EXPECT_EQ(out[1].to_vector<int64_t>(), (Longs{1, 0}));
}

TEST(ValueReads, OneHotHasAClassForTheGreatest) {
  const Tensor x = longs({0, 2}, {2});
  EXPECT_EQ(one("one_hot", {x}).to_vector<int64_t>(), (Longs{1, 0, 0, 0, 0, 1}));
  EXPECT_THROW(one("one_hot", {longs({-1}, {1})}).to_vector<int64_t>(), Error);
}

TEST(ValueReads, LengthsOfSequencesArePartOfNoPlan) {
  const Tensor log_probs =
      floats({-1, -0.5f, -2, -0.25f, -1.5f, -1, -0.75f, -1, -1.25f}, {3, 1, 3});
  const Tensor rows = longs({1, 2}, {1, 2}), flat = longs({1}, {1});
  const auto loss = [&](const Tensor& targets, Longs heard, Longs labels) {
    return one("ctc_loss.IntList", {log_probs, targets, heard, labels, 0, 0}).to_vector<float>()[0];
  };
  EXPECT_NEAR(loss(rows, {3}, {2}), 1.0025178f, 1e-5f);
  const uint64_t plans = statistics().plans_cached;
  EXPECT_NEAR(loss(rows, {2}, {2}), 1.5f, 1e-5f);
  EXPECT_EQ(statistics().plans_cached, plans);
  EXPECT_NEAR(loss(flat, {3}, {1}), 0.6709633f, 1e-5f);
  const Tensor by_tensors =
      one("ctc_loss.Tensor", {log_probs, rows, longs({2}, {1}), longs({1}, {1}), 0, 0});
  EXPECT_NEAR(by_tensors.to_vector<float>()[0], 0.3713727f, 1e-5f);
  const auto results = invoke("_ctc_loss", {log_probs, rows, Longs{3}, Longs{1}});
  EXPECT_EQ(results[1].tensor().size(2), 3);
  EXPECT_THROW(loss(rows, {4}, {2}), Error);
}

TEST(ValueReads, PaddingFindsHowManySequencesThereAre) {
  const Tensor data = floats({1, 2, 3}, {3}), batch_sizes = longs({2, 1}, {2});
  const auto out = invoke("_pad_packed_sequence", {data, batch_sizes, true, 9.0, -1});
  EXPECT_EQ(out[0].tensor().to_vector<float>(), (Floats{1, 3, 2, 9}));
  EXPECT_EQ(out[1].tensor().to_vector<int64_t>(), (Longs{2, 1}));
  EXPECT_THROW(invoke("_pad_packed_sequence", {data, batch_sizes, true, 9.0, 1}), Error);
}

TEST(ValueReads, JaggedRowsEndAtTheLastOffset) {
  const Tensor dense = floats({1, 2, 3, 4}, {2, 2});
  const std::vector<Tensor> offsets = {longs({0, 1, 3}, {3})};
  EXPECT_EQ(one("_padded_dense_to_jagged_forward", {dense, offsets}).to_vector<float>(),
            (Floats{1, 3, 4}));
}

}  // namespace
}  // namespace primset
